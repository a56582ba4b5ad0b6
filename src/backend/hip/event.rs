//! HIP events: moments of streams that other streams wait for, and the host.

use std::{ffi::c_uint, ptr};

use super::{
    driver::{NOT_READY, named},
    driver_context::{DriverContext, HipStream},
    library::{Handle, hip},
};
use crate::{
    backend::gpu::calls::{EventCalls, EventUse},
    error::Result,
};

/// `hipEventBlockingSync`.
const BLOCKING_SYNC: c_uint = 1;
/// `hipEventDisableTiming`.
const DISABLE_TIMING: c_uint = 2;

impl EventCalls for DriverContext {
    type Event = Handle;

    fn create_event(&self, how: EventUse) -> Result<Handle> {
        let flags = match how {
            EventUse::Order => DISABLE_TIMING,
            EventUse::Timed => BLOCKING_SYNC,
        };
        let mut handle = ptr::null_mut();
        // SAFETY: the place is this function's own.
        let code = unsafe { (hip().hipEventCreateWithFlags)(&raw mut handle, flags) };
        named(code, "hipEventCreateWithFlags", || how.subject())?;
        Ok(handle)
    }

    unsafe fn record_event(event: Handle, stream: &HipStream, how: EventUse) -> Result<()> {
        // SAFETY: promised.
        let code = unsafe { (hip().hipEventRecord)(event, stream.handle()) };
        named(code, "hipEventRecord", || how.subject())
    }

    unsafe fn wait_event(event: Handle, stream: &HipStream, how: EventUse) -> Result<()> {
        // SAFETY: promised.
        let code = unsafe { (hip().hipStreamWaitEvent)(stream.handle(), event, 0) };
        named(code, "hipStreamWaitEvent", || how.subject())
    }

    unsafe fn query_event(event: Handle, how: EventUse) -> Result<bool> {
        // SAFETY: promised.
        match unsafe { (hip().hipEventQuery)(event) } {
            NOT_READY => Ok(false),
            code => named(code, "hipEventQuery", || how.subject()).map(|()| true),
        }
    }

    unsafe fn synchronize_event(event: Handle, how: EventUse) -> Result<()> {
        // SAFETY: promised.
        let code = unsafe { (hip().hipEventSynchronize)(event) };
        named(code, "hipEventSynchronize", || how.subject())
    }

    unsafe fn elapsed(earlier: Handle, later: Handle) -> Result<Option<f32>> {
        let mut milliseconds = 0.0;
        // SAFETY: promised; the place is this function's own.
        match unsafe { (hip().hipEventElapsedTime)(&raw mut milliseconds, earlier, later) } {
            NOT_READY => Ok(None),
            code => {
                named(code, "hipEventElapsedTime", || EventUse::Timed.subject())?;
                Ok(Some(milliseconds))
            }
        }
    }

    unsafe fn destroy_event(event: Handle, how: EventUse) -> Result<()> {
        // SAFETY: promised.
        let code = unsafe { (hip().hipEventDestroy)(event) };
        named(code, "hipEventDestroy", || how.subject())
    }
}
