//! Markers: what the library gives for each command, to ask and to wait for it.

use std::{ffi::c_void, mem::ManuallyDrop};

use cl3::event::{
    CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_PROFILING_COMMAND_END, get_event_data,
    get_event_profiling_data, release_event, retain_event, wait_for_events,
};

use super::{
    driver::{Called, Code, named},
    loss::Loss,
    properties::number,
};
use crate::error::Result;

/// `cl_event`: a command that was given to a queue. Released with this.
pub(super) struct Marker(pub(super) *mut c_void);

// SAFETY: the library's objects can be used from every thread.
unsafe impl Send for Marker {}
// SAFETY: as above.
unsafe impl Sync for Marker {}

/// What has become of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// It waits, or runs.
    Waits,
    Done,
    /// It has ended with this error.
    Failed(Code),
}

/// What has failed where a command that was queued did.
pub(super) const COMMAND: &str = "a command of a queue";

impl Marker {
    /// # Safety
    ///
    /// It is an event, and its reference the caller's own.
    pub(super) unsafe fn new(event: *mut c_void) -> Self {
        Self(event)
    }

    /// The event with the reference to it.
    pub(super) fn into_raw(self) -> *mut c_void {
        ManuallyDrop::new(self).0
    }

    /// What has become of the command.
    pub(super) fn status(&self) -> Called<Status> {
        let status = get_event_data(self.0, CL_EVENT_COMMAND_EXECUTION_STATUS)?;
        Ok(match number(&status) as u32 as Code {
            CL_COMPLETE => Status::Done,
            code if code < 0 => Status::Failed(code),
            _ => Status::Waits,
        })
    }

    /// Whether the command is done.
    pub(super) fn is_complete(&self, subject: impl Fn() -> String) -> Result<bool> {
        match named(self.status(), "clGetEventInfo", &subject)? {
            Status::Waits => Ok(false),
            Status::Done => Ok(true),
            Status::Failed(code) => named(Err(code), COMMAND, subject),
        }
    }

    /// Waits for the command, but where the device is lost.
    pub(super) fn wait(&self, loss: &Loss, subject: impl FnOnce() -> String) -> Result<()> {
        loss.check()?;
        let wait = || wait_for_events(&[self.0]);
        loss.told(wait(), "clWaitForEvents", subject, wait)
    }

    /// When the command was done, in nanoseconds.
    pub(super) fn end(&self) -> Called<u64> {
        get_event_profiling_data(self.0, CL_PROFILING_COMMAND_END).map(|time| number(&time))
    }

    /// A further reference for the library's.
    pub(super) fn share(&self) -> Called<Self> {
        // SAFETY: the event is there.
        unsafe { retain_event(self.0) }.map(|()| Self(self.0))
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        // SAFETY: the reference is this value's own. An event that is there is released without an error.
        let _ = unsafe { release_event(self.0) };
    }
}
