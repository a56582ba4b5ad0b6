//! An NVIDIA GPU as a device.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use cudarc::driver::{CudaContext, CudaStream, sys::CUdevice_attribute as Attribute};

use super::{
    driver::{named, present},
    memory::{Memory, Order},
    module::Module,
    panics,
    stream::Stream,
    tensor_map,
};
use crate::{
    Backend, EmbeddedArtifact, Error, Limits, Result,
    backend::{self, Generation},
    cache::module_cache,
    select::Architecture,
    tensor_map::Form,
};
use kernelmill_artifact::TensorMapData;

pub(crate) struct Context {
    name: String,
    limits: Limits,
    architecture: Architecture,
    generation: Generation,
    default_stream: Arc<Stream>,
    order: Arc<Order>,
}

/// The contexts that are open: of one device, or one `CudaContext`, there is one.
static OPEN: Mutex<Vec<Weak<Context>>> = Mutex::new(Vec::new());

/// Every NVIDIA device, opened when the iterator comes to it; those that cannot be are left out.
pub(crate) fn all() -> impl Iterator<Item = Arc<dyn backend::Context>> {
    let count = if present() { CudaContext::device_count().unwrap_or(0) } else { 0 };
    (0..usize::try_from(count).unwrap_or(0)).filter_map(|ordinal| open(ordinal).ok())
}

/// The device with this number, in its primary context.
pub(crate) fn open(ordinal: usize) -> Result<Arc<dyn backend::Context>> {
    let unavailable = |reason: String| Error::Unavailable { backend: Backend::Cuda, reason };
    if !present() {
        return Err(unavailable("no NVIDIA driver is installed".to_owned()));
    }
    let count = named(CudaContext::device_count(), "cuDeviceGetCount", || "CUDA".to_owned())?;
    if i32::try_from(ordinal).map_or(true, |ordinal| ordinal >= count) {
        return Err(unavailable(format!("there is no device {ordinal}, the driver has {count}")));
    }
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |cuda: &Arc<CudaContext>| cuda.is_primary() && cuda.ordinal() == ordinal;
    if let Some(context) = find(&mut open, same) {
        return Ok(context);
    }
    let subject = || format!("device {ordinal}");
    let cuda = named(CudaContext::new(ordinal), "cuDevicePrimaryCtxRetain", subject)?;
    Ok(add(&mut open, Context::new(cuda)?))
}

/// The device of a context that the program already has.
pub(crate) fn adopt(cuda: &Arc<CudaContext>) -> Result<Arc<dyn backend::Context>> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = find(&mut open, |other| Arc::ptr_eq(other, cuda)) {
        return Ok(context);
    }
    Ok(add(&mut open, Context::new(Arc::clone(cuda))?))
}

fn find(
    open: &mut Vec<Weak<Context>>,
    is: impl Fn(&Arc<CudaContext>) -> bool,
) -> Option<Arc<Context>> {
    open.retain(|context| context.strong_count() > 0);
    open.iter().filter_map(Weak::upgrade).find(|context| is(context.cuda()))
}

fn add(open: &mut Vec<Weak<Context>>, context: Context) -> Arc<Context> {
    let context = Arc::new(context);
    open.push(Arc::downgrade(&context));
    context
}

impl Context {
    fn new(cuda: Arc<CudaContext>) -> Result<Self> {
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
        let generation = Generation::new();
        let default_stream = Arc::new(Stream::new(generation, cuda.default_stream()));
        let order = Arc::new(Order::new(cuda));
        Ok(Self { name, limits, architecture, generation, default_stream, order })
    }

    fn cuda(&self) -> &Arc<CudaContext> {
        self.order.context()
    }

    fn stream(&self) -> &Arc<CudaStream> {
        self.default_stream.cudarc()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        module_cache().release_context(self.generation);
    }
}

impl backend::Context for Context {
    fn backend(&self) -> Backend {
        Backend::Cuda
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    fn generation(&self) -> Generation {
        self.generation
    }

    fn default_stream(&self) -> Arc<dyn backend::Stream> {
        Arc::clone(&self.default_stream) as _
    }

    fn new_stream(&self) -> Result<Arc<dyn backend::Stream>> {
        self.order.expect_streams()?;
        let subject = || self.name.clone();
        let stream = named(self.cuda().new_stream(), "cuStreamCreate", subject)?;
        Ok(Arc::new(Stream::new(self.generation, stream)))
    }

    fn zeros(&self, bytes: usize) -> Result<Box<dyn backend::Memory>> {
        Ok(Box::new(Memory::zeros(&self.order, self.stream(), &self.name, bytes)?))
    }

    unsafe fn upload(&self, source: *const u8, bytes: usize) -> Result<Box<dyn backend::Memory>> {
        // SAFETY: promised.
        let memory =
            unsafe { Memory::upload(&self.order, self.stream(), &self.name, source, bytes)? };
        Ok(Box::new(memory))
    }

    fn load(&self, artifact: &'static EmbeddedArtifact) -> Result<Arc<dyn backend::Module>> {
        Ok(Arc::new(Module::load(Arc::clone(self.cuda()), artifact)?))
    }

    fn tensor_map(&self, data: &TensorMapData, form: Form) -> Result<Option<[u64; 16]>> {
        match self.architecture {
            Architecture::Nvidia { major, .. } if major >= tensor_map::SINCE => {
                tensor_map::encode(self.cuda(), data, form)
            }
            _ => Ok(None),
        }
    }

    fn synchronize(&self) -> Result<()> {
        named(self.cuda().synchronize(), "cuCtxSynchronize", || self.name.clone())?;
        panics::report_all(self.stream(), true)
    }

    fn cuda_handle(&self) -> Option<usize> {
        Some(self.cuda().cu_ctx() as usize)
    }
}
