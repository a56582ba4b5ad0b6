//! Contexts: what a program has on one device.

mod current;
mod order;

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, OnceLock, Weak,
        atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering},
    },
    thread::{self, ThreadId},
};

pub(crate) use current::{current, pop, push, set_current, stack_top, usable};

use crate::{
    device::Device,
    driver,
    error::{Error, Result},
    event::EVENTS,
    handle::{Handle, Registry, lock},
    leak, memory,
    module::MODULES,
    stream::{Kind, Point, STREAMS, Stream},
    work::{Trouble, Work},
};

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
    fault: OnceLock<Error>,
    reported: AtomicBool,
    legacy: Arc<Stream>,
    per_thread: Mutex<HashMap<ThreadId, Arc<Stream>>>,
    streams: Mutex<Vec<Weak<Stream>>>,
    order: Mutex<()>,
}

/// What `cuCtxGetLimit` gives before anything is set.
const LIMITS: [usize; 7] = [1024, 1 << 20, 8 << 20, 2, 2048, 64, 0];

impl Context {
    /// A new context of a device.
    pub(crate) fn create(ordinal: usize, flags: u32, primary: bool) -> Arc<Self> {
        CONTEXTS.add_shared(|handle| {
            Arc::new_cyclic(|weak| {
                let legacy = Stream::new(Handle::NULL, Weak::clone(weak), Kind::Legacy, 0);
                Self {
                    handle,
                    ordinal,
                    primary,
                    flags: AtomicU32::new(flags),
                    cache_config: AtomicI32::new(0),
                    limits: LIMITS.map(AtomicUsize::new),
                    fault: OnceLock::new(),
                    reported: AtomicBool::new(false),
                    legacy: Arc::new(legacy),
                    per_thread: Mutex::default(),
                    streams: Mutex::default(),
                    order: Mutex::default(),
                }
            })
        })
    }

    /// The context's device.
    pub(crate) fn device(&self) -> &'static Device {
        let driver = driver::driver().expect("there are contexts only after `cuInit`");
        &driver.devices[self.ordinal]
    }

    pub(crate) fn legacy(&self) -> &Arc<Stream> {
        &self.legacy
    }

    /// The calling thread's own default stream.
    pub(crate) fn per_thread(&self) -> Arc<Stream> {
        let make = || {
            let owner = Weak::clone(&self.legacy.context);
            Arc::new(Stream::new(Handle(2), owner, Kind::Blocking, 0))
        };
        Arc::clone(lock(&self.per_thread).entry(thread::current().id()).or_insert_with(make))
    }

    pub(crate) fn add_stream(&self, stream: &Arc<Stream>) {
        let mut streams = lock(&self.streams);
        streams.retain(|stream| stream.strong_count() > 0);
        streams.push(Arc::downgrade(stream));
    }

    /// All streams but the legacy one.
    fn others(&self) -> Vec<Arc<Stream>> {
        let created = lock(&self.streams).iter().filter_map(Weak::upgrade).collect::<Vec<_>>();
        created.into_iter().chain(lock(&self.per_thread).values().cloned()).collect()
    }

    /// Does work of a stream; nothing, where a fault came first and the work is for the device.
    pub(crate) fn run(self: &Arc<Self>, work: &Work) {
        if self.fault.get().is_some() && !work.is_bookkeeping() {
            return;
        }
        // Whoever waits for the stream waits for ever if its thread is gone.
        let done = catch_unwind(AssertUnwindSafe(|| work.run(self)));
        let bug = |_| {
            let text = "the emulator has a bug, it panicked".to_owned();
            Err(Trouble { error: Error::Unknown, text })
        };
        if let Err(trouble) = done.unwrap_or_else(bug) {
            self.fail(trouble.error, &trouble.text);
        }
    }

    /// The fault that the context has, reported or not.
    pub(crate) fn fault(&self) -> Option<Error> {
        self.fault.get().copied()
    }

    /// Notes a fault, which the context keeps, and says it once.
    pub(crate) fn fail(&self, error: Error, text: &str) {
        if self.fault.set(error).is_ok() {
            let name = error.name().to_string_lossy();
            eprintln!("fake-cuda: {name} on device {}: {text}", self.ordinal);
        }
    }

    /// The fault, as functions that wait report it; all others report it from then on.
    pub(crate) fn report(&self) -> Result<()> {
        match self.fault.get() {
            None => Ok(()),
            Some(error) => {
                self.reported.store(true, Ordering::Release);
                Err(*error)
            }
        }
    }

    /// The fault, if it was reported.
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
        points.iter().for_each(Point::wait);
    }

    /// Ends the context with everything that it has.
    pub(crate) fn destroy(self: &Arc<Self>) {
        if CONTEXTS.remove(self.handle).is_err() {
            return;
        }
        self.drain();
        let mine = |owner: &Weak<Self>| std::ptr::eq(owner.as_ptr(), Arc::as_ptr(self));
        let mut left = leak::Left::new(self);
        for stream in STREAMS.remove_all(|stream| mine(&stream.context)) {
            stream.queue.close();
            left.streams += 1;
        }
        left.events += EVENTS.remove_all(|event| mine(&event.context)).len();
        left.modules += MODULES.remove_all(|module| mine(&module.context)).len();
        left.add_allocations(memory::release_context(self.handle));
        lock(&self.per_thread).values().for_each(|stream| stream.queue.close());
        self.legacy.queue.close();
        if self.fault.get().is_none() {
            leak::note(left);
        }
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
