//! CUDA events: moments of streams that other streams wait for, and the host.
//!
//! [CUDA Driver API, "Event Management"](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__EVENT.html).

use cudarc::driver::{
    CudaStream,
    result::{event as raw, stream as raw_stream},
    sys,
};

use super::{capture::BesideCaptures, driver::named, driver_context::DriverContext};
use crate::{
    backend::gpu::{
        calls::{EventCalls, EventUse},
        recorded,
    },
    error::Result,
};

/// An event that the program asks for.
pub(super) type RecordedEvent = recorded::RecordedEvent<DriverContext>;

impl EventCalls for DriverContext {
    type Event = sys::CUevent;

    fn create_event(&self, how: EventUse) -> Result<sys::CUevent> {
        let flags = match how {
            EventUse::Order => sys::CUevent_flags::CU_EVENT_DISABLE_TIMING,
            EventUse::Timed => sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC,
        };
        named(raw::create(flags), "cuEventCreate", || how.subject())
    }

    unsafe fn record_event(event: sys::CUevent, stream: &CudaStream, how: EventUse) -> Result<()> {
        // SAFETY: promised.
        let recorded = unsafe { raw::record(event, stream.cu_stream()) };
        named(recorded, "cuEventRecord", || how.subject())
    }

    unsafe fn wait_event(event: sys::CUevent, stream: &CudaStream, how: EventUse) -> Result<()> {
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: promised.
        let waits = unsafe { raw_stream::wait_event(stream.cu_stream(), event, flags) };
        named(waits, "cuStreamWaitEvent", || how.subject())
    }

    unsafe fn query_event(event: sys::CUevent, how: EventUse) -> Result<bool> {
        let _beside = BesideCaptures::begin();
        // SAFETY: promised.
        match unsafe { raw::query(event) } {
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            asked => named(asked, "cuEventQuery", || how.subject()).map(|()| true),
        }
    }

    unsafe fn synchronize_event(event: sys::CUevent, how: EventUse) -> Result<()> {
        // SAFETY: promised.
        named(unsafe { raw::synchronize(event) }, "cuEventSynchronize", || how.subject())
    }

    unsafe fn elapsed(earlier: sys::CUevent, later: sys::CUevent) -> Result<Option<f32>> {
        // SAFETY: promised.
        match unsafe { raw::elapsed(earlier, later) } {
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NOT_READY => Ok(None),
            asked => named(asked, "cuEventElapsedTime", || EventUse::Timed.subject()).map(Some),
        }
    }

    unsafe fn destroy_event(event: sys::CUevent, how: EventUse) -> Result<()> {
        // SAFETY: promised.
        named(unsafe { raw::destroy(event) }, "cuEventDestroy", || how.subject())
    }
}
