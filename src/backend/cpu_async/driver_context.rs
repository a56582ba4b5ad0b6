//! The context of the asynchronous device: its streams, and the memory that it has given away.

use std::{
    collections::HashMap,
    process,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use super::queue::{Queue, Task, WeakQueue};
use crate::{
    backend::{
        cpu::{launch::Device, memory::Memory},
        gpu::{calls::DriverState, shared},
    },
    error::{Error, LaunchTimeout, Result},
    properties::Backend,
};

/// What streams, memory and modules have in common.
pub(super) type Shared = shared::Shared<DriverContext>;

/// Memory that a launch may use for ever, of contexts that are gone.
static LOST: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

pub(super) struct DriverContext {
    /// What kernels know of their device.
    pub(super) device: Arc<Device>,
    /// The default stream.
    pub(super) stream: Arc<CpuStream>,
    pub(super) state: DriverState,
    /// Every stream whose thread may run.
    queues: Mutex<Vec<WeakQueue>>,
    /// The memory that is in use, by its address.
    memory: Mutex<HashMap<u64, Memory>>,
    /// A launch that was given up, and may use any memory for ever.
    lost: OnceLock<LaunchTimeout>,
    /// The process that has the threads.
    process: u32,
}

/// A stream: a queue, whose thread runs what is on it after this is dropped too.
pub(super) struct CpuStream {
    queue: Queue,
    pub(super) is_default: bool,
}

impl CpuStream {
    fn new(is_default: bool) -> Result<Self> {
        let queue = Queue::start()
            .map_err(|error| unavailable(format!("a stream cannot start its thread: {error}")))?;
        Ok(Self { queue, is_default })
    }

    /// Puts a task behind all others.
    pub(super) fn push(&self, task: Task) {
        self.queue.push(task);
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
        let stream = Arc::new(CpuStream::new(true)?);
        let queues = Mutex::new(vec![stream.queue.downgrade()]);
        Ok(Self {
            device,
            stream,
            state: DriverState::default(),
            queues,
            memory: Mutex::default(),
            lost: OnceLock::new(),
            process: process::id(),
        })
    }

    /// Makes a stream.
    pub(super) fn new_stream(&self) -> Result<Arc<CpuStream>> {
        let stream = CpuStream::new(false)?;
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|queue| !queue.is_gone());
        queues.push(stream.queue.downgrade());
        Ok(Arc::new(stream))
    }

    /// Waits for what is on every stream, also on those that are dropped.
    pub(super) fn wait_for_all(&self) {
        let all = |queues: &mut Vec<WeakQueue>| std::mem::take(queues);
        let queues = all(&mut self.queues.lock().unwrap_or_else(PoisonError::into_inner));
        queues.iter().for_each(WeakQueue::wait);
        let mut kept = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(queues.into_iter().filter(|queue| !queue.is_gone()));
    }

    /// That no launch was given up: nothing may be read or written after that.
    pub(super) fn check_launches(&self) -> Result<()> {
        self.lost.get().map_or(Ok(()), |timeout| Err(timeout.clone().into()))
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

    /// Keeps memory until it is [taken](Self::take) back.
    pub(super) fn keep_memory(&self, address: u64, memory: Memory) {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).insert(address, memory);
    }

    /// The memory at an address, to be dropped when nothing uses it any more; `None` where a launch may use
    /// it for ever.
    pub(super) fn take(&self, address: u64) -> Option<Memory> {
        self.check_launches().ok()?;
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).remove(&address)
    }

    /// Notes that a launch was given up and still runs. The device cannot be used any more, and no memory is
    /// freed from now on.
    pub(super) fn lose(&self, timeout: LaunchTimeout) {
        // Of several launches the first one is named.
        let _ = self.lost.set(timeout);
    }
}

impl Drop for DriverContext {
    /// Memory that a launch may use for ever is not freed.
    fn drop(&mut self) {
        if self.lost.get().is_some() {
            let memory = self.memory.get_mut().unwrap_or_else(PoisonError::into_inner);
            let mut lost = LOST.lock().unwrap_or_else(PoisonError::into_inner);
            lost.extend(memory.drain().map(|(_, memory)| memory));
        }
    }
}

/// The device cannot be used.
pub(super) fn unavailable(reason: String) -> Error {
    Error::Unavailable { backend: Backend::Cpu, reason }
}
