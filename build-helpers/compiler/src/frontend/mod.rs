//! Front ends: from a kernel source to bitcode.

mod architecture;
mod checksums;
pub mod cuda;
pub mod exports;
pub mod generic;
pub mod limits;
pub mod llvm_ir;
pub mod opencl;
pub mod paths;
pub mod ptx;
pub mod rust;
pub mod wgsl;

pub use architecture::Architecture;
pub(crate) use architecture::generation;
pub(crate) use checksums::clear_checksums;
