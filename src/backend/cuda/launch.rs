//! CUDA launches: kernels of a loaded module, put on a stream.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU32, Ordering},
};

use cudarc::driver::{
    result::{function as raw, occupancy},
    sys::{self, CUfunction_attribute as Attribute},
};

use kernelmill_artifact::Resources;

use super::{
    driver::named,
    driver_context::{DriverContext, Shared},
    graph::Launchable,
    order,
};
use crate::{
    backend::gpu::{calls::ContextCalls as _, image},
    embedded::EmbeddedKernel,
    error::Result,
    hal::{self, AsyncError, Pointers, StreamRef},
    limits::{Checked, KernelLimits},
};

/// Bytes of shared memory that every kernel can have without asking for more.
const SHARED_WITHOUT_ASKING: u32 = 48 << 10;

/// A module that the driver has loaded.
pub(super) type Image = image::Image<DriverContext>;

/// A kernel of a loaded module.
pub(super) struct Function {
    handle: sys::CUfunction,
    image: Arc<Image>,
    shared: Arc<Shared>,
    kernel: &'static EmbeddedKernel,
    limits: KernelLimits,
    /// Bytes of dynamic shared memory that the function can be launched with so far.
    dynamic_allowed: AtomicU32,
    /// Held while more is asked for.
    asking: Mutex<()>,
}

// SAFETY: the driver's handles can be used from every thread, with the context bound.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// What the driver says of a function of a loaded module; the context is current.
fn attribute(handle: sys::CUfunction, kernel: &EmbeddedKernel, which: Attribute) -> Result<u32> {
    // SAFETY: the function is of a loaded module.
    let value = unsafe { raw::get_function_attribute(handle, which) };
    let value = named(value, "cuFuncGetAttribute", || format!("`{}`", kernel.entry))?;
    Ok(u32::try_from(value).unwrap_or(0))
}

impl Function {
    pub(super) fn new(
        handle: sys::CUfunction,
        image: &Arc<Image>,
        shared: &Arc<Shared>,
        kernel: &'static EmbeddedKernel,
    ) -> Result<Self> {
        let attribute = |which| attribute(handle, kernel, which);
        let threads_per_block = attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        let declared = attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let static_shared_bytes = u64::from(declared).max(kernel.static_shared_bytes);
        let limits = KernelLimits { threads_per_block, static_shared_bytes };
        let dynamic_allowed = AtomicU32::new(SHARED_WITHOUT_ASKING.saturating_sub(declared));
        Ok(Self {
            handle,
            image: Arc::clone(image),
            shared: Arc::clone(shared),
            kernel,
            limits,
            dynamic_allowed,
            asking: Mutex::new(()),
        })
    }

    /// What the driver says of it; the context is current.
    fn attribute(&self, which: Attribute) -> Result<u32> {
        attribute(self.handle, self.kernel, which)
    }

    /// What a node of a graph needs of it, with so much dynamic shared memory; `None` for a cooperative kernel, whose
    /// workspace is made ready for each launch.
    pub(super) fn launchable(&self, dynamic_shared_bytes: u32) -> Result<Option<Launchable>> {
        if self.kernel.cooperative {
            return Ok(None);
        }
        self.allow_dynamic(dynamic_shared_bytes)?;
        let (handle, image) = (self.handle, Arc::clone(&self.image));
        Ok(Some(Launchable { handle, image, panics: self.kernel.panics }))
    }

    /// Asks for as much dynamic shared memory as a launch needs, where it is not allowed yet.
    #[inline]
    fn allow_dynamic(&self, bytes: u32) -> Result<()> {
        let is_allowed = bytes <= self.dynamic_allowed.load(Ordering::Relaxed);
        if is_allowed { Ok(()) } else { self.ask_for_dynamic(bytes) }
    }

    #[cold]
    fn ask_for_dynamic(&self, bytes: u32) -> Result<()> {
        // The driver keeps the last value: never ask for less than somebody else did.
        let _alone = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes <= self.dynamic_allowed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let which = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is of a loaded module.
        let set = unsafe { raw::set_function_attribute(self.handle, which, bytes as i32) };
        named(set, "cuFuncSetAttribute", || {
            format!("{bytes} bytes of dynamic shared memory in `{}`", self.kernel.entry)
        })?;
        self.dynamic_allowed.store(bytes, Ordering::Relaxed);
        Ok(())
    }
}

impl hal::Function for Function {
    fn limits(&self) -> KernelLimits {
        self.limits
    }

    fn resources(&self) -> Result<Resources> {
        self.shared.bind()?;
        let attribute = |which| self.attribute(which).map(Some);
        Ok(Resources {
            registers: attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            stack_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            static_shared_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            constant_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
            max_threads: Some(self.limits.threads_per_block),
            ..Resources::UNKNOWN
        })
    }

    fn cooperative_blocks(
        &self,
        block: [u32; 3],
        dynamic_shared_bytes: u32,
    ) -> Result<Option<u64>> {
        let multiprocessors = self.shared.cooperative_multiprocessors;
        if multiprocessors == 0 {
            return Ok(None);
        }
        let threads = block.iter().fold(1_u32, |all, &n| all.saturating_mul(n));
        let each = hal::Function::resident_blocks(self, threads, dynamic_shared_bytes)?;
        Ok(Some(u64::from(each.unwrap_or(0)) * u64::from(multiprocessors)))
    }

    fn resident_blocks(&self, threads: u32, dynamic_shared_bytes: u32) -> Result<Option<u32>> {
        self.shared.bind()?;
        let Ok(threads) = i32::try_from(threads) else { return Ok(Some(0)) };
        // The driver reckons with what the function is allowed: without this it finds no block that fits.
        self.allow_dynamic(dynamic_shared_bytes)?;
        let bytes = dynamic_shared_bytes as usize;
        // SAFETY: the function is of a loaded module.
        let blocks =
            unsafe { occupancy::max_active_block_per_multiprocessor(self.handle, threads, bytes) };
        let name = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
        let blocks = named(blocks, name, || format!("`{}`", self.kernel.entry))?;
        Ok(Some(u32::try_from(blocks).unwrap_or(0)))
    }

    unsafe fn launch(
        &self,
        stream: StreamRef<'_>,
        shape: &Checked,
        arguments: &mut Pointers<'_>,
    ) -> Result<Option<Arc<AsyncError>>> {
        let subject = || format!("the launch of `{}`", self.kernel.entry);
        self.shared.bind_for_launch()?;
        let stream = match stream.is_default() {
            // That of most launches, which cannot be captured.
            true => &self.shared.stream,
            false => order::launch_stream(stream)?,
        };
        self.allow_dynamic(shape.dynamic_shared_bytes)?;
        self.image.note_launch(stream);
        // Kernels that were not compiled by this crate's compiler have no such parameter, and do not look.
        let (record, _alone) = match (self.kernel.cooperative, self.kernel.panics) {
            (true, _) => {
                let (workspace, alone) = self.shared.panics.workspace(stream, &self.image)?;
                (workspace, Some(alone))
            }
            (false, true) => (self.shared.panics.record(stream, &self.image)?, None),
            (false, false) => (0, None),
        };
        let arguments = arguments.with_record(&record);
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        if self.kernel.cooperative {
            // SAFETY: as below; the launch was found to fit.
            let launch = || unsafe {
                let launched = sys::cuLaunchCooperativeKernel(
                    self.handle,
                    gx,
                    gy,
                    gz,
                    bx,
                    by,
                    bz,
                    shape.dynamic_shared_bytes,
                    stream.cu_stream(),
                    arguments.as_mut_ptr().cast(),
                );
                named(launched.result(), "cuLaunchCooperativeKernel", subject)
            };
            self.shared.timed(stream, launch)?;
            return Ok(None);
        }
        // SAFETY: the function is of a loaded module in the stream's context; the caller promises
        // the arguments, which the driver copies before it returns.
        let launch = || unsafe {
            let launched = sys::cuLaunchKernel(
                self.handle,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                shape.dynamic_shared_bytes,
                stream.cu_stream(),
                arguments.as_mut_ptr().cast(),
                std::ptr::null_mut(),
            );
            named(launched.result(), "cuLaunchKernel", subject)
        };
        self.shared.timed(stream, launch)?;
        Ok(None)
    }
}
