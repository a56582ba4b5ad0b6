//! The fourth stage of a build: artifacts, from kernelmill's compiler, from nvcc, or from the store.

pub(crate) mod artifacts;
pub(crate) mod binary;
pub(crate) mod compilation;
pub(crate) mod compiler;
pub(crate) mod cpp;
pub(crate) mod cuda_source;
pub(crate) mod dependencies;
pub(crate) mod diagnostics;
pub(crate) mod front_end;
pub(crate) mod host;
mod index_width;
pub(crate) mod kernel_package;
#[cfg(test)]
mod keys_tests;
mod narrow_variants;
pub(crate) mod nvcc;
mod nvcc_variants;
mod opencl;
mod outer_cargo;
mod override_source;
mod ptx;
mod states;
pub(crate) mod unit;
mod wgsl;
mod without_binaries;
