//! Devices.

use std::{fmt, sync::Arc};

use crate::{
    Backend, Buffer, DeviceCopy, Limits, Result, Stream,
    backend::{self, Context, cpu},
    select::Architecture,
};

/// A device that kernels run on: the processor or a GPU.
///
/// Cheap to clone; clones are the same device. Every call that asks for the same device gets the
/// same context, so buffers and kernels of one go with those of the other.
///
/// ```
/// use kernelmill::{Backend, Device};
/// let device = Device::best()?;
/// println!("{device}: up to {} threads per block", device.limits().threads_per_block);
/// assert_eq!(Device::cpu()?.backend(), Backend::Cpu);
/// # Ok::<(), kernelmill::Error>(())
/// ```
#[derive(Clone)]
pub struct Device {
    context: Arc<dyn Context>,
}

impl Device {
    /// The first GPU that can be opened, else the processor: CUDA (with the feature `cuda`), CPU.
    ///
    /// A GPU that is there but cannot be opened is passed over; [`Device::cuda`] says why.
    ///
    /// # Errors
    ///
    /// None at present: the processor is always there.
    pub fn best() -> Result<Self> {
        let best = backend::all().next().unwrap_or_else(cpu::context::parallel);
        Ok(Self::of(best))
    }

    /// Every device that can be opened, the best first, the processor last.
    #[must_use]
    pub fn all() -> Vec<Self> {
        backend::all().map(Self::of).collect()
    }

    /// The processor. Blocks of a launch run in parallel, on rayon's global thread pool.
    ///
    /// # Errors
    ///
    /// None at present.
    pub fn cpu() -> Result<Self> {
        Ok(Self::of(cpu::context::parallel()))
    }

    /// The processor, on the calling thread alone: the blocks of a launch run one after the
    /// other, x fastest, and so do the threads of a block up to their next barrier. What a kernel
    /// computes, and which panic of a launch is reported, is the same every time.
    ///
    /// A device of its own: buffers and kernels of [`Device::cpu`] do not go with it.
    ///
    /// # Errors
    ///
    /// None at present.
    ///
    /// ```
    /// let device = kernelmill::Device::cpu_sequential()?;
    /// assert!(device.name().contains("sequential"));
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    pub fn cpu_sequential() -> Result<Self> {
        Ok(Self::of(cpu::context::sequential()))
    }

    /// The NVIDIA GPU with this number, in its primary context.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] without the feature `cuda`, a driver or such a device;
    /// [`Error::Cuda`] where the driver refuses it.
    ///
    /// [`Error::Unavailable`]: crate::Error::Unavailable
    /// [`Error::Cuda`]: crate::Error::Cuda
    pub fn cuda(ordinal: usize) -> Result<Self> {
        backend::cuda(ordinal).map(Self::of)
    }

    /// The device of a context that the program already has. The context stays the program's: it
    /// is kept alive, never reset.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`](crate::Error::Cuda) where the driver does not answer.
    #[cfg(feature = "cuda")]
    pub fn from_cuda_context(context: &Arc<cudarc::driver::CudaContext>) -> Result<Self> {
        backend::cuda::context::adopt(context).map(Self::of)
    }

    /// A stream of this device that launches on a stream that the program already has.
    ///
    /// Wrappers take an `Arc<CudaStream>` as it is; this is for [`Stream::synchronize`], which
    /// reports kernel panics too.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`](crate::Error::WrongDevice) for a stream of another context.
    #[cfg(feature = "cuda")]
    pub fn adopt_stream(&self, stream: Arc<cudarc::driver::CudaStream>) -> Result<Stream> {
        let handle = stream.context().cu_ctx() as usize;
        if self.context.cuda_handle() != Some(handle) {
            return Err(crate::Error::WrongDevice {
                subject: "a CudaStream".to_owned(),
                found: stream.context().name().unwrap_or_else(|_| "another context".to_owned()),
                expected: self.to_string(),
            });
        }
        let stream = backend::cuda::stream::Stream::new(self.context.generation(), stream);
        Ok(Stream::new(self.clone(), Arc::new(stream)))
    }

    /// Copies `data` into a new buffer. Returns when `data` can be changed again.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), or what the driver reports.
    ///
    /// ```
    /// let x = kernelmill::Device::cpu()?.upload(&[1.0f32; 1000])?;
    /// assert_eq!(x.len(), 1000);
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    pub fn upload<T: DeviceCopy>(&self, data: &[T]) -> Result<Buffer<T>> {
        Buffer::upload(self, data)
    }

    /// A new buffer of `n` elements whose bytes are all zero.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), or what the driver reports.
    pub fn zeros<T: DeviceCopy>(&self, n: usize) -> Result<Buffer<T>> {
        Buffer::zeros(self, n)
    }

    /// The device's default stream: the same one every time. On the CPU each thread has its own,
    /// so that threads that know nothing of each other do not get each other's errors.
    #[must_use]
    pub fn stream(&self) -> Stream {
        Stream::new(self.clone(), self.context.default_stream())
    }

    /// A new stream: launches on it run beside those on other streams, save where they use the
    /// same buffers.
    ///
    /// # Errors
    ///
    /// What the driver reports.
    pub fn new_stream(&self) -> Result<Stream> {
        Ok(Stream::new(self.clone(), self.context.new_stream()?))
    }

    /// Waits for everything that was launched, on every stream.
    ///
    /// # Errors
    ///
    /// The first error of a launch on this device that was not reported before.
    pub fn synchronize(&self) -> Result<()> {
        self.context.synchronize()
    }

    /// The name, as the driver has it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.context.name()
    }

    /// How the device is driven.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.context.backend()
    }

    /// What can be launched on it at most.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        self.context.limits()
    }

    /// What decides which embedded binaries it can run.
    #[must_use]
    pub fn architecture(&self) -> &Architecture {
        self.context.architecture()
    }

    pub(crate) fn context(&self) -> &dyn Context {
        &*self.context
    }

    fn of(context: Arc<dyn Context>) -> Self {
        Self { context }
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.context.generation() == other.context.generation()
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Device")
            .field("name", &self.name())
            .field("backend", &self.backend())
            .field("architecture", self.architecture())
            .finish_non_exhaustive()
    }
}

/// The name, and for a GPU the architecture.
impl fmt::Display for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.architecture() {
            Architecture::Cpu => formatter.write_str(self.name()),
            architecture => write!(formatter, "{} ({architecture})", self.name()),
        }
    }
}
