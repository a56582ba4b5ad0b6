//! Programs: what the library has built for the device, and the memory of its variables.
//!
//! A program of SPIR-V says which of its kernels are given the address of that memory, and where in it the variables of the
//! host are ([`ProgramMemory`]). The memory is there as long as the program is loaded. It is zero at first; then a kernel
//! of the program stores the initial values.

use std::{ffi::c_void, ptr};

use cl3::{
    command_queue::enqueue_nd_range_kernel,
    kernel::{create_kernel, release_kernel, set_kernel_arg_svm_pointer},
    memory::svm_free,
    program::release_program,
};
use kernelmill_artifact::ProgramMemory;

use super::{driver::named, driver_context::DriverContext};
use crate::{
    backend::gpu::calls::{ContextCalls as _, MemoryCalls as _},
    error::Result,
};

/// `cl_program`, released with this.
pub(super) struct Object(pub(super) *mut c_void);

/// A program that is built.
pub(super) struct Program {
    memory: Option<Memory>,
    prints: bool,
    object: Object,
}

/// The memory of a program's variables, freed with this: nothing of the program runs then.
struct Memory {
    address: u64,
    /// The library's context that it is of.
    context: *mut c_void,
    layout: ProgramMemory,
}

/// `cl_kernel`, released with this.
struct Start(*mut c_void);

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: the reference is this value's own. What is released here could not be loaded.
        let _ = unsafe { release_program(self.0) };
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        // SAFETY: as above. The library keeps it for a launch that waits.
        let _ = unsafe { release_kernel(self.0) };
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let memory = ptr::with_exposed_provenance_mut(self.address as usize);
        // SAFETY: allocated once, freed once, and the context is there as long as its programs.
        let _ = unsafe { svm_free(self.context, memory) };
    }
}

impl Program {
    /// A program of the driver's context, with memory as its module says.
    pub(super) fn new(
        driver: &DriverContext,
        object: Object,
        layout: Option<ProgramMemory>,
    ) -> Result<Self> {
        let prints = layout.as_ref().is_some_and(|it| it.prints);
        let layout = layout.filter(|it| it.bytes > 0 || !it.kernels.is_empty());
        let memory = layout.map(|layout| Memory::new(driver, &object, layout)).transpose()?;
        Ok(Self { memory, prints, object })
    }

    /// The library's object.
    pub(super) fn object(&self) -> *mut c_void {
        self.object.0
    }

    /// Whether kernels of it send lines for the host to print.
    pub(super) fn prints(&self) -> bool {
        self.prints
    }

    /// The address of the memory, for a kernel that is given it.
    pub(super) fn memory_of(&self, entry: &str) -> Option<u64> {
        let memory = self.memory.as_ref()?;
        let is_given = memory.layout.kernels.iter().any(|it| it == entry);
        is_given.then_some(memory.address)
    }

    /// The address and size of a variable.
    pub(super) fn variable(&self, symbol: &str) -> Option<(u64, usize)> {
        let memory = self.memory.as_ref()?;
        let found = memory.layout.variables.iter().find(|it| it.symbol == symbol)?;
        Some((memory.address + found.offset, found.bytes as usize))
    }

    /// Gives the library its object back.
    pub(super) fn release(self, subject: impl FnOnce() -> String) -> Result<()> {
        drop(self.memory);
        let object = std::mem::ManuallyDrop::new(self.object);
        // SAFETY: the reference is this value's own, which is not dropped.
        named(unsafe { release_program(object.0) }, "clReleaseProgram", subject)
    }
}

impl Memory {
    fn new(driver: &DriverContext, object: &Object, layout: ProgramMemory) -> Result<Self> {
        // No bytes at all are no memory.
        let bytes = layout.bytes.max(1) as usize;
        let address = driver.allocate(bytes)?;
        let memory = Self { address, context: driver.object(), layout };
        let stream = driver.default_stream();
        // SAFETY: the memory has that many bytes, and nobody else knows it.
        unsafe { DriverContext::zero(address, bytes, stream)? };
        let stored = memory.store_initial_values(driver, object);
        // Whatever was queued uses the memory, which stays where nobody knows that it is done.
        if let Err(error) = driver.wait_for(stream) {
            if driver.wait_for(stream).is_err() {
                std::mem::forget(memory);
            }
            return Err(error);
        }
        stored.map(|()| memory)
    }

    /// Launches the kernel of the program that does so.
    fn store_initial_values(&self, driver: &DriverContext, object: &Object) -> Result<()> {
        let subject = || "the initial values of variables".to_owned();
        let name = std::ffi::CString::new(ProgramMemory::START).unwrap_or_default();
        let start = Start(named(create_kernel(object.0, &name), "clCreateKernel", subject)?);
        let address = ptr::with_exposed_provenance(self.address as usize);
        // SAFETY: the kernel has this argument alone, which is memory of the context.
        let set = unsafe { set_kernel_arg_svm_pointer(start.0, 0, address) };
        named(set, "clSetKernelArgSVMPointer", subject)?;
        let (stream, one, none) = (driver.default_stream(), ptr::from_ref(&1_usize), ptr::null());
        // SAFETY: the queue and the kernel are there; the caller waits for the launch.
        let launched = unsafe {
            enqueue_nd_range_kernel(stream.queue(), start.0, 1, ptr::null(), one, one, 0, none)
        };
        // SAFETY: an event that was just made.
        unsafe { stream.given(launched, "clEnqueueNDRangeKernel", subject) }
    }
}
