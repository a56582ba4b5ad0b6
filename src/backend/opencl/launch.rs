//! OpenCL launches: kernels of a built program, put on a stream.

use std::{
    borrow::Cow,
    ffi::c_void,
    ptr,
    sync::{Arc, Mutex, PoisonError},
};

use cl3::{
    command_queue::enqueue_nd_range_kernel,
    kernel::{
        CL_KERNEL_EXEC_INFO_SVM_PTRS, CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_NUM_ARGS,
        CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_PRIVATE_MEM_SIZE,
        CL_KERNEL_WORK_GROUP_SIZE, get_kernel_data, get_kernel_work_group_data, release_kernel,
        set_kernel_arg, set_kernel_arg_svm_pointer, set_kernel_exec_info,
    },
};
use kernelmill_artifact::{ArtifactKind, PanicRecord, ParameterKind, Resources, Signature};

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

/// Threads of a block whose words cross between the lanes of warps, as `spirv/operations.ll` of the compiler has them.
const MOST_THREADS: u32 = 1024;

/// Whether the kernels of a binary are compiled by this compiler's own passes, so that their warp-level primitives are.
fn passes_words(kind: ArtifactKind, source: &str) -> bool {
    kind == ArtifactKind::Spirv && !source.ends_with(".cl")
}

/// A kernel of a program.
pub(super) struct Function {
    object: Kernel,
    arguments: Arguments,
    kernel: &'static EmbeddedKernel,
    limits: KernelLimits,
    image: Arc<Image>,
    shared: Arc<Shared>,
}

/// What a kernel is given, in this order.
struct Arguments {
    /// One for each parameter of the signature, or two, and the address of a panic record.
    passing: Vec<Passing>,
    /// The parameter of each but that address.
    names: Vec<Cow<'static, str>>,
    /// Whether the last of those is that address.
    has_record: bool,
    /// The address of the memory of the program's variables, where that comes next.
    memory: Option<u64>,
    /// The index of the argument that is the launch's dynamic shared memory, before the number of its bytes: of kernels that
    /// this compiler's own passes compile.
    shared: Option<u32>,
}

impl Arguments {
    /// Those of a kernel that has `count` arguments, and is given the memory at that address; `None` where that does not fit
    /// its signature. Kernels of a module that `panics` may have a record.
    fn of(
        signature: &Signature,
        (own_passes, panics): (bool, bool),
        memory: Option<u64>,
        count: u64,
    ) -> Option<Self> {
        let parameters = signature.parameters().iter();
        let (mut passing, mut names) = (Vec::new(), Vec::new());
        for parameter in parameters {
            passing.extend(Passing::of(&parameter.kind, own_passes)?);
            names.resize(passing.len(), parameter.name.clone());
        }
        let count = count.checked_sub(u64::from(memory.is_some()))?;
        // Of the kernels of a module that can panic some have one argument more. Shared memory is two.
        let has_record = panics && (passing.len() as u64 + count) % 2 == 1;
        passing.extend(has_record.then_some(Passing::RECORD));
        let shared = own_passes && passing.len() as u64 + 2 == count;
        let first = passing.len() as u32 + u32::from(memory.is_some());
        let of_shared = if shared { 2 } else { 0 };
        let fits = passing.len() as u64 + of_shared == count;
        let shared = shared.then_some(first);
        fits.then_some(Self { passing, names, has_record, memory, shared })
    }

    /// The argument in an error of the library: by the name of its parameter, or as the address of the panic record.
    fn subject(&self, index: usize, entry: &str) -> String {
        match self.names.get(index) {
            Some(name) => format!("the argument `{name}` of `{entry}`"),
            None => format!("the address of the panic record of `{entry}`"),
        }
    }
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
    /// Of a parameter, which is several arguments in some languages; `None` for one that the device cannot have. Kernels that
    /// this compiler's own passes compile (`own_passes`) have parts of their dynamic shared memory by their numbers of elements.
    fn of(kind: &ParameterKind, own_passes: bool) -> Option<Vec<Self>> {
        match kind {
            ParameterKind::Value(value) => Some(vec![Self::Value(value.size() as usize)]),
            ParameterKind::Pointer { .. } => Some(vec![Self::Address]),
            ParameterKind::Shared { .. } if own_passes => Some(vec![Self::LENGTH]),
            ParameterKind::Shared { element } => Some(vec![Self::Local(element.size() as usize)]),
            ParameterKind::Slice { .. } => Some(vec![Self::Address, Self::LENGTH]),
            ParameterKind::TensorMap { .. } => None,
        }
    }

    /// The number of elements of a slice, or of a part of dynamic shared memory.
    const LENGTH: Self = Self::Value(size_of::<u64>());

    /// Of the address of a panic record, which kernels take for a number.
    const RECORD: Self = Self::Value(size_of::<u64>());
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
        let parameters = number(&named(count, "clGetKernelInfo", || kernel.entry.to_owned())?);
        // SAFETY: the image is loaded.
        let memory = unsafe { image.handle.program() }.memory_of(kernel.entry);
        let own_passes = passes_words(image.artifact.kind, image.artifact.source);
        let kind = (own_passes, kernel.panics);
        let arguments = Arguments::of(signature, kind, memory, parameters);
        let arguments = arguments.ok_or_else(|| Error::OpenClSignature {
            artifact: image.artifact.to_string(),
            signature: signature.to_string(),
            device: shared.name.clone(),
            parameters,
        })?;
        let ask = |which| ask(handle, shared, kernel.entry, which);
        let most = if own_passes { MOST_THREADS } else { u32::MAX };
        let limits = KernelLimits {
            threads_per_block: narrow(ask(CL_KERNEL_WORK_GROUP_SIZE)?).min(most),
            static_shared_bytes: ask(CL_KERNEL_LOCAL_MEM_SIZE)?,
        };
        let (image, shared) = (Arc::clone(image), Arc::clone(shared));
        Ok(Self { object, arguments, kernel, limits, image, shared })
    }

    /// What the library says of it on the device.
    fn ask(&self, which: u32) -> Result<u64> {
        self.shared.bind()?;
        let kernel = self.object.handle.lock().unwrap_or_else(PoisonError::into_inner);
        ask(*kernel, &self.shared, self.kernel.entry, which)
    }

    /// Gives the arguments to the library, which copies them.
    ///
    /// # Safety
    ///
    /// They are those of the kernel.
    unsafe fn set(
        &self,
        kernel: *mut c_void,
        arguments: &[*const u8],
        record: Option<u64>,
        shared_bytes: u32,
    ) -> Result<()> {
        for (index, (passing, argument)) in self.arguments.passing.iter().zip(arguments).enumerate()
        {
            // SAFETY: promised.
            let (set, function) = unsafe { set_one(kernel, index as u32, *passing, *argument) };
            named(set, function, || self.arguments.subject(index, self.kernel.entry))?;
        }
        if let Some(address) = self.arguments.memory {
            let index = self.arguments.passing.len() as u32;
            let pointer = ptr::with_exposed_provenance(address as usize);
            // SAFETY: the kernel has the argument, and the image holds the memory.
            let set = unsafe { set_kernel_arg_svm_pointer(kernel, index, pointer) };
            let subject = || format!("the variables of `{}`", self.kernel.entry);
            named(set, "clSetKernelArgSVMPointer", subject)?;
        }
        if let Some(first) = self.arguments.shared {
            // SAFETY: the kernel has both arguments.
            let set = unsafe { set_shared(kernel, first, shared_bytes) };
            let subject =
                || format!("{shared_bytes} bytes of local memory of `{}`", self.kernel.entry);
            named(set, "clSetKernelArg", subject)?;
        }
        let Some(record) = record else { return Ok(()) };
        // SAFETY: the record is there, and the caller's own.
        let told = unsafe { tell_of_record(kernel, record) };
        named(told, "clSetKernelExecInfo", || self.kernel.entry.to_owned())
    }
}

/// What the library says of a kernel of this name on the device.
fn ask(kernel: *mut c_void, shared: &Shared, entry: &str, which: u32) -> Result<u64> {
    let asked = get_kernel_work_group_data(kernel, shared.device.0, which);
    Ok(number(&named(asked, "clGetKernelWorkGroupInfo", || entry.to_owned())?))
}

/// Gives a kernel its dynamic shared memory, and the number of its bytes.
///
/// # Safety
///
/// It has both, from this argument on.
unsafe fn set_shared(kernel: *mut c_void, first: u32, shared_bytes: u32) -> Called<()> {
    // No bytes at all are no argument.
    let (bytes, size) = (shared_bytes.max(1) as usize, ptr::from_ref(&shared_bytes));
    // SAFETY: local memory of the kernel, and a number that is copied before the call returns.
    unsafe {
        set_kernel_arg(kernel, first, bytes, ptr::null())
            .and_then(|()| set_kernel_arg(kernel, first + 1, size_of::<u32>(), size.cast()))
    }
}

/// Tells the library of memory whose address is no argument by itself: a panic record, and what the record names.
///
/// # Safety
///
/// The record is there, in memory of the context, and launches that use it are this caller's.
unsafe fn tell_of_record(kernel: *mut c_void, record: u64) -> Called<()> {
    let record: *const PanicRecord = ptr::with_exposed_provenance(record as usize);
    // SAFETY: nobody writes the field once launches have the record.
    let printed = unsafe { (&raw const (*record).printed).read_volatile() };
    let pointers: [*const c_void; 2] =
        [record.cast(), ptr::with_exposed_provenance(printed as usize)];
    let told = if printed == 0 { &pointers[..1] } else { &pointers };
    let (place, bytes) = (told.as_ptr().cast(), size_of_val(told));
    // SAFETY: the library copies the list, of addresses of the context's memory, before it returns.
    unsafe { set_kernel_exec_info(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, bytes, place) }
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

    fn resources(&self) -> Result<Resources> {
        let private = self.ask(CL_KERNEL_PRIVATE_MEM_SIZE)?;
        Ok(Resources {
            stack_bytes: Some(narrow(private)),
            static_shared_bytes: Some(narrow(self.limits.static_shared_bytes)),
            max_threads: Some(self.limits.threads_per_block),
            ..Resources::UNKNOWN
        })
    }

    fn preferred_multiple(&self) -> Result<Option<u32>> {
        Ok(Some(narrow(self.ask(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE)?)))
    }

    unsafe fn launch(
        &self,
        stream: StreamRef<'_>,
        shape: &Checked,
        arguments: &mut Pointers<'_>,
    ) -> Result<Option<Arc<AsyncError>>> {
        self.shared.bind()?;
        let stream = DriverContext::launch_stream(stream)?;
        self.image.note_launch(stream);
        let block = shape.block.map(|size| size as usize);
        let all: [usize; 3] = std::array::from_fn(|axis| block[axis] * shape.grid[axis] as usize);
        // As on other targets: the last axis with more than one work-item.
        let dimensions = all.iter().rposition(|size| *size > 1).unwrap_or(0) as u32 + 1;
        let record = match self.arguments.has_record {
            true => Some(self.shared.panics.record(stream, &self.image)?),
            false => None,
        };
        let arguments = match &record {
            Some(record) => &*arguments.with_record(record),
            None => arguments.as_slice(),
        };
        let kernel = self.object.handle.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the caller promises the arguments, and no other thread uses the kernel.
        unsafe { self.set(*kernel, arguments, record, shape.dynamic_shared_bytes)? };
        let launch = || {
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
            unsafe { stream.given(launched, "clEnqueueNDRangeKernel", subject) }
        };
        self.shared.timed(stream, launch)?;
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernelmill_artifact::{Access, Nested, Parameter, Scalar, ValueType};

    #[test]
    fn warps_of_this_compilers_kernels_limit_blocks() {
        assert!(passes_words(ArtifactKind::Spirv, "kernels/warps.rs"));
        assert!(!passes_words(ArtifactKind::Spirv, "kernels/groups.cl"));
        assert!(!passes_words(ArtifactKind::OpenClC, "kernels/groups.cl"));
    }

    #[test]
    fn what_is_behind_the_parameters_is_told_by_its_number_and_the_module() {
        static PARAMETERS: [Parameter; 1] =
            [Parameter::borrowed("x", ParameterKind::Value(ValueType::Scalar(Scalar::I32)))];
        let signature = Signature::borrowed("kernel", &PARAMETERS);
        let of = |panics, memory, count| {
            let found = Arguments::of(&signature, (true, panics), memory, count)?;
            Some((found.passing.len(), found.has_record, found.memory, found.shared))
        };
        assert_eq!(of(false, None, 1), Some((1, false, None, None)));
        assert_eq!(of(true, None, 2), Some((2, true, None, None)));
        assert_eq!(of(false, Some(8), 2), Some((1, false, Some(8), None)));
        assert_eq!(of(true, Some(8), 3), Some((2, true, Some(8), None)));
        assert_eq!(of(true, Some(8), 5), Some((2, true, Some(8), Some(3))));
        assert_eq!(of(true, None, 3), Some((1, false, None, Some(1))));
        assert_eq!(of(false, Some(8), 1), None);
        assert_eq!(of(false, None, 2), None);
    }

    #[test]
    fn parameters_are_passed_as_the_library_takes_them() {
        let scalar = |scalar| ValueType::Scalar(scalar);
        let vector = ValueType::Array(Nested::from(scalar(Scalar::F32)), 4);
        let element = scalar(Scalar::F64);
        let cases = [
            (ParameterKind::Value(scalar(Scalar::I16)), Some(vec![Passing::Value(2)])),
            (ParameterKind::Value(vector), Some(vec![Passing::Value(16)])),
            (ParameterKind::Shared { element: element.clone() }, Some(vec![Passing::Local(8)])),
            (
                ParameterKind::Pointer { element: element.clone(), access: Access::Read },
                Some(vec![Passing::Address]),
            ),
            (
                ParameterKind::Slice { element, access: Access::Read },
                Some(vec![Passing::Address, Passing::Value(8)]),
            ),
        ];
        for (kind, expected) in cases {
            assert_eq!(Passing::of(&kind, false), expected, "{kind}");
        }
        let shared = ParameterKind::Shared { element: scalar(Scalar::F64) };
        assert_eq!(Passing::of(&shared, true), Some(vec![Passing::Value(8)]));
    }
}
