//! The last stage: what a build leaves in `OUT_DIR` and tells Cargo to link.

pub(crate) mod bindings;
pub(crate) mod cuda_runtime;
pub(crate) mod host_library;
pub(crate) mod link;
pub(crate) mod out_dir;
