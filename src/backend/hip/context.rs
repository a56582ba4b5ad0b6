//! HIP contexts: AMD GPUs as devices.

use std::{
    ffi::c_int,
    iter,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use super::{
    driver::{NO_DEVICE, library, named},
    driver_context::{DriverContext, Shared, Stream},
    graph::Graph,
    launch::Function,
    library::{self, StreamOrdered, hip},
    properties::DeviceProperties,
    support::support,
};
use crate::{
    backend::gpu::{module::Module, panics::Panics, transfers::Queued},
    cache::module_cache,
    capability::{Capability, Support},
    embedded::EmbeddedArtifact,
    error::{Error, Result},
    hal::{self, ContextId, Platform},
    properties::{Architecture, Backend, Limits},
};

/// AMD's GPUs, where there is a HIP library.
pub(crate) struct Hip;

pub(super) struct Context {
    id: ContextId,
    limits: Limits,
    architecture: Architecture,
    default_stream: Arc<Stream>,
    shared: Arc<Shared>,
}

/// The attributes of a device that are asked for, by their numbers in `hipDeviceAttribute_t`.
mod attribute {
    use std::ffi::c_int;

    pub(super) const MAX_BLOCK_DIM: [c_int; 3] = [26, 27, 28];
    pub(super) const MAX_GRID_DIM: [c_int; 3] = [29, 30, 31];
    pub(super) const COOPERATIVE_LAUNCH: c_int = 10;
    pub(super) const MAX_THREADS_PER_BLOCK: c_int = 56;
    pub(super) const MAX_THREADS_PER_MULTIPROCESSOR: c_int = 57;
    pub(super) const MULTIPROCESSOR_COUNT: c_int = 63;
    pub(super) const MAX_SHARED_MEMORY_PER_BLOCK: c_int = 74;
    /// Since HIP 5.2.
    pub(super) const MEMORY_POOLS_SUPPORTED: c_int = 88;
}

/// Threads of what kernels see as a warp, also where a wave has 64 lanes: the compiler makes two warps of it.
const WARP: u32 = 32;

/// The contexts that are open: of one device there is one.
static OPEN: Mutex<Vec<Weak<Context>>> = Mutex::new(Vec::new());

impl Platform for Hip {
    fn backend(&self) -> Backend {
        Backend::Hip
    }

    fn devices(&self) -> Box<dyn Iterator<Item = Result<Arc<dyn hal::Context>>>> {
        if library::open().is_none() {
            return Box::new(iter::empty());
        }
        match count() {
            Ok(count) => Box::new((0..count).map(open)),
            Err(error) => Box::new(iter::once(Err(error))),
        }
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn hal::Context>> {
        open(ordinal)
    }
}

/// The device with this number.
fn open(ordinal: usize) -> Result<Arc<dyn hal::Context>> {
    let count = count()?;
    if ordinal >= count {
        let reason =
            format!("there is no device {ordinal}: the driver has {count}, numbered from 0");
        return Err(Error::NoDevice { backend: Backend::Hip, reason });
    }
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|context| context.strong_count() > 0);
    let is_same = |context: &Arc<Context>| context.shared.ordinal == ordinal as c_int;
    if let Some(context) = open.iter().filter_map(Weak::upgrade).find(is_same) {
        return context.check().map(|()| context as _);
    }
    let context = Arc::new(Context::new(ordinal)?);
    open.push(Arc::downgrade(&context));
    Ok(context)
}

/// The number of devices; none where the library says that there is none.
fn count() -> Result<usize> {
    let hip = library()?;
    let subject = || "HIP".to_owned();
    // SAFETY: there are no flags.
    match unsafe { (hip.hipInit)(0) } {
        NO_DEVICE => return Ok(0),
        code => named(code, "hipInit", subject)?,
    }
    let mut count = 0;
    // SAFETY: the place is this function's own.
    match unsafe { (hip.hipGetDeviceCount)(&raw mut count) } {
        NO_DEVICE => return Ok(0),
        code => named(code, "hipGetDeviceCount", subject)?,
    }
    Ok(usize::try_from(count).unwrap_or(0))
}

/// A number that a device has.
fn attribute_of(ordinal: usize, which: c_int) -> Result<u32> {
    let mut value = 0;
    // SAFETY: the place is this function's own.
    let code =
        unsafe { (library()?.hipDeviceGetAttribute)(&raw mut value, which, ordinal as c_int) };
    named(code, "hipDeviceGetAttribute", || format!("device {ordinal}"))?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// What can be launched on a device at most.
fn limits_of(ordinal: usize) -> Result<Limits> {
    let get = |which| attribute_of(ordinal, which);
    let all = |[x, y, z]: [c_int; 3]| Ok::<_, Error>([get(x)?, get(y)?, get(z)?]);
    Ok(Limits {
        grid: all(attribute::MAX_GRID_DIM)?,
        block: all(attribute::MAX_BLOCK_DIM)?,
        threads_per_block: get(attribute::MAX_THREADS_PER_BLOCK)?,
        shared_bytes: get(attribute::MAX_SHARED_MEMORY_PER_BLOCK)?,
        warp_size: WARP,
    })
}

/// The functions of stream-ordered allocation, where the library and the device have it.
fn stream_ordered(ordinal: usize) -> Result<Option<&'static StreamOrdered>> {
    let Some(functions) = &library()?.stream_ordered else { return Ok(None) };
    let is_supported = attribute_of(ordinal, attribute::MEMORY_POOLS_SUPPORTED)? != 0;
    Ok(is_supported.then_some(functions))
}

impl Context {
    fn new(ordinal: usize) -> Result<Self> {
        let DeviceProperties { name, architecture } = DeviceProperties::of(ordinal)?;
        let limits = limits_of(ordinal)?;
        let id = ContextId::new();
        let multiprocessors = match attribute_of(ordinal, attribute::COOPERATIVE_LAUNCH)? {
            0 => 0,
            _ => attribute_of(ordinal, attribute::MULTIPROCESSOR_COUNT)?,
        };
        let stream_ordered = stream_ordered(ordinal)?;
        let driver = DriverContext::new(name, ordinal as c_int, multiprocessors, stream_ordered);
        let panics = Arc::<Panics<_>>::default();
        let shared = Shared::new(Arc::new(driver), panics);
        let default_stream = Arc::new(Stream::new(id, Arc::clone(&shared.stream), &shared));
        Ok(Self { id, limits, architecture, default_stream, shared })
    }

    /// Checks that the device is not lost, which it stays until the process ends.
    fn check(&self) -> Result<()> {
        let code = self.shared.lasting_error().unwrap_or(0);
        let subject =
            || format!("device {}, which is lost until the process ends", self.shared.ordinal);
        named(code, "hipStreamQuery", subject)
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
        Backend::Hip
    }

    fn ordinal(&self) -> usize {
        self.shared.ordinal as usize
    }

    fn name(&self) -> &str {
        &self.shared.name
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn support(&self, capability: Capability) -> Support {
        match capability {
            Capability::Graphs if hip().graphs.is_none() => Support::Emulated,
            _ => support(capability),
        }
    }

    fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    fn default_stream(&self) -> Arc<dyn hal::Queue> {
        Arc::clone(&self.default_stream) as _
    }

    fn new_stream(&self) -> Result<Arc<dyn hal::Queue>> {
        let stream = self.shared.driver.new_stream()?;
        Ok(Arc::new(Stream::new(self.id, stream, &self.shared)))
    }

    fn load(&self, artifact: &'static EmbeddedArtifact) -> Result<Arc<dyn hal::Module>> {
        // SAFETY: the binary is the one that the build made.
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

    fn multiprocessor_threads(&self) -> Result<Option<u32>> {
        let threads = attribute_of(self.ordinal(), attribute::MAX_THREADS_PER_MULTIPROCESSOR)?;
        Ok(Some(threads).filter(|threads| *threads > 0))
    }

    unsafe fn instantiate(&self, nodes: &[hal::Node<'_>]) -> Result<Option<Box<dyn hal::Graph>>> {
        if hip().graphs.is_none() {
            return Ok(None);
        }
        let graph = Graph::new(&self.shared, nodes, |node| {
            let any: &dyn std::any::Any = node.function;
            let function = any.downcast_ref::<Function>();
            function.map_or(Ok(None), |it| it.launchable(&node.shape))
        })?;
        Ok(graph.map(|graph| Box::new(graph) as _))
    }

    fn synchronize(&self) -> Result<()> {
        self.shared.wait_for_all()
    }
}
