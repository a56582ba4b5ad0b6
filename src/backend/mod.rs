//! The back ends: one folder each, with the same files, behind the traits here.
//!
//! `context` is a device, `memory` a block of its memory, `stream` a queue, `module` a loaded
//! binary, `launch` a kernel of it. The rest of the crate knows only these traits; [`all`] and
//! [`mod@cuda`] are where a back end is named.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    Backend, EmbeddedArtifact, EmbeddedKernel, Limits, Result,
    fault::{Fault, FaultSlot},
    limits::{Checked, KernelLimits},
    select::Architecture,
    tensor_map::Form,
};
use kernelmill_artifact::TensorMapData;

pub(crate) mod cpu;
#[cfg(feature = "cuda")]
pub(crate) mod cuda;

/// The number of a context: each has its own, and none is used twice, so that what is kept for a
/// context that is gone is never taken for that of a new one at the same address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Generation(u64);

impl Generation {
    /// A number that was never given out before.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A device that is open.
pub(crate) trait Context: Send + Sync {
    fn backend(&self) -> Backend;
    fn name(&self) -> &str;
    fn limits(&self) -> &Limits;
    fn architecture(&self) -> &Architecture;
    fn generation(&self) -> Generation;

    /// The default stream of the calling thread.
    fn default_stream(&self) -> Arc<dyn Stream>;
    fn new_stream(&self) -> Result<Arc<dyn Stream>>;

    /// Memory of `bytes` bytes, more than 0, all zero.
    fn zeros(&self, bytes: usize) -> Result<Box<dyn Memory>>;

    /// Memory of `bytes` bytes, more than 0, copied from `source`.
    ///
    /// # Safety
    ///
    /// `source` can be read for `bytes` bytes.
    unsafe fn upload(&self, source: *const u8, bytes: usize) -> Result<Box<dyn Memory>>;

    /// Loads a binary that runs on this device.
    fn load(&self, artifact: &'static EmbeddedArtifact) -> Result<Arc<dyn Module>>;

    /// The driver's descriptor of a tensor; `None` where the device needs none.
    fn tensor_map(&self, _data: &TensorMapData, _form: Form) -> Result<Option<[u64; 16]>> {
        Ok(None)
    }

    /// Waits for all streams; the first fault of the device that was not reported yet.
    fn synchronize(&self) -> Result<()>;

    /// NVIDIA's handle of the context; `None` elsewhere.
    #[cfg(feature = "cuda")]
    fn cuda_handle(&self) -> Option<usize> {
        None
    }
}

/// A queue of launches, run one after the other.
pub(crate) trait Stream: Send + Sync {
    fn generation(&self) -> Generation;

    /// Waits for what was launched; the first fault of this stream that was not reported yet.
    fn synchronize(&self) -> Result<()>;

    /// Keeps the fault of a launch that has run already.
    fn keep(&self, _fault: &Arc<Fault>) {}

    #[cfg(feature = "cuda")]
    fn cuda(&self) -> Option<&Arc<cudarc::driver::CudaStream>> {
        None
    }
}

/// A block of device memory.
pub(crate) trait Memory: Send + Sync {
    /// Copies to the host; the first fault of a launch that used the memory.
    ///
    /// # Safety
    ///
    /// `offset + bytes` is within the memory; `target` can be written for `bytes` bytes.
    unsafe fn read(&self, offset: usize, target: *mut u8, bytes: usize) -> Result<()>;

    /// Copies from the host.
    ///
    /// # Safety
    ///
    /// `offset + bytes` is within the memory; `source` can be read for `bytes` bytes.
    unsafe fn write(&mut self, offset: usize, source: *const u8, bytes: usize) -> Result<()>;

    /// The address, as long as the memory lives. What uses it is held for that.
    fn address(&self) -> u64;

    /// The address, for a kernel on `stream` that reads; the guard is dropped after the launch.
    fn hold_read<'a>(&'a self, stream: StreamRef<'a>) -> Result<(u64, Guard<'a>)>;

    /// The address, for a kernel on `stream` that writes; the guard is dropped after the launch.
    fn hold_write<'a>(&'a mut self, stream: StreamRef<'a>) -> Result<(u64, Guard<'a>)>;
}

/// A binary that is loaded. Dropping the last reference unloads it.
pub(crate) trait Module: Send + Sync {
    /// The kernel `kernel` of this module.
    fn function(
        self: Arc<Self>,
        artifact: &'static EmbeddedArtifact,
        kernel: &'static EmbeddedKernel,
    ) -> Result<Box<dyn Function>>;
}

/// A kernel of a loaded module.
pub(crate) trait Function: Send + Sync {
    fn limits(&self) -> KernelLimits;

    /// Launches it; the fault, where the launch has run already.
    ///
    /// # Safety
    ///
    /// `arguments` are pointers to the kernel's device-level arguments, `shape` is within the
    /// limits, and the stream is of the function's device.
    unsafe fn launch(
        &self,
        stream: StreamRef<'_>,
        shape: &Checked,
        arguments: &mut [*const u8],
    ) -> Result<Option<Arc<Fault>>>;
}

/// A stream to launch on: one of this crate or one of cudarc's.
#[derive(Clone, Copy)]
pub struct StreamRef<'a>(pub(crate) StreamKind<'a>);

#[derive(Clone, Copy)]
pub(crate) enum StreamKind<'a> {
    Own(&'a dyn Stream),
    #[cfg(feature = "cuda")]
    Cudarc(&'a Arc<cudarc::driver::CudaStream>),
}

impl<'a> StreamRef<'a> {
    /// cudarc's stream, if it is one or wraps one.
    #[cfg(feature = "cuda")]
    pub(crate) fn cuda(self) -> Option<&'a Arc<cudarc::driver::CudaStream>> {
        match self.0 {
            StreamKind::Own(stream) => stream.cuda(),
            StreamKind::Cudarc(stream) => Some(stream),
        }
    }

    /// Keeps the fault of a launch on this stream.
    pub(crate) fn keep(self, fault: &Arc<Fault>) {
        match self.0 {
            StreamKind::Own(stream) => stream.keep(fault),
            #[cfg(feature = "cuda")]
            StreamKind::Cudarc(_) => {}
        }
    }

    /// Whether what belongs to `context` can be used on this stream.
    pub(crate) fn is_of(self, context: &dyn Context) -> bool {
        if let StreamKind::Own(stream) = self.0
            && stream.generation() == context.generation()
        {
            return true;
        }
        #[cfg(feature = "cuda")]
        if let (Some(stream), Some(handle)) = (self.cuda(), context.cuda_handle()) {
            return stream.context().cu_ctx() as usize == handle;
        }
        false
    }

    /// The stream's device, for messages.
    pub(crate) fn describe(self) -> &'static str {
        match self.0 {
            StreamKind::Own(_) => "a stream of another device",
            #[cfg(feature = "cuda")]
            StreamKind::Cudarc(_) => "a CudaStream of another context",
        }
    }
}

impl fmt::Debug for StreamRef<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StreamRef").finish_non_exhaustive()
    }
}

/// What the memory of a launch needs to know of it: with cudarc the order to what uses the same
/// memory on other streams, on the host the fault.
pub(crate) enum Guard<'a> {
    /// There is no memory.
    None,
    /// Launches have run when they return; this is where their fault goes.
    Host(&'a FaultSlot),
    /// cudarc records an event, or waits, when this is dropped.
    #[cfg(feature = "cuda")]
    Cuda { _order: cudarc::driver::SyncOnDrop<'a>, _wait: Option<cudarc::driver::SyncOnDrop<'a>> },
}

/// Every device that can be opened, the best first, each opened when the iterator comes to it.
pub(crate) fn all() -> impl Iterator<Item = Arc<dyn Context>> {
    #[cfg(feature = "cuda")]
    let gpus = cuda::context::all();
    #[cfg(not(feature = "cuda"))]
    let gpus = std::iter::empty();
    gpus.chain(std::iter::once_with(cpu::context::parallel))
}

/// The NVIDIA device with this number.
#[cfg(feature = "cuda")]
pub(crate) fn cuda(ordinal: usize) -> Result<Arc<dyn Context>> {
    cuda::context::open(ordinal)
}

/// The NVIDIA device with this number: never there without the feature.
#[cfg(not(feature = "cuda"))]
pub(crate) fn cuda(_ordinal: usize) -> Result<Arc<dyn Context>> {
    let reason = "kernelmill was built without its feature `cuda`".to_owned();
    Err(crate::Error::Unavailable { backend: Backend::Cuda, reason })
}
