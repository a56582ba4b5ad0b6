//! cudarc's streams and slices in launches, for tests that keep to what the `unsafe` functions ask for.
//!
//! A test captures a stream in one thread, which knows of it, and lets no two streams read a slice by functions of
//! cudarc's.

use std::sync::Arc;

use cudarc::driver::CudaStream;
use kernelmill::{CudarcSlice, Device, Result, Stream};

/// The stream behind a stream.
///
/// # Panics
///
/// Where it is none of CUDA's.
#[must_use]
pub fn cuda_stream(stream: &Stream) -> &Arc<CudaStream> {
    // SAFETY: no other thread uses it while it is captured, in any test.
    unsafe { stream.cuda_stream() }.expect("a stream of CUDA's")
}

/// A stream of `device` that is the program's.
///
/// # Errors
///
/// For one of another context.
pub fn adopt(device: &Device, stream: &Arc<CudaStream>) -> Result<Stream> {
    // SAFETY: as above.
    unsafe { device.adopt_stream(Arc::clone(stream)) }
}

/// A slice of cudarc's as an argument.
pub fn cudarc<S>(slice: S) -> CudarcSlice<S> {
    // SAFETY: elements are initialised, and no two streams read them by functions of cudarc's.
    unsafe { CudarcSlice::new(slice) }
}
