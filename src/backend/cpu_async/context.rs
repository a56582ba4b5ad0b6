//! The asynchronous device: the processor, whose launches are queued.

use std::sync::{Arc, Mutex, PoisonError};

use super::{
    driver_context::{DriverContext, Shared},
    stream::Stream,
    support::support,
};
use crate::{
    backend::{
        cpu,
        gpu::{
            calls::{ContextCalls as _, MemoryCalls as _},
            host_memory::HostMemory,
            memory::Memory,
            module::Module,
            panics::Panics,
        },
    },
    cache::module_cache,
    capability::{Capability, Support},
    device_name::CPU_ASYNC_ORDINAL,
    embedded::EmbeddedArtifact,
    error::Result,
    hal::{self, ContextId, StreamRef},
    properties::{Architecture, Backend, Limits},
};

pub(super) struct Context {
    id: ContextId,
    default_stream: Arc<Stream>,
    shared: Arc<Shared>,
}

/// The device; there is one.
///
/// # Errors
///
/// [`Error::Variable`](crate::Error::Variable), and [`Error::Unavailable`](crate::Error::Unavailable) where no thread
/// can be started.
pub(crate) fn open() -> Result<Arc<dyn hal::Context>> {
    static OPEN: Mutex<Option<Arc<Context>>> = Mutex::new(None);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = &*open {
        return Ok(Arc::clone(context) as _);
    }
    let context = Arc::new(Context::new()?);
    *open = Some(Arc::clone(&context));
    Ok(context)
}

impl Context {
    pub(super) fn new() -> Result<Self> {
        Ok(Self::of(DriverContext::new(cpu::context::asynchronous()?)?))
    }

    pub(super) fn of(driver: DriverContext) -> Self {
        let (id, driver) = (ContextId::new(), Arc::new(driver));
        let panics = Arc::<Panics<_>>::default();
        let shared = Shared::new(driver, panics);
        let default_stream = Arc::new(Stream::new(id, Arc::clone(&shared.stream), &shared));
        Self { id, default_stream, shared }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        module_cache().release_context(self.id);
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
        CPU_ASYNC_ORDINAL
    }

    fn name(&self) -> &str {
        self.shared.device.name()
    }

    fn limits(&self) -> &Limits {
        &cpu::context::LIMITS
    }

    fn support(&self, capability: Capability) -> Support {
        support(capability)
    }

    fn architecture(&self) -> &Architecture {
        &Architecture::Cpu
    }

    fn default_stream(&self) -> Arc<dyn hal::Queue> {
        Arc::clone(&self.default_stream) as _
    }

    fn new_stream(&self) -> Result<Arc<dyn hal::Queue>> {
        self.shared.bind()?;
        let stream = self.shared.driver.new_stream()?;
        self.shared.expect(&stream);
        Ok(Arc::new(Stream::new(self.id, stream, &self.shared)))
    }

    fn zeros(&self, bytes: usize) -> Result<Box<dyn hal::Memory>> {
        Ok(Box::new(Memory::zeros(&self.shared, bytes)?))
    }

    unsafe fn upload(&self, source: *const u8, bytes: usize) -> Result<Box<dyn hal::Memory>> {
        // SAFETY: promised.
        Ok(Box::new(unsafe { Memory::upload(&self.shared, source, bytes)? }))
    }

    fn host_memory(&self, bytes: usize) -> Result<Box<dyn hal::HostMemory>> {
        Ok(Box::new(HostMemory::new(&self.shared, bytes)?))
    }

    unsafe fn zero(&self, target: u64, bytes: usize, stream: StreamRef<'_>) -> Result<()> {
        self.shared.bind()?;
        let stream = DriverContext::launch_stream(stream)?;
        // SAFETY: promised.
        self.shared.timed(stream, || unsafe { DriverContext::zero(target, bytes, stream) })
    }

    unsafe fn copy(
        &self,
        target: u64,
        source: u64,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<()> {
        self.shared.bind()?;
        let stream = DriverContext::launch_stream(stream)?;
        // SAFETY: promised.
        self.shared.timed(stream, || unsafe { DriverContext::copy(target, source, bytes, stream) })
    }

    fn load(&self, artifact: &'static EmbeddedArtifact) -> Result<Arc<dyn hal::Module>> {
        // SAFETY: the kernels are linked into the application.
        Ok(Arc::new(unsafe { Module::load(&self.shared, artifact, artifact.bytes)? }))
    }

    fn synchronize(&self) -> Result<()> {
        self.shared.bind()?;
        let panics = &self.shared.panics;
        let dropped = panics.dropped();
        self.shared.synchronize()?;
        self.shared.collect_times();
        panics.reclaim(dropped, &self.shared);
        self.shared.bind()?;
        panics.report_all()
    }
}
