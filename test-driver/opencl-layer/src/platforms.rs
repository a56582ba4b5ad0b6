//! Platforms: as many as there are devices where `OPENCL_LAYER_PLATFORMS` is set, each with one of the real library's, as on a
//! machine with several implementations. Two copies of pocl cannot be in one process, since LLVM refuses its options twice.

use std::{env, ffi::c_void, ptr, sync::LazyLock};

use crate::state::{real, state};

/// A handle, or an address that is passed on.
type Any = *mut c_void;
/// Where a result is written to.
type Out<T> = *mut T;

type GetIds = unsafe extern "C" fn(u32, Out<Any>, Out<u32>) -> i32;
type GetInfo = unsafe extern "C" fn(Any, u32, usize, Any, Out<usize>) -> i32;
type GetDevices = unsafe extern "C" fn(Any, u64, u32, Out<Any>, Out<u32>) -> i32;

/// `CL_PLATFORM_NAME`, and the kind of all devices.
const NAME: u32 = 0x902;
const ALL: u64 = 0xffff_ffff;

/// A platform of the layer's, whose handle is the address of this.
struct Platform {
    /// The real one.
    real: usize,
    /// Its device.
    device: usize,
    /// Its number, from 1.
    number: usize,
}

/// The platforms of the layer's; `None` where those of the real library are shown.
fn own() -> Option<&'static [Platform]> {
    static OWN: LazyLock<Option<Vec<Platform>>> =
        LazyLock::new(|| env::var_os("OPENCL_LAYER_PLATFORMS").is_some().then(list));
    OWN.as_deref()
}

/// The platform of the layer's with this handle.
fn of_handle(handle: Any) -> Option<&'static Platform> {
    own()?.iter().find(|platform| ptr::from_ref(*platform).addr() == handle.addr())
}

/// Asks for a list: first for its length, and then for what is in it.
fn listed(ask: impl Fn(u32, Out<Any>, Out<u32>) -> i32) -> Vec<Any> {
    let mut count = 0;
    if ask(0, ptr::null_mut(), &raw mut count) != 0 {
        return Vec::new();
    }
    let mut found = vec![ptr::null_mut(); count as usize];
    let asked = ask(count, found.as_mut_ptr(), ptr::null_mut());
    assert_eq!(asked, 0, "it was there just now");
    found
}

fn list() -> Vec<Platform> {
    // SAFETY: these are the types of the functions.
    let (platforms, devices): (GetIds, GetDevices) =
        unsafe { (real("clGetPlatformIDs"), real("clGetDeviceIDs")) };
    let mut own = Vec::new();
    // SAFETY: there is room for what is asked for.
    let real = listed(|room, found, count| unsafe { platforms(room, found, count) });
    for platform in real {
        let ask = |room, found, count| {
            // SAFETY: as above, of a platform that is there.
            unsafe { devices(platform, ALL, room, found, count) }
        };
        for device in listed(ask) {
            let (real, device) = (platform.expose_provenance(), device.expose_provenance());
            own.push(Platform { real, device, number: own.len() + 1 });
        }
    }
    own
}

/// Writes a list as far as there is room, and its length.
///
/// # Safety
///
/// There is room for so many handles, and for the length where it is asked for.
unsafe fn give(handles: &[Any], room: u32, found: Out<Any>, count: Out<u32>) -> i32 {
    // SAFETY: promised.
    unsafe {
        if !count.is_null() {
            count.write(handles.len() as u32);
        }
        if !found.is_null() {
            ptr::copy_nonoverlapping(handles.as_ptr(), found, handles.len().min(room as usize));
        }
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clGetPlatformIDs(room: u32, platforms: Out<Any>, count: Out<u32>) -> i32 {
    if let Some(code) = state().failure("clGetPlatformIDs") {
        return code;
    }
    match own() {
        Some(own) => {
            let handle = |it: &Platform| ptr::from_ref(it).cast_mut().cast();
            let handles: Vec<Any> = own.iter().map(handle).collect();
            // SAFETY: as the caller promises.
            unsafe { give(&handles, room, platforms, count) }
        }
        None => {
            // SAFETY: the type is that of the function.
            let function: GetIds = unsafe { real("clGetPlatformIDs") };
            // SAFETY: as the caller promises.
            unsafe { function(room, platforms, count) }
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clGetPlatformInfo(
    platform: Any,
    which: u32,
    room: usize,
    value: Any,
    bytes: Out<usize>,
) -> i32 {
    if let Some(code) = state().failure("clGetPlatformInfo") {
        return code;
    }
    // SAFETY: the type is that of the function.
    let function: GetInfo = unsafe { real("clGetPlatformInfo") };
    match of_handle(platform) {
        Some(own) if which == NAME => {
            let name = format!("Platform {}\0", own.number);
            // SAFETY: there is room for what the caller says.
            unsafe {
                if !bytes.is_null() {
                    bytes.write(name.len());
                }
                if !value.is_null() {
                    ptr::copy_nonoverlapping(name.as_ptr(), value.cast(), name.len().min(room));
                }
            }
            0
        }
        Some(own) => {
            let platform = ptr::with_exposed_provenance_mut(own.real);
            // SAFETY: as the caller promises, of the platform that it stands for.
            unsafe { function(platform, which, room, value, bytes) }
        }
        // SAFETY: as the caller promises.
        None => unsafe { function(platform, which, room, value, bytes) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clGetDeviceIDs(
    platform: Any,
    kind: u64,
    room: u32,
    devices: Out<Any>,
    count: Out<u32>,
) -> i32 {
    if let Some(code) = state().failure("clGetDeviceIDs") {
        return code;
    }
    match of_handle(platform) {
        Some(own) => {
            assert_eq!(kind & ALL, ALL, "the layer's platforms are asked for all devices");
            let device = ptr::with_exposed_provenance_mut(own.device);
            // SAFETY: as the caller promises.
            unsafe { give(&[device], room, devices, count) }
        }
        None => {
            // SAFETY: the type is that of the function.
            let function: GetDevices = unsafe { real("clGetDeviceIDs") };
            // SAFETY: as the caller promises.
            unsafe { function(platform, kind, room, devices, count) }
        }
    }
}
