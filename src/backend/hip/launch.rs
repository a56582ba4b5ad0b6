//! HIP launches: kernels of a loaded module, put on a stream.

use std::{ffi::c_int, ptr, sync::Arc};

use super::{
    driver::named,
    driver_context::{DriverContext, Shared},
    graph::Launchable,
    library::{Handle, hip},
};
use crate::{
    backend::gpu::{calls::ContextCalls as _, image},
    embedded::EmbeddedKernel,
    error::{Error, Result},
    hal::{self, AsyncError, Pointers, StreamRef},
    limits::{Checked, KernelLimits},
};

/// `HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK`.
const MAX_THREADS_PER_BLOCK: c_int = 0;
/// `HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES`.
const SHARED_SIZE_BYTES: c_int = 1;

/// The most threads of a launch along one axis: a dispatch packet has 32 bits for them
/// ([HIP, `hipModuleLaunchKernel`](https://rocm.docs.amd.com/projects/HIP/en/latest/)).
const MOST_THREADS: u64 = u32::MAX as u64;

/// A module that the library has loaded.
pub(super) type Image = image::Image<DriverContext>;

/// A kernel of a loaded module.
pub(super) struct Function {
    handle: Handle,
    image: Arc<Image>,
    shared: Arc<Shared>,
    kernel: &'static EmbeddedKernel,
    limits: KernelLimits,
}

// SAFETY: the library's handles can be used from every thread, with the device current.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    pub(super) fn new(
        handle: Handle,
        image: &Arc<Image>,
        shared: &Arc<Shared>,
        kernel: &'static EmbeddedKernel,
    ) -> Result<Self> {
        let attribute = |which| {
            let mut value = 0;
            // SAFETY: the function is of a loaded module; the place is this function's own.
            let code = unsafe { (hip().hipFuncGetAttribute)(&raw mut value, which, handle) };
            named(code, "hipFuncGetAttribute", || format!("`{}`", kernel.entry))?;
            Ok::<_, Error>(u32::try_from(value).unwrap_or(0))
        };
        let threads_per_block = attribute(MAX_THREADS_PER_BLOCK)?;
        let declared = attribute(SHARED_SIZE_BYTES)?;
        let static_shared_bytes = u64::from(declared).max(kernel.static_shared_bytes);
        let limits = KernelLimits { threads_per_block, static_shared_bytes };
        let (image, shared) = (Arc::clone(image), Arc::clone(shared));
        Ok(Self { handle, image, shared, kernel, limits })
    }

    /// What a node of a graph needs of it; `None` for a cooperative kernel, whose workspace is made ready for each launch.
    pub(super) fn launchable(&self, shape: &Checked) -> Result<Option<Launchable>> {
        if self.kernel.cooperative {
            return Ok(None);
        }
        self.check_threads(shape)?;
        let (handle, image) = (self.handle, Arc::clone(&self.image));
        Ok(Some(Launchable { handle, image, panics: self.kernel.panics }))
    }

    /// Refuses a launch of more threads along one or more axes than a dispatch can have.
    fn check_threads(&self, shape: &Checked) -> Result<()> {
        let quantities = ["threads in x", "threads in y", "threads in z"];
        let axes = shape.grid.into_iter().zip(shape.block);
        let mut errors = Vec::new();
        for ((blocks, threads), quantity) in axes.zip(quantities) {
            let requested = u64::from(blocks) * u64::from(threads);
            if requested > MOST_THREADS {
                errors.push(Error::Limit {
                    kernel: self.kernel.entry.to_owned(),
                    quantity,
                    requested,
                    limit: MOST_THREADS,
                    device: self.shared.name.clone(),
                });
            }
        }
        Error::all(errors)
    }
}

impl hal::Function for Function {
    fn limits(&self) -> KernelLimits {
        self.limits
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
        let Ok(threads) = c_int::try_from(threads) else { return Ok(Some(0)) };
        let (mut blocks, bytes) = (0, dynamic_shared_bytes as usize);
        // SAFETY: the function is of a loaded module; the place is this function's own.
        let code = unsafe {
            (hip().hipModuleOccupancyMaxActiveBlocksPerMultiprocessor)(
                &raw mut blocks,
                self.handle,
                threads,
                bytes,
            )
        };
        let name = "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor";
        named(code, name, || format!("`{}`", self.kernel.entry))?;
        Ok(Some(u32::try_from(blocks).unwrap_or(0)))
    }

    unsafe fn launch(
        &self,
        stream: StreamRef<'_>,
        shape: &Checked,
        arguments: &mut Pointers<'_>,
    ) -> Result<Option<Arc<AsyncError>>> {
        self.check_threads(shape)?;
        self.shared.bind()?;
        let stream = DriverContext::launch_stream(stream)?;
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
        let subject = || format!("the launch of `{}`", self.kernel.entry);
        if self.kernel.cooperative {
            // SAFETY: as below; the launch was found to fit.
            let launch = || unsafe {
                let code = (hip().hipModuleLaunchCooperativeKernel)(
                    self.handle,
                    gx,
                    gy,
                    gz,
                    bx,
                    by,
                    bz,
                    shape.dynamic_shared_bytes,
                    stream.handle(),
                    arguments.as_mut_ptr().cast(),
                );
                named(code, "hipModuleLaunchCooperativeKernel", subject)
            };
            self.shared.timed(stream, launch)?;
            return Ok(None);
        }
        // SAFETY: the function is of a loaded module of the stream's device; the caller promises
        // the arguments, which the library copies before it returns.
        let launch = || unsafe {
            let code = (hip().hipModuleLaunchKernel)(
                self.handle,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                shape.dynamic_shared_bytes,
                stream.handle(),
                arguments.as_mut_ptr().cast(),
                ptr::null_mut(),
            );
            named(code, "hipModuleLaunchKernel", subject)
        };
        self.shared.timed(stream, launch)?;
        Ok(None)
    }
}
