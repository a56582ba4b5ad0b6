//! The exported functions, under the names and with the types of `cl.h`.

#![allow(
    clippy::missing_safety_doc,
    non_snake_case,
    reason = "the names and the rules of use are those of the OpenCL specification"
)]

use std::{
    ffi::{CStr, c_char, c_void},
    ptr,
};

use crate::{
    spirv,
    state::{real, state},
};

/// A handle, or an address that is passed on.
type Any = *mut c_void;
/// Where a result is written to.
type Out<T> = *mut T;
/// Events to wait for.
type Events = *const Any;

/// What is given back by a call that succeeds.
macro_rules! gone {
    (event) => {
        state().gone("events")
    };
    (memory) => {
        state().gone("memory")
    };
    ($kind:literal) => {
        state().gone($kind)
    };
}

/// Functions that return a code. With `made` one writes an event; with `gone` it gives something back.
macro_rules! codes {
    ($($name:ident($($argument:ident: $ty:ty),*) $(made $event:ident)? $(gone $kind:tt)?;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $ty),*) -> i32 {
            if let Some(code) = state().failure(stringify!($name)) {
                return code;
            }
            // SAFETY: the type is that of the function.
            let function: unsafe extern "C" fn($($ty),*) -> i32 = unsafe { real(stringify!($name)) };
            // SAFETY: as the caller promises.
            let code = unsafe { function($($argument),*) };
            if code == 0 {
                $(if !$event.is_null() {
                    state().made("events");
                })?
                $(gone!($kind);)?
            }
            code
        }
    )*};
}

/// Functions that return an object of a kind, and write a code.
macro_rules! objects {
    ($($kind:literal: $name:ident($($argument:ident: $ty:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $ty,)* code: Out<i32>) -> Any {
            if let Some(failure) = state().failure(stringify!($name)) {
                // SAFETY: the caller gives a place for the code.
                unsafe { code.write(failure) };
                return ptr::null_mut();
            }
            type Function = unsafe extern "C" fn($($ty,)* Out<i32>) -> Any;
            // SAFETY: the type is that of the function.
            let function: Function = unsafe { real(stringify!($name)) };
            // SAFETY: as the caller promises.
            let object = unsafe { function($($argument,)* code) };
            if !object.is_null() {
                state().made($kind);
            }
            object
        }
    )*};
}

codes! {
    clReleaseContext(context: Any) gone "contexts";
    clReleaseCommandQueue(queue: Any) gone "queues";
    clFlush(queue: Any);
    clEnqueueSVMFree(
        queue: Any, count: u32, pointers: Out<Any>, callback: Any, data: Any, waits: u32, list: Events,
        event: Out<Any>
    ) made event gone memory;
    clEnqueueSVMMemcpy(
        queue: Any, blocks: u32, target: Any, source: Any, bytes: usize, waits: u32, list: Events,
        event: Out<Any>
    ) made event;
    clEnqueueSVMMemFill(
        queue: Any, target: Any, pattern: Any, pattern_bytes: usize, bytes: usize, waits: u32, list: Events,
        event: Out<Any>
    ) made event;
    clEnqueueMarkerWithWaitList(queue: Any, waits: u32, list: Events, event: Out<Any>) made event;
    clEnqueueBarrierWithWaitList(queue: Any, waits: u32, list: Events, event: Out<Any>) made event;
    clEnqueueNDRangeKernel(
        queue: Any, kernel: Any, dimensions: u32, offset: *const usize, global: *const usize,
        local: *const usize, waits: u32, list: Events, event: Out<Any>
    ) made event;
    clWaitForEvents(count: u32, list: Events);
    clGetEventInfo(event: Any, which: u32, room: usize, value: Any, bytes: Out<usize>);
    clGetEventProfilingInfo(event: Any, which: u32, room: usize, value: Any, bytes: Out<usize>);
    clRetainEvent(event: Any) made event;
    clReleaseEvent(event: Any) gone event;
    clGetProgramBuildInfo(
        program: Any, device: Any, which: u32, room: usize, value: Any, bytes: Out<usize>
    );
    clReleaseProgram(program: Any) gone "programs";
    clSetKernelArg(kernel: Any, index: u32, bytes: usize, value: Any);
    clSetKernelArgSVMPointer(kernel: Any, index: u32, value: Any);
    clSetKernelExecInfo(kernel: Any, which: u32, bytes: usize, value: Any);
    clGetKernelInfo(kernel: Any, which: u32, room: usize, value: Any, bytes: Out<usize>);
    clReleaseKernel(kernel: Any) gone "kernels";
}

objects! {
    "contexts": clCreateContext(
        properties: *const isize, count: u32, devices: Events, callback: Any, data: Any
    );
    "queues": clCreateCommandQueueWithProperties(context: Any, device: Any, properties: *const u64);
    "programs": clCreateProgramWithSource(
        context: Any, count: u32, texts: Events, lengths: *const usize
    );
    "kernels": clCreateKernel(program: Any, name: *const c_char);
}

/// What the queue has is done where the call fails too, so that a device that is lost here uses no memory any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn clFinish(queue: Any) -> i32 {
    // SAFETY: the type is that of the function.
    let function: unsafe extern "C" fn(Any) -> i32 = unsafe { real("clFinish") };
    // SAFETY: as the caller promises.
    let code = unsafe { function(queue) };
    state().failure("clFinish").unwrap_or(code)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clSVMAlloc(context: Any, flags: u64, bytes: usize, alignment: u32) -> Any {
    if state().failure("clSVMAlloc").is_some() {
        return ptr::null_mut();
    }
    // SAFETY: the type is that of the function.
    let function: unsafe extern "C" fn(Any, u64, usize, u32) -> Any = unsafe { real("clSVMAlloc") };
    // SAFETY: as the caller promises.
    let memory = unsafe { function(context, flags, bytes, alignment) };
    if !memory.is_null() {
        state().made("memory");
    }
    memory
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clSVMFree(context: Any, memory: Any) {
    // SAFETY: the type is that of the function.
    let function: unsafe extern "C" fn(Any, Any) = unsafe { real("clSVMFree") };
    // SAFETY: as the caller promises.
    unsafe { function(context, memory) };
    state().gone("memory");
}

/// `CL_DEVICE_IL_VERSION` and `CL_CONTEXT_DEVICES`.
const READS: u32 = 0x105B;

/// `CL_DEVICE_SVM_CAPABILITIES`.
const SHARED_MEMORY: u32 = 0x1053;
const DEVICES: u32 = 0x1081;
/// `CL_INVALID_VALUE`.
const INVALID_VALUE: i32 = -30;

type GetInfo = unsafe extern "C" fn(Any, u32, usize, Any, Out<usize>) -> i32;

#[unsafe(no_mangle)]
unsafe extern "C" fn clGetDeviceInfo(
    device: Any,
    which: u32,
    room: usize,
    value: Any,
    bytes: Out<usize>,
) -> i32 {
    if let Some(code) = state().failure("clGetDeviceInfo") {
        return code;
    }
    if which == READS && spirv::translator().is_some() {
        let version = spirv::VERSION;
        if !bytes.is_null() {
            // SAFETY: the caller gives a place for the size.
            unsafe { bytes.write(version.len()) };
        }
        if !value.is_null() && room >= version.len() {
            // SAFETY: there is room for it.
            unsafe { ptr::copy_nonoverlapping(version.as_ptr(), value.cast(), version.len()) };
        }
        return 0;
    }
    // SAFETY: the type is that of the function.
    let function: GetInfo = unsafe { real("clGetDeviceInfo") };
    // SAFETY: as the caller promises.
    let code = unsafe { function(device, which, room, value, bytes) };
    if which == SHARED_MEMORY && code == 0 && !value.is_null() {
        let value = value.cast::<u64>();
        // SAFETY: the value is a `cl_ulong`, for which there was room.
        unsafe { value.write_unaligned(value.read_unaligned() & shared_memory()) };
    }
    code
}

/// The kinds of shared virtual memory that devices may have.
fn shared_memory() -> u64 {
    match std::env::var("OPENCL_LAYER_WITHOUT_SVM").as_deref() {
        Err(_) | Ok("") => u64::MAX,
        // `CL_DEVICE_SVM_COARSE_GRAIN_BUFFER`.
        Ok("fine") => 1,
        Ok(_) => 0,
    }
}

/// `CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE`.
const PREFERRED_MULTIPLE: u32 = 0x11B3;

#[unsafe(no_mangle)]
unsafe extern "C" fn clGetKernelWorkGroupInfo(
    kernel: Any,
    device: Any,
    which: u32,
    room: usize,
    value: Any,
    bytes: Out<usize>,
) -> i32 {
    if let Some(code) = state().failure("clGetKernelWorkGroupInfo") {
        return code;
    }
    type Function = unsafe extern "C" fn(Any, Any, u32, usize, Any, Out<usize>) -> i32;
    // SAFETY: the type is that of the function.
    let function: Function = unsafe { real("clGetKernelWorkGroupInfo") };
    // SAFETY: as the caller promises.
    let code = unsafe { function(kernel, device, which, room, value, bytes) };
    let multiple = std::env::var("OPENCL_LAYER_MULTIPLE").ok().and_then(|text| text.parse().ok());
    if let Some(multiple) = multiple
        && which == PREFERRED_MULTIPLE
        && code == 0
        && !value.is_null()
    {
        // SAFETY: the value is a `size_t`, for which there was room.
        unsafe { value.cast::<usize>().write_unaligned(multiple) };
    }
    code
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clCreateProgramWithIL(
    context: Any,
    module: Any,
    bytes: usize,
    code: Out<i32>,
) -> Any {
    if let Some(failure) = state().failure("clCreateProgramWithIL") {
        // SAFETY: the caller gives a place for the code.
        unsafe { code.write(failure) };
        return ptr::null_mut();
    }
    let program = match spirv::translator() {
        // SAFETY: as the caller promises.
        Some(translator) => unsafe { translated(&translator, context, (module, bytes), code) },
        None => {
            type Function = unsafe extern "C" fn(Any, Any, usize, Out<i32>) -> Any;
            // SAFETY: the type is that of the function.
            let function: Function = unsafe { real("clCreateProgramWithIL") };
            // SAFETY: as the caller promises.
            unsafe { function(context, module, bytes, code) }
        }
    };
    if !program.is_null() {
        state().made("programs");
    }
    program
}

/// A program of the bitcode that a module is translated to.
///
/// # Safety
///
/// As `clCreateProgramWithIL`; the context has one device.
unsafe fn translated(
    translator: &str,
    context: Any,
    (module, bytes): (Any, usize),
    code: Out<i32>,
) -> Any {
    // SAFETY: the caller gives so many bytes.
    let module = unsafe { std::slice::from_raw_parts(module.cast::<u8>(), bytes) };
    let bitcode = match spirv::translate(translator, module) {
        Ok(bitcode) => bitcode,
        Err(reason) => {
            eprintln!("opencl-layer: {reason}");
            // SAFETY: the caller gives a place for the code.
            unsafe { code.write(INVALID_VALUE) };
            return ptr::null_mut();
        }
    };
    let mut device: Any = ptr::null_mut();
    // SAFETY: the type is that of the function.
    let devices: GetInfo = unsafe { real("clGetContextInfo") };
    let place = (&raw mut device).cast();
    // SAFETY: the context is there, and there is room for one device.
    let asked = unsafe { devices(context, DEVICES, size_of::<Any>(), place, ptr::null_mut()) };
    assert_eq!(asked, 0, "a context of one device");
    type Function = unsafe extern "C" fn(
        Any,
        u32,
        Events,
        *const usize,
        *const *const u8,
        Out<i32>,
        Out<i32>,
    ) -> Any;
    // SAFETY: the type is that of the function.
    let function: Function = unsafe { real("clCreateProgramWithBinary") };
    let (length, bitcode, mut loaded) = (bitcode.len(), bitcode.as_ptr(), 0);
    // SAFETY: one device with one binary, which the library copies.
    let program = unsafe {
        function(
            context,
            1,
            &raw const device,
            &raw const length,
            &raw const bitcode,
            &raw mut loaded,
            code,
        )
    };
    state().note_translated(program);
    program
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clBuildProgram(
    program: Any,
    count: u32,
    devices: Events,
    options: *const c_char,
    callback: Any,
    data: Any,
) -> i32 {
    if let Some(code) = state().failure("clBuildProgram") {
        return code;
    }
    let options = if state().is_translated(program) { spirv::OPTIONS.as_ptr() } else { options };
    type Function = unsafe extern "C" fn(Any, u32, Events, *const c_char, Any, Any) -> i32;
    // SAFETY: the type is that of the function.
    let function: Function = unsafe { real("clBuildProgram") };
    // SAFETY: as the caller promises.
    unsafe { function(program, count, devices, options, callback, data) }
}

/// For tests in the same process: makes a call of any function fail with a code, calls counted from now on; none with call 0.
#[unsafe(no_mangle)]
extern "C" fn opencl_layer_fail(call: u64, code: i32) {
    state().fail(call, code);
}

/// The function whose call has failed since then, a text that is there until the next time; null where none has.
#[unsafe(no_mangle)]
extern "C" fn opencl_layer_failed() -> *const c_char {
    state().failed().map_or(ptr::null(), CStr::as_ptr)
}

/// The function that was called after it, in the same way.
#[unsafe(no_mangle)]
extern "C" fn opencl_layer_next() -> *const c_char {
    state().next().map_or(ptr::null(), CStr::as_ptr)
}

/// How many objects there are that nobody has failed to give back.
#[unsafe(no_mangle)]
extern "C" fn opencl_layer_left() -> i64 {
    state().left()
}
