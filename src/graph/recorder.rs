//! The recorder: what stands for a stream while a graph is recorded.
//!
//! It keeps launches with copies of their arguments, and notes which buffers each of them reads and writes.
//! Guaranteed: a recorded launch has only memory of the graph's own buffers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    argument::Argument,
    device::Device,
    error::{Error, Result},
    hal::{self, AsyncError, ContextId, Memory, Node, OwnedArguments, StreamRef},
    kernel::LoadedKernel,
    launch::Launch,
    limits::Checked,
    marshal,
};

/// A stream on which launches are recorded.
pub(crate) struct Recorder {
    id: u64,
    device: Device,
    recording: Mutex<Recording>,
}

#[derive(Default)]
struct Recording {
    buffers: Vec<StoredBuffer>,
    launches: Vec<RecordedLaunch>,
    /// The uses of the launch that is being recorded.
    pending: Vec<BufferUse>,
}

/// A buffer without its type.
pub(super) struct StoredBuffer {
    /// `None`: no bytes.
    pub(super) memory: Option<Box<dyn Memory>>,
}

/// That a launch uses a buffer.
#[derive(Clone, Copy)]
pub(super) struct BufferUse {
    /// Its index in the graph.
    pub(super) buffer: usize,
    pub(super) writes: bool,
}

/// A launch that was recorded.
pub(super) struct RecordedLaunch {
    kernel: Arc<LoadedKernel>,
    shape: Checked,
    arguments: OwnedArguments,
    uses: Vec<BufferUse>,
}

impl Recorder {
    pub(super) fn new(device: Device) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { id, device, recording: Mutex::default() }
    }

    /// The graph's identity, which no other has.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    fn lock(&self) -> MutexGuard<'_, Recording> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the memory of a buffer; the buffer's index.
    pub(super) fn add(&self, memory: Option<Box<dyn Memory>>) -> usize {
        let mut recording = self.lock();
        recording.buffers.push(StoredBuffer { memory });
        recording.buffers.len() - 1
    }

    /// Notes that the launch which is recorded next uses a buffer.
    pub(super) fn note(&self, used: BufferUse) {
        self.lock().pending.push(used);
    }

    /// Records a launch.
    ///
    /// # Errors
    ///
    /// As those of a launch on `device`.
    pub(crate) fn record(
        &self,
        device: &Device,
        kernel: &Arc<LoadedKernel>,
        launch: &Launch<3>,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        let uses = std::mem::take(&mut self.lock().pending);
        if device != &self.device {
            return Err(Error::WrongDevice {
                subject: format!("the kernel `{}`", kernel.name()),
                found: device.to_string(),
                expected: format!("a graph on {}", self.device),
            });
        }
        if !kernel.check(device, launch, arguments)? {
            return Ok(());
        }
        let shape = Checked::of(launch);
        let (kernel, arguments) = (Arc::clone(kernel), marshal::owned(arguments));
        self.lock().launches.push(RecordedLaunch { kernel, shape, arguments, uses });
        Ok(())
    }

    pub(super) fn into_parts(self) -> (Vec<RecordedLaunch>, Vec<StoredBuffer>) {
        let recording = self.recording.into_inner().unwrap_or_else(PoisonError::into_inner);
        (recording.launches, recording.buffers)
    }
}

impl RecordedLaunch {
    pub(super) fn uses(&self) -> &[BufferUse] {
        &self.uses
    }

    /// Launches it on a stream.
    ///
    /// # Safety
    ///
    /// The memory that it uses is held for it, and the stream is of its device.
    pub(super) unsafe fn run(&self, stream: StreamRef<'_>) -> Result<Option<Arc<AsyncError>>> {
        // SAFETY: promised; who recorded the launch has promised the rest for all launches of the graph.
        unsafe { self.kernel.run_owned(stream, &self.shape, &self.arguments) }
    }
}

/// The launches as nodes: each depends on those before it that use the same buffers, where one of the two
/// writes.
pub(super) fn nodes(launches: &[RecordedLaunch]) -> Vec<Node<'_>> {
    let mut accesses: BTreeMap<usize, LastAccesses> = BTreeMap::new();
    let mut nodes = Vec::with_capacity(launches.len());
    for (index, launch) in launches.iter().enumerate() {
        let dependencies: BTreeSet<usize> =
            launch.uses.iter().flat_map(|used| used.waits_for(&accesses)).collect();
        for used in &launch.uses {
            accesses.entry(used.buffer).or_default().add(index, used.writes);
        }
        nodes.push(Node {
            function: launch.kernel.function(),
            shape: launch.shape,
            arguments: &launch.arguments,
            dependencies: dependencies.into_iter().collect(),
        });
    }
    nodes
}

/// The launches that used a buffer last.
#[derive(Default)]
struct LastAccesses {
    write: Option<usize>,
    /// Those that have read since.
    reads: Vec<usize>,
}

impl LastAccesses {
    fn add(&mut self, launch: usize, writes: bool) {
        if writes {
            *self = Self { write: Some(launch), reads: Vec::new() };
        } else if self.write != Some(launch) {
            self.reads.push(launch);
        }
    }
}

impl BufferUse {
    /// The launches that have to be done before this use.
    fn waits_for(self, accesses: &BTreeMap<usize, LastAccesses>) -> Vec<usize> {
        let Some(last) = accesses.get(&self.buffer) else { return Vec::new() };
        let reads = if self.writes { &last.reads[..] } else { &[] };
        last.write.iter().chain(reads).copied().collect()
    }
}

impl hal::Stream for Recorder {
    /// None: buffers beside those of the graph cannot be used on it.
    fn context(&self) -> Option<ContextId> {
        None
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn is_recording(&self) -> bool {
        true
    }

    fn describe(&self) -> &'static str {
        "a graph that is being recorded"
    }
}
