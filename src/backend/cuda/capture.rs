//! Stream capture: streams that record what they are given into a CUDA graph.
//!
//! [CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture"](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#creating-a-graph-using-stream-capture).
//! A graph can be launched when the memory that it uses is gone, so such streams are refused.

use cudarc::driver::{
    CudaStream,
    result::stream as raw,
    sys::{self, CUstreamCaptureMode, CUstreamCaptureStatus},
};

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

/// Until this is dropped, the calling thread makes calls that no capture has to do with. While any stream is captured in
/// the mode that is usual, the driver refuses some calls of every thread otherwise, and the capture is spoiled by them:
/// those that wait, ask for an event, allocate or free memory, copy between host and device, or load a module.
pub(super) struct BesideCaptures(CUstreamCaptureMode);

impl BesideCaptures {
    /// The context need not be current. Where the driver refuses, the calls are made as they are.
    pub(super) fn begin() -> Self {
        Self(exchange(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED))
    }
}

impl Drop for BesideCaptures {
    fn drop(&mut self) {
        exchange(self.0);
    }
}

/// Gives the calling thread a mode, and returns the one before.
fn exchange(mut mode: CUstreamCaptureMode) -> CUstreamCaptureMode {
    // SAFETY: the driver is there, and reads and writes the mode.
    let exchanged = unsafe { sys::cuThreadExchangeStreamCaptureMode(&raw mut mode) };
    if exchanged == sys::CUresult::CUDA_SUCCESS {
        mode
    } else {
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL
    }
}
