//! A tool's library for NVTX: it writes each call into the file that `NVTX_CALLS` names. Compiled by the test.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::io::Write;

/// As NVIDIA's `nvtxTypes.h` has them.
#[repr(C)]
struct Callbacks {
    struct_size: usize,
    get_module_function_table: extern "C" fn(c_int, *mut *mut *mut *const c_void, *mut c_uint) -> c_int,
}

#[repr(C)]
struct VersionInfo {
    struct_size: usize,
    version: u32,
    reserved0: u32,
    set_injection_version: extern "C" fn(u32),
}

/// As NVIDIA's `nvToolsExt.h` has them.
#[repr(C)]
struct EventAttributes {
    version: u16,
    size: u16,
    category: u32,
    color_type: i32,
    color: u32,
    payload_type: i32,
    reserved0: i32,
    payload: u64,
    message_type: i32,
    message: *const c_char,
}

fn note(line: &str) {
    let path = std::env::var_os("NVTX_CALLS").unwrap();
    let mut file = File::options().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

unsafe fn text(pointer: *const c_char) -> String {
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap().to_owned()
}

extern "C" fn domain_create(name: *const c_char) -> *mut c_void {
    note(&format!("domain {}", unsafe { text(name) }));
    7 as *mut c_void
}

extern "C" fn range_push(domain: *mut c_void, event: *const EventAttributes) -> c_int {
    let event = unsafe { &*event };
    assert_eq!((domain as usize, event.version, event.size, event.message_type), (7, 3, 48, 1));
    note(&format!("push {}", unsafe { text(event.message) }));
    0
}

extern "C" fn range_pop(domain: *mut c_void) -> c_int {
    assert_eq!(domain as usize, 7);
    note("pop");
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn InitializeInjectionNvtx2(get: extern "C" fn(u32) -> *const c_void) -> c_int {
    if std::env::var_os("NVTX_REFUSES").is_some() {
        return 0;
    }
    let version = unsafe { &*get(3).cast::<VersionInfo>() };
    assert_eq!((version.struct_size, version.version), (size_of::<VersionInfo>(), 3));
    (version.set_injection_version)(1);
    let callbacks = unsafe { &*get(1).cast::<Callbacks>() };
    assert_eq!(callbacks.struct_size, size_of::<Callbacks>());
    assert!(get(2).is_null() && get(99).is_null());
    // Every module has places for all of its functions, as in the header.
    for (module, functions) in [(1, 16), (2, 9), (3, 15), (4, 7), (5, 16), (6, 7)] {
        let (mut table, mut size) = (std::ptr::null_mut(), 0);
        assert_eq!((callbacks.get_module_function_table)(module, &mut table, &mut size), 1);
        assert_eq!(size, functions, "module {module}");
        let place = |index: usize| unsafe { *table.add(index) };
        assert!(place(0).is_null() && place(size as usize).is_null());
        assert!((1..size as usize).all(|index| !place(index).is_null()));
        if module == 5 {
            unsafe {
                *place(4) = range_push as *const c_void;
                *place(5) = range_pop as *const c_void;
                *place(12) = domain_create as *const c_void;
            }
        }
    }
    assert_eq!((callbacks.get_module_function_table)(7, &mut std::ptr::null_mut(), &mut 0), 0);
    1
}
