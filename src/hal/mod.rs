//! The hardware abstraction layer: the traits that a back end implements.
//!
//! A [`Platform`] opens devices, a [`Context`] is one that is open, [`Transfers`] is what it does with its memory, of which
//! [`Memory`] is a block. A
//! [`Stream`] is what launches are put on; a [`Queue`] is a stream of a context, and an [`Event`] a point in its
//! work. A [`Module`] is a loaded binary and a [`Function`] a kernel of it. Everything above
//! knows these traits and no back end; `crate::backend` lists those that there are.

use std::{any::Any, sync::Arc, time::Duration};

use kernelmill_artifact::{Resources, Signature, TensorMapData};

pub use self::stream::StreamRef;
pub(crate) use self::{
    arguments::{OwnedArguments, Pointers},
    async_error::{AsyncError, ErrorSlot},
    guard::Guard,
    memory::{HostMemory, Memory, RowCopy},
    stream::{ContextId, Stream, Taken},
    transfers::Transfers,
};
use crate::{
    capability::{Capability, Support},
    embedded::{EmbeddedArtifact, EmbeddedKernel},
    error::{Error, Result},
    limits::{Checked, KernelLimits},
    properties::{Architecture, Backend, Limits},
};

mod arguments;
mod async_error;
mod guard;
mod memory;
mod stream;
mod transfers;

/// The devices of one back end.
pub(crate) trait Platform: Sync {
    fn backend(&self) -> Backend;

    /// Every device, the best first, each opened when the iterator comes to it. An error is a device
    /// that cannot be opened, or a driver that does not start; that there is none is no error.
    fn devices(&self) -> Box<dyn Iterator<Item = Result<Arc<dyn Context>>>>;

    /// Opens the device with this number; whoever asks for the same one gets the same context.
    fn open(&self, ordinal: usize) -> Result<Arc<dyn Context>>;

    /// Opens the first device in whose name, or that of its driver, `part` occurs.
    fn open_named(&self, part: &str) -> Result<Arc<dyn Context>> {
        let reason = format!("its devices are selected by number, and `{part}` is not a number");
        Err(Error::NoDevice { backend: self.backend(), reason })
    }
}

/// A device that is open: its properties, its memory ([`Transfers`]), and the state that its streams share.
pub(crate) trait Context: Transfers + Any + Send + Sync {
    fn id(&self) -> ContextId;
    fn backend(&self) -> Backend;
    /// The number that [`Platform::open`] knows it by.
    fn ordinal(&self) -> usize;
    fn name(&self) -> &str;
    /// What tuned launches are kept under: the name, with more of the processor where that has no name of its own.
    fn tuning_name(&self) -> &str {
        self.name()
    }
    fn limits(&self) -> &Limits;
    fn architecture(&self) -> &Architecture;
    /// How its back end has a capability.
    fn support(&self, capability: Capability) -> Support;

    /// The default stream of the calling thread.
    fn default_stream(&self) -> Arc<dyn Queue>;
    fn new_stream(&self) -> Result<Arc<dyn Queue>>;

    /// Whether what belongs to this context can be used on `stream`.
    fn accepts(&self, stream: &StreamRef<'_>) -> bool {
        stream.context() == Some(self.id())
    }

    /// Whether launches of this context are put on `stream` at once, and not recorded.
    fn takes(&self, stream: &StreamRef<'_>) -> Taken {
        if !stream.is_recording() && self.accepts(stream) { Taken::Stream } else { Taken::Nothing }
    }

    /// Whether streams of this context can wait for `event`, and its time be compared with that of theirs.
    fn accepts_event(&self, event: &dyn Event) -> bool {
        event.context() == self.id()
    }

    /// Loads a binary that runs on this device.
    fn load(&self, artifact: &'static EmbeddedArtifact) -> Result<Arc<dyn Module>>;

    /// Loads `image` in the place of a binary's own bytes; `None` where a device has nothing to load.
    ///
    /// # Safety
    ///
    /// It is a whole binary, and has the kernels of `artifact`.
    unsafe fn load_image(
        &self,
        _artifact: &'static EmbeddedArtifact,
        _image: &[u8],
    ) -> Result<Option<Arc<dyn Module>>> {
        Ok(None)
    }

    /// The driver's descriptor of a tensor; `None` where the device needs none.
    fn tensor_map(
        &self,
        _data: &TensorMapData,
        _format: TensorFormat,
    ) -> Result<Option<[u64; 16]>> {
        Ok(None)
    }

    /// The most threads that are on a multiprocessor at once; `None` where no driver says it.
    fn multiprocessor_threads(&self) -> Result<Option<u32>> {
        Ok(None)
    }

    /// Makes a graph of launches; `None` where those of a graph are put on the stream one after the other.
    ///
    /// # Safety
    ///
    /// What the nodes refer to outlives the graph, and is as a launch of each of them asks for.
    unsafe fn instantiate(&self, _nodes: &[Node<'_>]) -> Result<Option<Box<dyn Graph>>> {
        Ok(None)
    }

    /// Waits for all streams; the first asynchronous error that was not reported yet.
    fn synchronize(&self) -> Result<()>;
}

impl<'a> StreamRef<'a> {
    /// The same stream, which is not asked again whether launches in `context` may be put on it at once.
    #[inline]
    pub(crate) fn for_launches_in(self, context: &'a dyn Context) -> Self {
        self.taken(address(context), context.takes(&self))
    }

    /// Whether launches in `context` may be put on it at once, as far as it was asked. Contexts that are two values of one
    /// context of a driver are different here.
    #[inline]
    pub(crate) fn is_for_launches_in(self, context: &dyn Context) -> bool {
        self.taken_by() == address(context)
    }
}

#[inline]
fn address(context: &dyn Context) -> usize {
    std::ptr::from_ref(context).addr()
}

/// What the driver's descriptor of a tensor says besides the numbers.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "for drivers, and a build may have none")]
pub(crate) struct TensorFormat {
    pub(crate) element_bytes: usize,
    /// The number of dimensions.
    pub(crate) rank: usize,
}

/// A stream of a context, the program's own among them where a context has adopted it.
pub(crate) trait Queue: Stream {
    /// An event that is complete when all work is done that the stream has now.
    fn record(&self) -> Result<Arc<dyn Event>>;

    /// The first asynchronous error of this stream that was not reported yet, of launches that were waited for.
    fn report(&self) -> Result<()>;

    /// Lets the work that the stream is given from now on wait for an event, which its context accepts.
    fn wait(&self, event: &dyn Event) -> Result<()>;
}

/// A point in the work of a stream.
pub(crate) trait Event: Any + Send + Sync {
    /// The context of the stream.
    fn context(&self) -> ContextId;

    /// Whether all work before it is done. Waits for nothing.
    fn is_complete(&self) -> Result<bool>;

    /// Waits for all work before it.
    fn synchronize(&self) -> Result<()>;

    /// The time from `earlier`, which the context of this event accepts; zero where that came later. `None`
    /// where one of the two is not complete.
    fn elapsed_since(&self, earlier: &dyn Event) -> Result<Option<Duration>>;
}

/// A place in a variable of a module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VariablePlace<'a> {
    /// The name of the variable in compiled code.
    pub(crate) symbol: &'a str,
    /// The size of the whole variable.
    pub(crate) size: usize,
    /// The first byte.
    pub(crate) offset: usize,
}

/// A binary that is loaded. Dropping the last reference unloads it.
pub(crate) trait Module: Send + Sync {
    /// The kernel `kernel` of this module, which callers know by `signature`.
    fn function(
        self: Arc<Self>,
        artifact: &'static EmbeddedArtifact,
        kernel: &'static EmbeddedKernel,
        signature: &'static Signature,
    ) -> Result<Box<dyn Function>>;

    /// Copies bytes of a variable to the host, once the device has done all that it was given; false where the module
    /// has no such variable.
    ///
    /// # Safety
    ///
    /// `offset + bytes` is within the variable; `target` can be written for `bytes` bytes.
    unsafe fn read_variable(
        &self,
        _artifact: &'static EmbeddedArtifact,
        _place: VariablePlace<'_>,
        _target: *mut u8,
        _bytes: usize,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Copies bytes from the host to a variable, once the device has done all that it was given; false where the module
    /// has no such variable. Launches from then on read them.
    ///
    /// # Safety
    ///
    /// `offset + bytes` is within the variable; `source` can be read for `bytes` bytes.
    unsafe fn write_variable(
        &self,
        _artifact: &'static EmbeddedArtifact,
        _place: VariablePlace<'_>,
        _source: *const u8,
        _bytes: usize,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Whether a launch of one of its kernels is in flight, as far as is known without waiting. Dropping the
    /// module waits for launches in any case.
    fn is_busy(&self) -> bool {
        false
    }
}

/// A kernel of a loaded module.
pub(crate) trait Function: Any + Send + Sync {
    fn limits(&self) -> KernelLimits;

    /// What it takes of the device, as far as a driver says.
    fn resources(&self) -> Result<Resources> {
        Ok(Resources::UNKNOWN)
    }

    /// The number of which a driver prefers the threads of a block to be a multiple; `None` where none says it.
    fn preferred_multiple(&self) -> Result<Option<u32>> {
        Ok(None)
    }

    /// The most blocks of so many threads that a multiprocessor holds at once; `None` where no driver says it.
    fn resident_blocks(&self, _threads: u32, _dynamic_shared_bytes: u32) -> Result<Option<u32>> {
        Ok(None)
    }

    /// The most blocks of such a size that are on the device at once, for a kernel whose blocks wait for each other;
    /// `None` where they cannot.
    fn cooperative_blocks(
        &self,
        _block: [u32; 3],
        _dynamic_shared_bytes: u32,
    ) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Launches it; the asynchronous error, where the launch has run already.
    ///
    /// # Safety
    ///
    /// `arguments` are pointers to the kernel's device-level arguments, `shape` is within the
    /// limits, and the stream is of the function's device.
    unsafe fn launch(
        &self,
        stream: StreamRef<'_>,
        shape: &Checked,
        arguments: &mut Pointers<'_>,
    ) -> Result<Option<Arc<AsyncError>>>;

    /// The longest that a launch may take, where somebody watches: it is by [`Function::launch_within`] then.
    fn time_limit(&self) -> Option<Duration> {
        None
    }

    /// Launches it with arguments of its own, and waits no longer than `limit`. Memory that the launch may use
    /// after that is lost by the error.
    ///
    /// # Safety
    ///
    /// As for `launch`.
    unsafe fn launch_within(
        &self,
        _limit: Duration,
        stream: StreamRef<'_>,
        shape: &Checked,
        arguments: OwnedArguments,
    ) -> Result<Option<Arc<AsyncError>>> {
        // SAFETY: as promised to this function; a launch that returns does not use its arguments any more.
        arguments.with_pointers(|pointers| unsafe { self.launch(stream, shape, pointers) })
    }
}

/// A launch of a graph.
#[allow(dead_code, reason = "for drivers, and a build may have none")]
pub(crate) struct Node<'a> {
    pub(crate) function: &'a dyn Function,
    pub(crate) shape: Checked,
    pub(crate) arguments: &'a OwnedArguments,
    /// The indices of the nodes before it that have to be done when it begins.
    pub(crate) dependencies: Vec<usize>,
}

/// A graph that is ready to be launched.
pub(crate) trait Graph: Send + Sync {
    /// Launches it.
    ///
    /// # Safety
    ///
    /// The memory that its launches use is held for them, and the stream is of its device.
    unsafe fn launch(&mut self, stream: StreamRef<'_>) -> Result<()>;
}
