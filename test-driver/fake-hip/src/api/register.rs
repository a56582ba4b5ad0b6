//! Registration, which the real library does not have.

use std::ffi::{CStr, c_char, c_void};

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
    /// The number in the code object of each place of panics, and of each message.
    locations: *const u32,
    location_count: usize,
    messages: *const u32,
    message_count: usize,
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
        let numbers = |first, count| std::slice::from_raw_parts(first, count).to_vec();
        let code = CpuCode {
            kernel: &*registration.kernel,
            sizes: sizes.to_vec(),
            locations: numbers(registration.locations, registration.location_count),
            messages: numbers(registration.messages, registration.message_count),
        };
        state().registered.add(image, entry, code);
    }
}

/// Registers a variable of a code object, which is the one of the CPU's code.
///
/// # Safety
///
/// What is pointed to is there, and the variable stays as long as the process.
#[unsafe(no_mangle)]
unsafe extern "C" fn fake_hip_register_variable(
    image: *const u8,
    image_bytes: usize,
    name: *const c_char,
    address: *mut c_void,
    bytes: usize,
) {
    // SAFETY: promised.
    let (image, name) = unsafe {
        (std::slice::from_raw_parts(image, image_bytes), CStr::from_ptr(name).to_string_lossy())
    };
    let memory = (address.expose_provenance(), bytes);
    state().registered.add_variable(image, name.into_owned(), memory);
}
