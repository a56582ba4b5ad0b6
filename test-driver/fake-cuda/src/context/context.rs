//! Contexts: what a program has on one device.
//!
//! CUDA Driver API, "Context Management". An asynchronous error is sticky: the context reports it from
//! then on.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, OnceLock, Weak,
        atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering},
    },
    thread::{self, ThreadId},
};

use crate::base::error::{self, AsyncError, Error, Result};
use crate::base::handle::{Handle, Registry, lock};
use crate::device::Device;
use crate::driver::device_of;
use crate::memory::{self, Owner};
use crate::stream::{Kind, PER_THREAD, Point, STREAMS, Stream};
use crate::work::Work;

/// The contexts that exist.
pub(crate) static CONTEXTS: Registry<Context> = Registry::new(0x41);

/// A context of a device.
pub(crate) struct Context {
    pub(crate) handle: Handle,
    pub(crate) ordinal: usize,
    pub(crate) primary: bool,
    pub(crate) flags: AtomicU32,
    pub(crate) cache_config: AtomicI32,
    /// By `CUlimit`.
    pub(crate) limits: [AtomicUsize; 7],
    /// The first asynchronous error, which stays.
    sticky: OnceLock<Error>,
    reported: AtomicBool,
    legacy: Arc<Stream>,
    per_thread: Mutex<HashMap<ThreadId, Arc<Stream>>>,
    streams: Mutex<Vec<Weak<Stream>>>,
    /// Work of streams that were destroyed, as far as it may not be done.
    left: Mutex<Vec<Point>>,
    /// Held while work is queued, so that all work of the context has one order.
    pub(super) order: Mutex<()>,
}

/// What `cuCtxGetLimit` gives before anything is set.
const LIMITS: [usize; 7] = [1024, 1 << 20, 8 << 20, 2, 2048, 64, 0];

impl Context {
    /// A new context of a device.
    pub(crate) fn create(ordinal: usize, flags: u32, primary: bool) -> Arc<Self> {
        CONTEXTS.add(|handle| Self {
            handle,
            ordinal,
            primary,
            flags: AtomicU32::new(flags),
            cache_config: AtomicI32::new(0),
            limits: LIMITS.map(AtomicUsize::new),
            sticky: OnceLock::new(),
            reported: AtomicBool::new(false),
            legacy: Arc::new(Stream::new(Handle::NULL, handle, Kind::Legacy, 0)),
            per_thread: Mutex::default(),
            streams: Mutex::default(),
            left: Mutex::default(),
            order: Mutex::default(),
        })
    }

    /// The context's device.
    pub(crate) fn device(&self) -> &'static Device {
        device_of(self.ordinal)
    }

    /// Who memory and modules of the context belong to.
    pub(crate) fn owner(&self) -> Owner {
        Owner { ordinal: self.ordinal, context: self.handle }
    }

    /// Memory of the context's device.
    pub(crate) fn allocate(&self, bytes: usize, kind: memory::Kind) -> Result<u64> {
        memory::allocate(self.owner(), bytes, kind, || self.drain())
    }

    pub(crate) fn legacy(&self) -> &Arc<Stream> {
        &self.legacy
    }

    /// The calling thread's own default stream.
    pub(crate) fn per_thread(&self) -> Arc<Stream> {
        let make = || Arc::new(Stream::new(Handle(PER_THREAD), self.handle, Kind::Blocking, 0));
        Arc::clone(lock(&self.per_thread).entry(thread::current().id()).or_insert_with(make))
    }

    /// Ends the threads of the default streams when they have done what they have.
    pub(crate) fn close_default_streams(&self) {
        lock(&self.per_thread).values().for_each(|stream| stream.queue.close());
        self.legacy.queue.close();
    }

    pub(crate) fn add_stream(&self, stream: &Arc<Stream>) {
        let mut streams = lock(&self.streams);
        streams.retain(|stream| stream.strong_count() > 0);
        streams.push(Arc::downgrade(stream));
    }

    /// Keeps the work of a stream that is destroyed, which is waited for with the context.
    pub(super) fn leave(&self, stream: &Stream) {
        let mut left = lock(&self.left);
        left.retain(|point| !point.is_reached());
        left.push(stream.queue.now());
    }

    /// All streams but the legacy one.
    pub(super) fn others(&self) -> Vec<Arc<Stream>> {
        let created = lock(&self.streams).iter().filter_map(Weak::upgrade).collect::<Vec<_>>();
        created.into_iter().chain(lock(&self.per_thread).values().cloned()).collect()
    }

    /// Does work of a stream; nothing, where the context has an error and the work is for the device.
    pub(crate) fn run(self: &Arc<Self>, work: &Work) {
        if self.sticky.get().is_some() && !work.is_bookkeeping() {
            return;
        }
        // Whoever waits for the stream waits for ever if its thread is gone.
        let done = catch_unwind(AssertUnwindSafe(|| work.run(self.ordinal, self.async_error())));
        let bug = |_| {
            let text = "internal error: the emulator panicked; please report it".to_owned();
            Err(AsyncError { error: Error::CUDA_ERROR_UNKNOWN, text })
        };
        if let Err(failed) = done.unwrap_or_else(bug) {
            self.fail(failed.error, &failed.text);
        }
    }

    /// The asynchronous error that the context has, reported or not.
    pub(crate) fn async_error(&self) -> Option<Error> {
        self.sticky.get().copied()
    }

    /// Notes an asynchronous error, which the context keeps, and prints it once.
    fn fail(&self, error: Error, text: &str) {
        if self.sticky.set(error).is_ok() {
            let name = error::name(error).to_string_lossy();
            eprintln!("fake-cuda: {name} on device {}: {text}", self.ordinal);
        }
    }

    /// The error, as functions that wait report it; all others report it from then on.
    pub(crate) fn report(&self) -> Result<()> {
        match self.sticky.get() {
            None => Ok(()),
            Some(error) => {
                self.reported.store(true, Ordering::Release);
                Err(*error)
            }
        }
    }

    /// The error, if it was reported.
    pub(crate) fn usable(&self) -> Result<()> {
        if self.reported.load(Ordering::Acquire) { self.report() } else { Ok(()) }
    }

    /// Waits for all streams.
    pub(crate) fn synchronize(self: &Arc<Self>) -> Result<()> {
        for stream in self.others() {
            stream.refuse_capture()?;
        }
        self.drain();
        self.report()
    }

    /// Waits until all streams have done what they have.
    pub(crate) fn drain(&self) {
        let mut points: Vec<Point> =
            self.others().iter().map(|stream| stream.queue.now()).collect();
        points.push(self.legacy.queue.now());
        points.append(&mut lock(&self.left));
        points.iter().for_each(Point::wait);
    }
}

/// Waits for all streams of all contexts, which may be using memory of the host.
pub(crate) fn drain_all() {
    CONTEXTS.all().iter().for_each(|context| context.drain());
}

/// Refuses what captures of this thread, or of all threads, forbid; the capture is spoiled then.
pub(crate) fn refuse_during_capture() -> Result<()> {
    let captures = |stream: &Arc<Stream>| stream.capture().is_some_and(|c| c.forbids_unsafe());
    match STREAMS.all().iter().find(|stream| captures(stream)) {
        None => Ok(()),
        Some(stream) => stream.refuse_capture(),
    }
}
