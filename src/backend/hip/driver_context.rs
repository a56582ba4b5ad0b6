//! The context of a device: what every call of the library needs, and its streams.

use std::{
    ffi::{c_int, c_uint},
    ptr,
    sync::Arc,
};

use super::{
    driver::named,
    library::{Handle, StreamOrdered, hip},
};
use crate::{
    backend::gpu::{
        calls::{ContextCalls as _, DriverState},
        shared, stream,
    },
    error::Result,
};

/// What streams, memory and modules of a context have in common.
pub(super) type Shared = shared::Shared<DriverContext>;

/// A stream of a context.
pub(super) type Stream = stream::Stream<DriverContext>;

/// `hipStreamNonBlocking`: it does not wait for the default stream.
const NON_BLOCKING: c_uint = 1;

pub(super) struct DriverContext {
    /// The device's name.
    pub(super) name: String,
    pub(super) ordinal: c_int,
    /// The compute units that the blocks of a cooperative launch share; 0 where there are no such launches.
    pub(super) cooperative_multiprocessors: u32,
    /// `None` where the library or the device has no stream-ordered allocation.
    pub(super) stream_ordered: Option<&'static StreamOrdered>,
    /// The default stream.
    pub(super) stream: Arc<HipStream>,
    pub(super) state: DriverState,
}

/// A stream of the library, destroyed with this unless it is the default stream or the program's own.
pub(super) struct HipStream {
    handle: Handle,
    /// `None` for the default stream and those of the program, which are not destroyed.
    driver: Option<Arc<DriverContext>>,
}

// SAFETY: the library's handles can be used from every thread.
unsafe impl Send for HipStream {}
// SAFETY: as above.
unsafe impl Sync for HipStream {}

impl DriverContext {
    pub(super) fn new(
        name: String,
        ordinal: c_int,
        cooperative_multiprocessors: u32,
        stream_ordered: Option<&'static StreamOrdered>,
    ) -> Self {
        let stream = Arc::new(HipStream { handle: ptr::null_mut(), driver: None });
        let state = DriverState::default();
        Self { name, ordinal, cooperative_multiprocessors, stream_ordered, stream, state }
    }

    /// Makes a stream.
    pub(super) fn new_stream(self: &Arc<Self>) -> Result<Arc<HipStream>> {
        self.bind()?;
        let mut handle = ptr::null_mut();
        // SAFETY: the place is this function's own.
        let code = unsafe { (hip().hipStreamCreateWithFlags)(&raw mut handle, NON_BLOCKING) };
        named(code, "hipStreamCreateWithFlags", || self.name.clone())?;
        let stream = HipStream { handle, driver: Some(Arc::clone(self)) };
        self.expect(&stream);
        Ok(Arc::new(stream))
    }
}

impl HipStream {
    /// One that the program has made, and destroys.
    pub(super) fn of_program(handle: Handle) -> Self {
        Self { handle, driver: None }
    }

    pub(super) fn handle(&self) -> Handle {
        self.handle
    }
}

impl Drop for HipStream {
    /// What is on the stream still runs.
    fn drop(&mut self) {
        let Some(driver) = &self.driver else { return };
        // SAFETY: created once, destroyed once.
        let destroy = || unsafe { (hip().hipStreamDestroy)(self.handle) };
        driver.release(|| named(destroy(), "hipStreamDestroy", || driver.name.clone()));
    }
}
