//! A kernel that was found in compiled code.

use crate::frontend::cuda::source::CudaKernel;

/// A kernel, and the types of its parameters as C++ writes them.
pub(super) struct Found {
    pub(super) kernel: CudaKernel,
    pub(super) types: Vec<String>,
}
