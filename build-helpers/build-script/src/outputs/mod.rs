//! The last stage of a build: the artifacts in `OUT_DIR`, the generated bindings, and what Cargo links.

pub(crate) mod bindings;
mod built;
pub(crate) mod cuda_runtime;
pub(crate) mod dump;
mod elf_archive;
pub(crate) mod host_library;
pub(crate) mod link;
pub(crate) mod manifest;
pub(crate) mod out_dir;
pub(crate) mod spills;
pub(crate) mod thresholds;
