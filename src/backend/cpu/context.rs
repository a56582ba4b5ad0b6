//! CPU contexts: the processor as a device, in parallel or on one thread.

use std::{
    iter,
    num::NonZero,
    ptr,
    sync::{Arc, OnceLock},
};

use super::{
    launch::Device, memory::Memory, module::Module, options::Options, stream::Stream,
    support::support,
};
use crate::{
    cache::module_cache,
    capability::{Capability, Support},
    embedded::EmbeddedArtifact,
    error::{Error, Result},
    hal::{self, ContextId, Platform, StreamRef},
    properties::{Architecture, Backend, Limits},
};

/// What can be launched on the processor. Nothing in it has these limits: they are those of
/// current GPUs, so that what runs here can run there.
pub(in crate::backend) const LIMITS: Limits = Limits {
    grid: [i32::MAX as u32, 65_535, 65_535],
    block: [1024, 1024, 64],
    threads_per_block: 1024,
    shared_bytes: 228 << 10,
    warp_size: 32,
};

/// The processor, which is always there.
pub(crate) struct Cpu;

pub(crate) struct Context {
    id: ContextId,
    device: Arc<Device>,
}

/// The device whose blocks run in parallel.
///
/// # Errors
///
/// [`Error::Variable`].
pub(crate) fn parallel() -> Result<Arc<dyn hal::Context>> {
    static PARALLEL: OnceLock<Arc<Context>> = OnceLock::new();
    open(&PARALLEL, false)
}

/// The device whose blocks run one after the other.
///
/// # Errors
///
/// [`Error::Variable`].
pub(crate) fn sequential() -> Result<Arc<dyn hal::Context>> {
    static SEQUENTIAL: OnceLock<Arc<Context>> = OnceLock::new();
    open(&SEQUENTIAL, true)
}

fn open(place: &OnceLock<Arc<Context>>, sequential: bool) -> Result<Arc<dyn hal::Context>> {
    if let Some(context) = place.get() {
        return Ok(Arc::clone(context) as _);
    }
    let options = Options::of_process()?;
    Ok(Arc::clone(place.get_or_init(|| Arc::new(Context::new(sequential, options)))) as _)
}

/// What kernels know of the device whose launches are queued.
///
/// # Errors
///
/// [`Error::Variable`].
pub(in crate::backend) fn asynchronous() -> Result<Arc<Device>> {
    Ok(asynchronous_with(Options::of_process()?))
}

/// The same device, under a watchdog.
#[cfg(test)]
pub(in crate::backend) fn asynchronous_watched(limit: std::time::Duration) -> Arc<Device> {
    asynchronous_with(Options { watchdog: Some(limit), guard_pages: None })
}

fn asynchronous_with(options: Options) -> Arc<Device> {
    let name = format!("{} CPU, {} threads, asynchronous", std::env::consts::ARCH, cores());
    Arc::new(Device::new(name, false, options))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

impl Context {
    pub(super) fn new(sequential: bool, options: Options) -> Self {
        let how = if sequential { "sequential".to_owned() } else { format!("{} threads", cores()) };
        let name = format!("{} CPU, {how}", std::env::consts::ARCH);
        let device = Device::new(name, sequential, options);
        Self { id: ContextId::new(), device: Arc::new(device) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        module_cache().release_context(self.id);
    }
}

impl Platform for Cpu {
    fn backend(&self) -> Backend {
        Backend::Cpu
    }

    fn devices(&self) -> Box<dyn Iterator<Item = Result<Arc<dyn hal::Context>>>> {
        Box::new(iter::once_with(parallel))
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn hal::Context>> {
        if ordinal == 0 {
            return parallel();
        }
        let reason = format!("there is no device {ordinal}: the processor is one device, number 0");
        Err(Error::NoDevice { backend: Backend::Cpu, reason })
    }
}

impl hal::Transfers for Context {
    fn zeros(&self, bytes: usize) -> Result<Box<dyn hal::Memory>> {
        Ok(Box::new(self.device.memory(bytes, true)?))
    }

    unsafe fn upload(&self, source: *const u8, bytes: usize) -> Result<Box<dyn hal::Memory>> {
        let mut memory = Box::new(self.device.memory(bytes, false)?);
        // SAFETY: the memory is new and has that many bytes; the source is promised.
        unsafe { hal::Memory::write(&mut *memory, 0, source, bytes)? };
        Ok(memory)
    }

    fn host_memory(&self, bytes: usize) -> Result<Box<dyn hal::HostMemory>> {
        Ok(Box::new(Memory::of_host(self.device.name(), bytes)?))
    }

    unsafe fn zero(&self, target: u64, bytes: usize, _stream: StreamRef<'_>) -> Result<()> {
        let target = ptr::with_exposed_provenance_mut::<u8>(target as usize);
        // SAFETY: promised; launches have run when they return, save those whose memory is lost, which is not held.
        unsafe { ptr::write_bytes(target, 0, bytes) };
        Ok(())
    }

    unsafe fn copy(
        &self,
        target: u64,
        source: u64,
        bytes: usize,
        _stream: StreamRef<'_>,
    ) -> Result<()> {
        let (source, target) = (
            ptr::with_exposed_provenance::<u8>(source as usize),
            ptr::with_exposed_provenance_mut::<u8>(target as usize),
        );
        // SAFETY: promised; launches have run when they return, save those whose memory is lost, which is not held.
        unsafe { ptr::copy_nonoverlapping(source, target, bytes) };
        Ok(())
    }
}

impl hal::Context for Context {
    fn id(&self) -> ContextId {
        self.id
    }

    fn backend(&self) -> Backend {
        Backend::Cpu
    }

    fn ordinal(&self) -> usize {
        0
    }

    fn name(&self) -> &str {
        self.device.name()
    }

    fn tuning_name(&self) -> &str {
        self.device.tuning_name()
    }

    fn limits(&self) -> &Limits {
        &LIMITS
    }

    fn support(&self, capability: Capability) -> Support {
        support(capability)
    }

    fn architecture(&self) -> &Architecture {
        &Architecture::Cpu
    }

    fn default_stream(&self) -> Arc<dyn hal::Queue> {
        Stream::of_thread(self.id)
    }

    fn new_stream(&self) -> Result<Arc<dyn hal::Queue>> {
        Ok(Arc::new(Stream::new(self.id)))
    }

    fn load(&self, _artifact: &'static EmbeddedArtifact) -> Result<Arc<dyn hal::Module>> {
        Ok(Arc::new(Module::new(Arc::clone(&self.device))))
    }

    fn synchronize(&self) -> Result<()> {
        self.device.errors.report()
    }
}
