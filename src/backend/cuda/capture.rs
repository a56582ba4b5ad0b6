//! Stream capture: streams that record what they are given into a CUDA graph.
//!
//! [CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture"](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#creating-a-graph-using-stream-capture).
//! A graph can be launched when the memory that it uses is gone, so such streams are refused.

use cudarc::driver::{CudaStream, result::stream as raw, sys::CUstreamCaptureStatus};

use super::driver::named;
use crate::error::{Error, Result};

/// Refuses an operation on a stream that is captured. The default stream cannot be.
pub(super) fn refuse_capture(stream: &CudaStream, operation: &'static str) -> Result<()> {
    if stream.cu_stream().is_null() {
        return Ok(());
    }
    // SAFETY: the stream is there.
    let status = unsafe { raw::is_capturing(stream.cu_stream()) };
    match named(status, "cuStreamIsCapturing", || "a stream".to_owned())? {
        CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE => Ok(()),
        _ => Err(Error::Capturing { operation }),
    }
}
