//! The context of a device: the library's object, its streams, and what is left of streams that are dropped.

use std::{
    ffi::c_void,
    ptr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use cl3::{
    command_queue::{
        CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PROPERTIES, create_command_queue_with_properties,
        finish, flush, release_command_queue,
    },
    context::{create_context, release_context},
};

use super::{
    devices::{DeviceId, ListedDevice},
    driver::{Called, Code, named},
    loss::Loss,
    marker::{COMMAND, Marker, Status},
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

/// `cl_context`, released with this.
struct Object(*mut c_void);

pub(super) struct DriverContext {
    /// The device's name.
    pub(super) name: String,
    pub(super) ordinal: usize,
    pub(super) device: DeviceId,
    /// The version of OpenCL that the device has.
    pub(super) version: (u32, u32),
    /// Whether the host can read memory while kernels write to it.
    pub(super) has_fine_grain: bool,
    pub(super) state: DriverState,
    pub(super) loss: Arc<Loss>,
    /// The default stream. Dropped before the object.
    pub(super) stream: Arc<ClStream>,
    /// Streams that were made, and may be there.
    streams: Mutex<Vec<Weak<ClStream>>>,
    /// The last work of streams that are dropped.
    left: Mutex<Vec<Marker>>,
    object: Object,
}

/// A stream: a command queue whose commands run in order.
pub(super) struct ClStream {
    queue: *mut c_void,
    /// What it was given last.
    last: Mutex<Last>,
    pub(super) loss: Arc<Loss>,
    /// `None` for the default stream.
    driver: Option<Arc<DriverContext>>,
}

/// What is known of the work of a stream.
#[derive(Default)]
struct Last {
    /// The last command.
    marker: Option<Marker>,
    /// The error of one before it that was not reported.
    error: Option<Code>,
}

// SAFETY: the library's objects can be used from every thread.
unsafe impl Send for Object {}
// SAFETY: as above.
unsafe impl Sync for Object {}
// SAFETY: as above.
unsafe impl Send for ClStream {}
// SAFETY: as above.
unsafe impl Sync for ClStream {}

impl DriverContext {
    pub(super) fn new(
        listed: &ListedDevice,
        ordinal: usize,
        version: (u32, u32),
        has_fine_grain: bool,
    ) -> Result<Self> {
        let (device, name) = (listed.id, listed.full_name());
        let created = create_context(&[device.0], ptr::null(), None, ptr::null_mut());
        let object = Object(named(created, "clCreateContext", || name.clone())?);
        let loss = Arc::new(Loss::new(name.clone()));
        let queue = ClStream::new((&object, device), None, &loss, || name.clone())?;
        let stream = Arc::new(queue);
        let (state, streams, left) = (DriverState::default(), Mutex::default(), Mutex::default());
        Ok(Self {
            name,
            ordinal,
            device,
            version,
            has_fine_grain,
            state,
            loss,
            stream,
            streams,
            left,
            object,
        })
    }

    /// The library's object.
    pub(super) fn object(&self) -> *mut c_void {
        self.object.0
    }

    /// Makes a stream.
    pub(super) fn new_stream(self: &Arc<Self>) -> Result<Arc<ClStream>> {
        self.bind()?;
        let driver = Some(Arc::clone(self));
        let place = (&self.object, self.device);
        let stream = ClStream::new(place, driver, &self.loss, || self.name.clone())?;
        self.expect(&stream);
        let stream = Arc::new(stream);
        let mut streams = lock(&self.streams);
        streams.retain(|stream| stream.strong_count() > 0);
        streams.push(Arc::downgrade(&stream));
        Ok(stream)
    }

    /// Waits for all streams, and for what those have left that are dropped.
    pub(super) fn wait_for_all(&self) -> Result<()> {
        let streams: Vec<_> = lock(&self.streams).iter().filter_map(Weak::upgrade).collect();
        for stream in streams.iter().chain([&self.stream]) {
            stream.finish(|| self.name.clone())?;
        }
        let left: Vec<_> = std::mem::take(&mut *lock(&self.left));
        left.iter().try_for_each(|marker| marker.wait(&self.loss, || self.name.clone()))
    }

    /// Keeps the last work of a stream that is dropped, until somebody waits for all.
    fn leave(&self, marker: Marker) {
        let mut left = lock(&self.left);
        left.retain(|marker| marker.status() == Ok(Status::Waits));
        left.push(marker);
    }
}

impl ClStream {
    fn new(
        (context, device): (&Object, DeviceId),
        driver: Option<Arc<DriverContext>>,
        loss: &Arc<Loss>,
        subject: impl FnOnce() -> String,
    ) -> Result<Self> {
        let properties = [u64::from(CL_QUEUE_PROPERTIES), CL_QUEUE_PROFILING_ENABLE, 0];
        // SAFETY: the device is the context's; the list ends with a zero.
        let queue = unsafe {
            create_command_queue_with_properties(context.0, device.0, properties.as_ptr())
        };
        let queue = named(queue, "clCreateCommandQueueWithProperties", subject)?;
        Ok(Self { queue, last: Mutex::default(), loss: Arc::clone(loss), driver })
    }

    pub(super) fn queue(&self) -> *mut c_void {
        self.queue
    }

    pub(super) fn is_default(&self) -> bool {
        self.driver.is_none()
    }

    /// Takes note of a command that was given to the queue, and has the device begin with it.
    ///
    /// # Safety
    ///
    /// Where it is one, the event is the caller's own, and of this queue.
    pub(super) unsafe fn given(
        &self,
        command: Called<*mut c_void>,
        function: &'static str,
        subject: impl Fn() -> String,
    ) -> Result<()> {
        // SAFETY: promised.
        let marker = unsafe { Marker::new(self.told(command, function, &subject)?) };
        let before = {
            let mut last = lock(&self.last);
            let before = last.marker.replace(marker);
            if let Some(code) = before.as_ref().and_then(failure) {
                last.error.get_or_insert(code);
            }
            before
        };
        drop(before);
        self.told(flush(self.queue), "clFlush", subject).inspect_err(|_| {
            // Whoever is told of an error takes it that nothing was given, and frees the memory of the command.
            if !self.loss.is_known() {
                let _ = finish(self.queue).or_else(|_| finish(self.queue));
            }
        })
    }

    /// As [`Loss::told`], of a call about the queue.
    pub(super) fn told<T>(
        &self,
        called: Called<T>,
        function: &'static str,
        subject: impl FnOnce() -> String,
    ) -> Result<T> {
        self.loss.told(called, function, subject, || finish(self.queue))
    }

    /// Waits for all commands; the first error of one of them, as far as it is known.
    pub(super) fn finish(&self, subject: impl Fn() -> String) -> Result<()> {
        self.loss.check()?;
        self.told(finish(self.queue), "clFinish", &subject)?;
        let mut last = lock(&self.last);
        let error = last.error.take().or_else(|| last.marker.as_ref().and_then(failure));
        // Another thread may have given a command meanwhile.
        let done = last.marker.take_if(|marker| marker.status() != Ok(Status::Waits));
        drop((last, done));
        error.map_or(Ok(()), |code| self.told(Err(code), COMMAND, subject))
    }

    /// Whether a command is not done.
    pub(super) fn has_work(&self) -> bool {
        let last = lock(&self.last);
        last.marker.as_ref().is_some_and(|marker| marker.status() != Ok(Status::Done))
    }
}

impl Drop for ClStream {
    /// What is on the stream still runs.
    fn drop(&mut self) {
        let last = self.last.get_mut().unwrap_or_else(PoisonError::into_inner).marker.take();
        // SAFETY: created once, released once.
        let release = || unsafe { release_command_queue(self.queue) };
        match &self.driver {
            Some(driver) => {
                last.into_iter().for_each(|marker| driver.leave(marker));
                let subject = || driver.name.clone();
                driver.release(|| named(release(), "clReleaseCommandQueue", subject));
            }
            None => {
                // Nobody is left who could be told of an error.
                if !self.loss.is_known() {
                    let _ = finish(self.queue);
                }
                let _ = release();
            }
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: created once, released once. Nobody is left who could be told of an error.
        let _ = unsafe { release_context(self.0) };
    }
}

/// The error that has ended a command, as far as is known.
fn failure(marker: &Marker) -> Option<Code> {
    match marker.status() {
        Ok(Status::Failed(code)) => Some(code),
        _ => None,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
