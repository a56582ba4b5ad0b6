//! OpenCL launches: kernels of a built program, put on a stream.

use std::{
    ffi::c_void,
    ptr,
    sync::{Arc, Mutex, PoisonError},
};

use cl3::{
    command_queue::enqueue_nd_range_kernel,
    kernel::{
        CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_NUM_ARGS, CL_KERNEL_WORK_GROUP_SIZE, get_kernel_data,
        get_kernel_work_group_data, release_kernel, set_kernel_arg, set_kernel_arg_svm_pointer,
    },
};
use kernelmill_artifact::{ParameterKind, Signature};

use super::{
    driver::{Called, named},
    driver_context::{DriverContext, Shared},
    properties::{narrow, number},
};
use crate::{
    backend::gpu::{calls::ContextCalls as _, image},
    embedded::EmbeddedKernel,
    error::{Error, Result},
    hal::{self, AsyncError, Pointers, StreamRef},
    limits::{Checked, KernelLimits},
};

/// A program that the library has built.
pub(super) type Image = image::Image<DriverContext>;

/// A kernel of a program.
pub(super) struct Function {
    object: Kernel,
    /// One for each parameter.
    passing: Vec<Passing>,
    kernel: &'static EmbeddedKernel,
    limits: KernelLimits,
    image: Arc<Image>,
    shared: Arc<Shared>,
}

/// `cl_kernel`, which keeps its arguments from one launch to the next: they are set and used by one thread at a
/// time. Released with this.
struct Kernel {
    handle: Mutex<*mut c_void>,
    driver: Arc<DriverContext>,
}

// SAFETY: the object is used by one thread at a time.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

/// How an argument is given to the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passing {
    /// A value of so many bytes.
    Value(usize),
    /// An address of the device's memory.
    Address,
    /// Local memory, for so many elements as the argument says, of so many bytes each.
    Local(usize),
}

impl Passing {
    /// Of a parameter; `None` for one that OpenCL C does not have.
    fn of(kind: &ParameterKind) -> Option<Self> {
        match kind {
            ParameterKind::Value(value) => Some(Self::Value(value.size() as usize)),
            ParameterKind::Pointer { .. } => Some(Self::Address),
            ParameterKind::Shared { element } => Some(Self::Local(element.size() as usize)),
            ParameterKind::Slice { .. } | ParameterKind::TensorMap { .. } => None,
        }
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        let handle = *self.handle.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: created once, released once. The library keeps it for launches that wait.
        let release = || unsafe { release_kernel(handle) };
        self.driver.release(|| named(release(), "clReleaseKernel", || "a kernel".to_owned()));
    }
}

impl Function {
    /// # Safety
    ///
    /// The handle is of a kernel of the image, and its reference the caller's own.
    pub(super) unsafe fn new(
        handle: *mut c_void,
        image: &Arc<Image>,
        shared: &Arc<Shared>,
        (kernel, signature): (&'static EmbeddedKernel, &'static Signature),
    ) -> Result<Self> {
        let driver = Arc::clone(&shared.driver);
        let object = Kernel { handle: Mutex::new(handle), driver };
        let count = get_kernel_data(handle, CL_KERNEL_NUM_ARGS);
        let count = number(&named(count, "clGetKernelInfo", || kernel.entry.to_owned())?);
        let passing: Option<Vec<_>> =
            signature.parameters().iter().map(|it| Passing::of(&it.kind)).collect();
        let passing = passing.filter(|passing| passing.len() as u64 == count);
        let passing = passing.ok_or_else(|| Error::OpenClSignature {
            artifact: image.artifact.to_string(),
            signature: signature.to_string(),
            device: shared.name.clone(),
            parameters: count,
        })?;
        let ask = |which| {
            let asked = get_kernel_work_group_data(handle, shared.device.0, which);
            let asked = named(asked, "clGetKernelWorkGroupInfo", || kernel.entry.to_owned())?;
            Ok::<_, Error>(number(&asked))
        };
        let limits = KernelLimits {
            threads_per_block: narrow(ask(CL_KERNEL_WORK_GROUP_SIZE)?),
            static_shared_bytes: ask(CL_KERNEL_LOCAL_MEM_SIZE)?,
        };
        let (image, shared) = (Arc::clone(image), Arc::clone(shared));
        Ok(Self { object, passing, kernel, limits, image, shared })
    }

    /// Gives the arguments to the library, which copies them.
    ///
    /// # Safety
    ///
    /// They are those of the kernel.
    unsafe fn set(&self, kernel: *mut c_void, arguments: &[*const u8]) -> Result<()> {
        for (index, (passing, argument)) in self.passing.iter().zip(arguments).enumerate() {
            // SAFETY: promised.
            let (set, function) = unsafe { set_one(kernel, index as u32, *passing, *argument) };
            named(set, function, || format!("argument {index} of `{}`", self.kernel.entry))?;
        }
        Ok(())
    }
}

/// Gives one argument to the library; the function that it is given by.
///
/// # Safety
///
/// It is of the kernel, and what it points at is as `passing` says.
unsafe fn set_one(
    kernel: *mut c_void,
    index: u32,
    passing: Passing,
    argument: *const u8,
) -> (Called<()>, &'static str) {
    // SAFETY: promised, in each of the cases.
    unsafe {
        match passing {
            Passing::Value(bytes) => {
                (set_kernel_arg(kernel, index, bytes, argument.cast()), "clSetKernelArg")
            }
            Passing::Local(bytes) => {
                // No bytes at all are no argument.
                let bytes = argument.cast::<u64>().read() as usize * bytes;
                (set_kernel_arg(kernel, index, bytes.max(1), ptr::null()), "clSetKernelArg")
            }
            Passing::Address => match argument.cast::<u64>().read() {
                // The null pointer, as the library has it for every kind of memory.
                0 => {
                    let bytes = size_of::<*mut c_void>();
                    (set_kernel_arg(kernel, index, bytes, ptr::null()), "clSetKernelArg")
                }
                address => {
                    let pointer = ptr::with_exposed_provenance(address as usize);
                    let set = set_kernel_arg_svm_pointer(kernel, index, pointer);
                    (set, "clSetKernelArgSVMPointer")
                }
            },
        }
    }
}

impl hal::Function for Function {
    fn limits(&self) -> KernelLimits {
        self.limits
    }

    unsafe fn launch(
        &self,
        stream: StreamRef<'_>,
        shape: &Checked,
        arguments: &mut Pointers,
    ) -> Result<Option<Arc<AsyncError>>> {
        self.shared.bind()?;
        let stream = DriverContext::launch_stream(stream)?;
        self.image.note_launch(stream);
        let block = shape.block.map(|size| size as usize);
        let all: [usize; 3] = std::array::from_fn(|axis| block[axis] * shape.grid[axis] as usize);
        // As on other targets: the last axis with more than one work-item.
        let dimensions = all.iter().rposition(|size| *size > 1).unwrap_or(0) as u32 + 1;
        let kernel = self.object.handle.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the caller promises the arguments, and no other thread uses the kernel.
        unsafe { self.set(*kernel, arguments.as_slice())? };
        let none = ptr::null();
        // SAFETY: the queue and the kernel are there; the memory is held until the stream has come to the launch.
        let launched = unsafe {
            let (all, block) = (all.as_ptr(), block.as_ptr());
            enqueue_nd_range_kernel(
                stream.queue(),
                *kernel,
                dimensions,
                none,
                all,
                block,
                0,
                none.cast(),
            )
        };
        drop(kernel);
        let subject = || format!("the launch of `{}`", self.kernel.entry);
        // SAFETY: an event that was just made.
        unsafe { stream.given(launched, "clEnqueueNDRangeKernel", subject)? };
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernelmill_artifact::{Access, Nested, Scalar, ValueType};

    #[test]
    fn parameters_are_passed_as_the_library_takes_them() {
        let scalar = |scalar| ValueType::Scalar(scalar);
        let vector = ValueType::Array(Nested::from(scalar(Scalar::F32)), 4);
        let element = scalar(Scalar::F64);
        let cases = [
            (ParameterKind::Value(scalar(Scalar::I16)), Some(Passing::Value(2))),
            (ParameterKind::Value(vector), Some(Passing::Value(16))),
            (ParameterKind::Shared { element: element.clone() }, Some(Passing::Local(8))),
            (
                ParameterKind::Pointer { element: element.clone(), access: Access::Read },
                Some(Passing::Address),
            ),
            (ParameterKind::Slice { element, access: Access::Read }, None),
        ];
        for (kind, expected) in cases {
            assert_eq!(Passing::of(&kind), expected, "{kind}");
        }
    }
}
