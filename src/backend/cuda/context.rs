//! CUDA contexts: NVIDIA GPUs as devices.

use std::{
    iter,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use cudarc::driver::{
    CudaContext, CudaStream, result,
    sys::{self, CUdevice_attribute as Attribute},
};

use super::{
    driver::{check_version, name, named, present},
    driver_context::{DriverContext, Shared},
    event::RecordedEvent,
    graph::{Graph, has_graphs},
    launch::Function,
    order,
    stream::Stream,
    support::support,
    tensor_map,
};
use crate::{
    backend::gpu::{module::Module, panics, transfers::Queued},
    cache::module_cache,
    capability::{Capability, Support},
    embedded::EmbeddedArtifact,
    error::{Error, Result},
    hal::{self, ContextId, Platform, StreamRef, Taken, TensorFormat},
    properties::{Architecture, Backend, Limits},
};
use kernelmill_artifact::TensorMapData;

/// NVIDIA's GPUs, where there is a driver.
pub(crate) struct Cuda;

pub(crate) struct Context {
    id: ContextId,
    limits: Limits,
    architecture: Architecture,
    default_stream: Arc<Stream>,
    shared: Arc<Shared>,
}

/// The panics of one context of the driver.
type Panics = panics::Panics<DriverContext>;

/// The contexts that are open: of one device, or one `CudaContext`, there is one.
static OPEN: Mutex<Vec<Weak<Context>>> = Mutex::new(Vec::new());

impl Platform for Cuda {
    fn backend(&self) -> Backend {
        Backend::Cuda
    }

    fn devices(&self) -> Box<dyn Iterator<Item = Result<Arc<dyn hal::Context>>>> {
        if !present() {
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

/// The device with this number, in its primary context.
fn open(ordinal: usize) -> Result<Arc<dyn hal::Context>> {
    let no_device = |reason: String| Error::NoDevice { backend: Backend::Cuda, reason };
    if !present() {
        return Err(no_device("no NVIDIA driver is installed".to_owned()));
    }
    let count = count()?;
    if ordinal >= count {
        return Err(no_device(format!(
            "there is no device {ordinal}: the driver has {count}, numbered from 0"
        )));
    }
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |cuda: &Arc<CudaContext>| cuda.is_primary() && cuda.ordinal() == ordinal;
    if let Some(context) = find(&mut open, same) {
        return context.check().map(|()| context as _);
    }
    Ok(add(&mut open, primary(ordinal)?)?)
}

/// The number of devices; none where the driver says that there is none.
fn count() -> Result<usize> {
    check_version()?;
    let subject = || "CUDA".to_owned();
    match result::init() {
        Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NO_DEVICE => return Ok(0),
        initialised => named(initialised, "cuInit", subject)?,
    }
    let count = named(result::device::get_count(), "cuDeviceGetCount", subject)?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// The primary context of a device.
///
/// cudarc makes several calls, whose errors do not say which they are of, and keeps the context where
/// it cannot ask for an attribute. So each call is made here first.
fn primary(ordinal: usize) -> Result<Arc<CudaContext>> {
    let subject = || format!("device {ordinal}");
    let device = named(result::device::get(ordinal as i32), "cuDeviceGet", subject)?;
    let pools = Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    // SAFETY: the device is there.
    let asked = unsafe { result::device::get_attribute(device, pools) };
    named(asked, "cuDeviceGetAttribute", subject)?;
    // SAFETY: as above; released below.
    let retained = unsafe { result::primary_ctx::retain(device) };
    named(retained, "cuDevicePrimaryCtxRetain", subject)?;
    let context = named(CudaContext::new(ordinal), "CudaContext::new", subject);
    // SAFETY: retained above.
    let released = unsafe { result::primary_ctx::release(device) };
    let context = context?;
    named(released, "cuDevicePrimaryCtxRelease", subject)?;
    Ok(context)
}

/// The device of a context that the program already has.
pub(super) fn adopt(cuda: &Arc<CudaContext>) -> Result<Arc<dyn hal::Context>> {
    check_version()?;
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = find(&mut open, |other| Arc::ptr_eq(other, cuda)) {
        return Ok(context);
    }
    Ok(add(&mut open, Arc::clone(cuda))?)
}

fn find(
    open: &mut Vec<Weak<Context>>,
    is: impl Fn(&Arc<CudaContext>) -> bool,
) -> Option<Arc<Context>> {
    open.retain(|context| context.strong_count() > 0);
    open.iter().filter_map(Weak::upgrade).find(|context| is(context.cuda()))
}

fn add(open: &mut Vec<Weak<Context>>, cuda: Arc<CudaContext>) -> Result<Arc<Context>> {
    // Streams of one context of the driver go with kernels of all contexts that it is behind.
    let panics = find(open, |other| other.cu_ctx() == cuda.cu_ctx())
        .map_or_else(Arc::<Panics>::default, |same| Arc::clone(&same.shared.panics));
    let context = Arc::new(Context::new(cuda, panics)?);
    open.push(Arc::downgrade(&context));
    Ok(context)
}

impl Context {
    fn new(cuda: Arc<CudaContext>, panics: Arc<Panics>) -> Result<Self> {
        let device = format!("device {}", cuda.ordinal());
        let attribute = |which: Attribute| {
            let value = named(cuda.attribute(which), "cuDeviceGetAttribute", || device.clone())?;
            Ok::<_, Error>(u32::try_from(value).unwrap_or(0))
        };
        use Attribute as A;
        let limits = Limits {
            grid: [
                attribute(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                attribute(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                attribute(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            block: [
                attribute(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                attribute(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                attribute(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            threads_per_block: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            shared_bytes: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?
                .max(attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?),
            warp_size: attribute(A::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        };
        let architecture = Architecture::Nvidia {
            major: attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            minor: attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        };
        let name = named(cuda.name(), "cuDeviceGetName", || device.clone())?;
        let id = ContextId::new();
        let multiprocessors = match attribute(A::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? {
            0 => 0,
            _ => attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        };
        let driver = Arc::new(DriverContext::new(name, cuda, multiprocessors));
        let shared = Shared::new(driver, panics);
        let default_stream = Arc::new(Stream::new(id, Arc::clone(&shared.stream), &shared));
        Ok(Self { id, limits, architecture, default_stream, shared })
    }

    /// Checks that the context is not lost: until all of it is given back, the driver has no other one for the device.
    fn check(&self) -> Result<()> {
        let Some(error) = self.shared.lasting_error() else { return Ok(()) };
        let reason = format!(
            "device {} is lost, after {}: drop its buffers, kernels, streams and `Device`s, then open it again",
            hal::Context::ordinal(self),
            name(error)
        );
        Err(Error::Unavailable { backend: Backend::Cuda, reason })
    }

    /// Whether a stream is of the driver's context that this is.
    pub(super) fn is_of(&self, stream: &CudaStream) -> bool {
        stream.context().cu_ctx() == self.cuda().cu_ctx()
    }

    fn cuda(&self) -> &Arc<CudaContext> {
        &self.shared.cuda
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
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
        Backend::Cuda
    }

    fn ordinal(&self) -> usize {
        self.cuda().ordinal()
    }

    fn name(&self) -> &str {
        &self.shared.name
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn support(&self, capability: Capability) -> Support {
        match capability {
            Capability::Graphs if !has_graphs() => Support::Emulated,
            Capability::TensorMaps if !tensor_map::is_known() => Support::Emulated,
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
        let stream = self.shared.new_stream()?;
        Ok(Arc::new(Stream::new(self.id, stream, &self.shared)))
    }

    /// Streams of cudarc's are of this context where they are of the driver's context behind it.
    fn accepts(&self, stream: &StreamRef<'_>) -> bool {
        order::cuda_stream(*stream).is_ok_and(|stream| self.is_of(stream))
    }

    fn takes(&self, stream: &StreamRef<'_>) -> Taken {
        // That of most launches, about which nothing more is to be asked.
        if stream.is(&*self.default_stream) {
            return Taken::Default;
        }
        if !stream.is_recording() && self.accepts(stream) { Taken::Stream } else { Taken::Nothing }
    }

    /// Events of the driver's context behind this one.
    fn accepts_event(&self, event: &dyn hal::Event) -> bool {
        let of = |event: &RecordedEvent| event.driver().cuda.cu_ctx() == self.cuda().cu_ctx();
        RecordedEvent::of(event).is_some_and(of)
    }

    fn load(&self, artifact: &'static EmbeddedArtifact) -> Result<Arc<dyn hal::Module>> {
        // SAFETY: the binary is the one that the build made.
        let module = unsafe { Module::load(&self.shared, artifact, artifact.bytes)? };
        Ok(Arc::new(module))
    }

    unsafe fn load_image(
        &self,
        artifact: &'static EmbeddedArtifact,
        image: &[u8],
    ) -> Result<Option<Arc<dyn hal::Module>>> {
        // SAFETY: promised.
        let module = unsafe { Module::load(&self.shared, artifact, image)? };
        Ok(Some(Arc::new(module)))
    }

    fn tensor_map(&self, data: &TensorMapData, format: TensorFormat) -> Result<Option<[u64; 16]>> {
        match self.architecture {
            Architecture::Nvidia { major, .. }
                if major >= tensor_map::SINCE && tensor_map::is_known() =>
            {
                tensor_map::encode(&self.shared, data, format).map(Some)
            }
            _ => Ok(None),
        }
    }

    unsafe fn instantiate(&self, nodes: &[hal::Node<'_>]) -> Result<Option<Box<dyn hal::Graph>>> {
        if !has_graphs() {
            return Ok(None);
        }
        let graph = Graph::new(&self.shared, nodes, |node| {
            let any: &dyn std::any::Any = node.function;
            let function = any.downcast_ref::<Function>();
            function.map_or(Ok(None), |it| it.launchable(node.shape.dynamic_shared_bytes))
        })?;
        Ok(graph.map(|graph| Box::new(graph) as _))
    }

    fn synchronize(&self) -> Result<()> {
        self.shared.wait_for_all()
    }
}
