//! The asynchronous device: the processor, whose launches are queued.

use std::sync::{Arc, Mutex, PoisonError};

use super::{
    driver_context::{DriverContext, Shared, Stream},
    support::support,
};
use crate::{
    backend::{
        cpu,
        gpu::{calls::ContextCalls as _, module::Module, panics::Panics, transfers::Queued},
    },
    cache::module_cache,
    capability::{Capability, Support},
    device_name::CPU_ASYNC_ORDINAL,
    embedded::EmbeddedArtifact,
    error::Result,
    hal::{self, ContextId},
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

impl Queued for Context {
    type Driver = DriverContext;

    fn shared(&self) -> &Arc<Shared> {
        &self.shared
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

    fn tuning_name(&self) -> &str {
        self.shared.device.tuning_name()
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

    fn load(&self, artifact: &'static EmbeddedArtifact) -> Result<Arc<dyn hal::Module>> {
        // SAFETY: the kernels are linked into the application.
        Ok(Arc::new(unsafe { Module::load(&self.shared, artifact, artifact.bytes)? }))
    }

    fn synchronize(&self) -> Result<()> {
        self.shared.wait_for_all()
    }
}
