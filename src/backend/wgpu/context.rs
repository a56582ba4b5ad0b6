//! Contexts of wgpu: a device each.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::{
    devices::{self, ListedDevice},
    driver_context::{DriverContext, Shared, Stream},
    support::support,
};
use crate::{
    backend::gpu::{module::Module, panics::Panics, transfers::Queued},
    cache::module_cache,
    capability::{Capability, Support},
    embedded::EmbeddedArtifact,
    error::Result,
    hal::{self, ContextId, Platform},
    properties::{Architecture, Backend, Limits},
};

/// The devices of one kind: of Vulkan, where there is a loader, Metal and D3D12.
pub(crate) enum Wgpu {
    /// All but processors.
    Accelerators,
    /// Processors: the CPU back end comes before them.
    Processors,
}

pub(super) struct Context {
    id: ContextId,
    architecture: Architecture,
    limits: Limits,
    default_stream: Arc<Stream>,
    shared: Arc<Shared>,
}

/// The contexts that are open: of one device there is one that is not lost.
static OPEN: Mutex<Vec<Weak<Context>>> = Mutex::new(Vec::new());

impl Platform for Wgpu {
    fn backend(&self) -> Backend {
        Backend::Wgpu
    }

    fn devices(&self) -> Box<dyn Iterator<Item = Result<Arc<dyn hal::Context>>>> {
        let is_processor = matches!(self, Self::Processors);
        let all = devices::all().iter().enumerate();
        let of_kind = all.filter(move |(_, it)| it.is_processor == is_processor && !it.is_again);
        Box::new(of_kind.map(|(ordinal, _)| open(ordinal)))
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn hal::Context>> {
        open(ordinal)
    }

    fn open_named(&self, part: &str) -> Result<Arc<dyn hal::Context>> {
        open(devices::with_name(part)?)
    }
}

/// The device with this number.
fn open(ordinal: usize) -> Result<Arc<dyn hal::Context>> {
    let listed = devices::with_ordinal(ordinal)?;
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|context| context.strong_count() > 0);
    let is_same =
        |it: &Arc<Context>| it.shared.ordinal == ordinal && !it.shared.driver.gpu.is_lost();
    if let Some(context) = open.iter().filter_map(Weak::upgrade).find(is_same) {
        return Ok(context);
    }
    let context = Arc::new(Context::new(listed, ordinal)?);
    open.push(Arc::downgrade(&context));
    Ok(context)
}

impl Context {
    fn new(listed: &ListedDevice, ordinal: usize) -> Result<Self> {
        let id = ContextId::new();
        let driver = Arc::new(DriverContext::new(listed, ordinal)?);
        let limits = limits(&driver.gpu.limits);
        let panics = Arc::<Panics<_>>::default();
        let shared = Shared::new(driver, panics);
        let default_stream = Arc::new(Stream::new(id, Arc::clone(&shared.stream), &shared));
        let architecture = listed.api.architecture();
        Ok(Self { id, architecture, limits, default_stream, shared })
    }
}

fn limits(limits: &wgpu::Limits) -> Limits {
    Limits {
        grid: [limits.max_compute_workgroups_per_dimension; 3],
        block: [
            limits.max_compute_workgroup_size_x,
            limits.max_compute_workgroup_size_y,
            limits.max_compute_workgroup_size_z,
        ],
        threads_per_block: limits.max_compute_invocations_per_workgroup,
        shared_bytes: limits.max_compute_workgroup_storage_size,
        warp_size: 1,
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
        Backend::Wgpu
    }

    fn ordinal(&self) -> usize {
        self.shared.ordinal
    }

    fn name(&self) -> &str {
        &self.shared.gpu.name
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn support(&self, capability: Capability) -> Support {
        support(capability)
    }

    fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    fn default_stream(&self) -> Arc<dyn hal::Queue> {
        Arc::clone(&self.default_stream) as _
    }

    fn new_stream(&self) -> Result<Arc<dyn hal::Queue>> {
        let stream = self.shared.driver.new_stream();
        Ok(Arc::new(Stream::new(self.id, stream, &self.shared)))
    }

    fn load(&self, artifact: &'static EmbeddedArtifact) -> Result<Arc<dyn hal::Module>> {
        // SAFETY: the program is the one that the build made.
        Ok(Arc::new(unsafe { Module::load(&self.shared, artifact, artifact.bytes)? }))
    }

    unsafe fn load_image(
        &self,
        artifact: &'static EmbeddedArtifact,
        image: &[u8],
    ) -> Result<Option<Arc<dyn hal::Module>>> {
        // SAFETY: promised.
        Ok(Some(Arc::new(unsafe { Module::load(&self.shared, artifact, image)? })))
    }

    fn synchronize(&self) -> Result<()> {
        self.shared.wait_for_all()
    }
}
