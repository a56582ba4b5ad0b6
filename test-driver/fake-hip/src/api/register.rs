//! Registration, which the real library does not have.

use std::ffi::{CStr, c_char};

use kernelmill::__codegen::CpuKernel;

use crate::{execute::CpuCode, state::state};

/// A kernel of a code object, and the same one for the CPU.
#[repr(C)]
struct Registration {
    image: *const u8,
    image_bytes: usize,
    /// The kernel's name in the code object.
    entry: *const c_char,
    /// Bytes of each device-level argument.
    sizes: *const u64,
    size_count: usize,
    kernel: *const CpuKernel,
}

/// Registers a kernel.
///
/// # Safety
///
/// What it points to is there, and the kernel stays as long as the process.
#[unsafe(no_mangle)]
unsafe extern "C" fn fake_hip_register(registration: *const Registration) {
    // SAFETY: promised.
    unsafe {
        let registration = &*registration;
        let image = std::slice::from_raw_parts(registration.image, registration.image_bytes);
        let entry = CStr::from_ptr(registration.entry).to_string_lossy().into_owned();
        let sizes = std::slice::from_raw_parts(registration.sizes, registration.size_count);
        let code = CpuCode { kernel: &*registration.kernel, sizes: sizes.to_vec() };
        state().registered.add(image, entry, code);
    }
}
