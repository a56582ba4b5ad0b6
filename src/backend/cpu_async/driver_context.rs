//! The context of the asynchronous device, and its streams.

use std::{
    process,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    in_use::InUse,
    queue::{Queue, Task, Waiter},
};
use crate::{
    backend::{
        cpu::launch::Device,
        gpu::{calls::DriverState, shared, stream},
    },
    error::{Error, Result},
    properties::Backend,
};

/// What streams, memory and modules have in common.
pub(super) type Shared = shared::Shared<DriverContext>;

/// A stream of a context.
pub(super) type Stream = stream::Stream<DriverContext>;

pub(super) struct DriverContext {
    /// What kernels know of their device.
    pub(super) device: Arc<Device>,
    /// The default stream.
    pub(super) stream: Arc<CpuStream>,
    pub(super) state: DriverState,
    /// Every stream whose thread may run.
    queues: Mutex<Vec<Waiter>>,
    pub(super) in_use: Arc<InUse>,
    /// The process that has the threads.
    process: u32,
}

/// A stream: a queue, whose thread runs what is on it after this is dropped too.
pub(super) struct CpuStream {
    queue: Queue,
    in_use: Arc<InUse>,
    pub(super) is_default: bool,
}

impl CpuStream {
    fn new(in_use: &Arc<InUse>, is_default: bool) -> Result<Self> {
        let queue = Queue::start()
            .map_err(|error| unavailable(format!("a stream cannot start its thread: {error}")))?;
        Ok(Self { queue, in_use: Arc::clone(in_use), is_default })
    }

    /// Puts a task behind all others.
    pub(super) fn push(&self, task: Task) {
        self.queue.push(task);
    }

    /// Puts a task that uses memory behind all others. It is left out where a launch was given up before it,
    /// which may use the same memory for ever.
    pub(super) fn push_access(&self, access: impl FnOnce() + Send + 'static) {
        let in_use = Arc::clone(&self.in_use);
        self.push(Box::new(move || {
            if in_use.check_launches().is_ok() {
                access();
            }
        }));
    }

    /// Waits for all tasks.
    pub(super) fn wait(&self) {
        self.queue.wait();
    }

    pub(super) fn has_work(&self) -> bool {
        self.queue.has_work()
    }
}

impl DriverContext {
    pub(super) fn new(device: Arc<Device>) -> Result<Self> {
        let in_use = Arc::<InUse>::default();
        let stream = Arc::new(CpuStream::new(&in_use, true)?);
        let queues = Mutex::new(vec![stream.queue.waiter()]);
        Ok(Self {
            device,
            stream,
            state: DriverState::default(),
            queues,
            in_use,
            process: process::id(),
        })
    }

    /// Makes a stream.
    pub(super) fn new_stream(&self) -> Result<Arc<CpuStream>> {
        let stream = CpuStream::new(&self.in_use, false)?;
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|queue| !queue.is_over());
        queues.push(stream.queue.waiter());
        Ok(Arc::new(stream))
    }

    /// Waits for what is on every stream, also on those that are dropped.
    pub(super) fn wait_for_all(&self) {
        // They stay in the list, for others who wait meanwhile.
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner).clone();
        queues.iter().for_each(Waiter::wait);
    }

    /// That the threads of the streams are there: a forked process has none of them.
    pub(super) fn check_process(&self) -> Result<()> {
        if self.process == process::id() {
            return Ok(());
        }
        Err(unavailable(
            "the process was forked after the device was opened, and has none of its threads; fork \
             before, or use `Device::cpu_sequential`"
                .to_owned(),
        ))
    }
}

/// The device cannot be used.
pub(super) fn unavailable(reason: String) -> Error {
    Error::Unavailable { backend: Backend::Cpu, reason }
}
