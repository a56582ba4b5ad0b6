//! The HIP library: its functions, found when the program runs.
//!
//! Signatures are those of `hip_runtime_api.h`, whose functions have had them since HIP 5; a function that a
//! library lacks is an error that names it; those of stream-ordered
//! allocation, of graphs and of what is the program's own came later, and may be missing. Guaranteed:
//! the library is opened once, and stays open.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    sync::OnceLock,
};

use libloading::Library;

use crate::backend::library::{find, library_functions};

/// What messages call it.
const LIBRARY: &str = "the HIP library";

/// `hipError_t`.
pub(super) type Code = c_int;

/// A handle: of a stream, an event, a module or a function.
pub(super) type Handle = *mut c_void;

/// Names of the library, the best first. Distributions' packages for users have the versioned names only.
#[cfg(not(windows))]
const NAMES: [&str; 4] =
    ["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "/opt/rocm/lib/libamdhip64.so"];
#[cfg(windows)]
const NAMES: [&str; 3] = ["amdhip64.dll", "amdhip64_7.dll", "amdhip64_6.dll"];

library_functions! {
    LIBRARY, pub(super) struct Functions also
        properties: Properties = Properties::find,
        stream_ordered: Option<StreamOrdered> = StreamOrdered::find,
        graphs: Option<GraphFunctions> = GraphFunctions::find,
        stream_device: Option<StreamDevice> = stream_device,
        pointer_attribute: Option<PointerAttribute> = pointer_attribute;
    hipInit(c_uint) -> Code;
    hipGetDeviceCount(*mut c_int) -> Code;
    hipGetDevice(*mut c_int) -> Code;
    hipSetDevice(c_int) -> Code;
    hipDeviceGetAttribute(*mut c_int, c_int, c_int) -> Code;
    hipDeviceSynchronize() -> Code;
    hipGetErrorName(Code) -> *const c_char;
    hipGetErrorString(Code) -> *const c_char;
    hipMalloc(*mut *mut c_void, usize) -> Code;
    hipFree(*mut c_void) -> Code;
    hipHostMalloc(*mut *mut c_void, usize, c_uint) -> Code;
    hipHostFree(*mut c_void) -> Code;
    hipHostGetDevicePointer(*mut *mut c_void, *mut c_void, c_uint) -> Code;
    hipMemcpyHtoDAsync(*mut c_void, *mut c_void, usize, Handle) -> Code;
    hipMemcpyDtoHAsync(*mut c_void, *mut c_void, usize, Handle) -> Code;
    hipMemcpyDtoDAsync(*mut c_void, *mut c_void, usize, Handle) -> Code;
    hipMemcpyPeerAsync(*mut c_void, c_int, *const c_void, c_int, usize, Handle) -> Code;
    hipMemcpy2DAsync(
        *mut c_void, usize, *const c_void, usize, usize, usize, c_int, Handle
    ) -> Code;
    hipMemsetD8Async(*mut c_void, u8, usize, Handle) -> Code;
    hipStreamCreateWithFlags(*mut Handle, c_uint) -> Code;
    hipStreamDestroy(Handle) -> Code;
    hipStreamSynchronize(Handle) -> Code;
    hipStreamQuery(Handle) -> Code;
    hipStreamWaitEvent(Handle, Handle, c_uint) -> Code;
    hipEventCreateWithFlags(*mut Handle, c_uint) -> Code;
    hipEventRecord(Handle, Handle) -> Code;
    hipEventQuery(Handle) -> Code;
    hipEventSynchronize(Handle) -> Code;
    hipEventElapsedTime(*mut f32, Handle, Handle) -> Code;
    hipEventDestroy(Handle) -> Code;
    hipModuleLoadData(*mut Handle, *const c_void) -> Code;
    hipModuleUnload(Handle) -> Code;
    hipModuleGetFunction(*mut Handle, Handle, *const c_char) -> Code;
    hipModuleGetGlobal(*mut *mut c_void, *mut usize, Handle, *const c_char) -> Code;
    hipFuncGetAttribute(*mut c_int, c_int, Handle) -> Code;
    hipModuleLaunchKernel(
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void,
        *mut *mut c_void
    ) -> Code;
    hipModuleLaunchCooperativeKernel(
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void
    ) -> Code;
    hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, Handle, c_int, usize) -> Code;
}

/// The function that gives the properties of a device, `hipDeviceProp_t`, whose layout HIP 6 has changed.
pub(super) enum Properties {
    /// `hipGetDevicePropertiesR0600`.
    R0600(unsafe extern "C" fn(*mut c_void, c_int) -> Code),
    /// `hipGetDeviceProperties` of HIP 5.
    R0000(unsafe extern "C" fn(*mut c_void, c_int) -> Code),
}

impl Properties {
    fn find(library: &Library) -> Result<Self, String> {
        // SAFETY: the type is that of both functions.
        unsafe {
            let new = find(library, LIBRARY, "hipGetDevicePropertiesR0600").map(Self::R0600);
            new.or_else(|_| find(library, LIBRARY, "hipGetDeviceProperties").map(Self::R0000))
        }
    }
}

/// The functions of stream-ordered allocation, `hipMallocAsync` and `hipFreeAsync`, which libraries have since HIP 5.2.
pub(super) struct StreamOrdered {
    pub(super) allocate: unsafe extern "C" fn(*mut *mut c_void, usize, Handle) -> Code,
    pub(super) free: unsafe extern "C" fn(*mut c_void, Handle) -> Code,
}

impl StreamOrdered {
    /// `None` where the library lacks one of them.
    #[allow(clippy::unnecessary_wraps, reason = "what finds a field may fail")]
    fn find(library: &Library) -> Result<Option<Self>, String> {
        // SAFETY: the types are those of the functions.
        let (allocate, free) = unsafe {
            (find(library, LIBRARY, "hipMallocAsync"), find(library, LIBRARY, "hipFreeAsync"))
        };
        Ok(allocate.ok().zip(free.ok()).map(|(allocate, free)| Self { allocate, free }))
    }
}

/// `hipStreamGetDevice`, which libraries have since HIP 5.6.
type StreamDevice = unsafe extern "C" fn(Handle, *mut c_int) -> Code;

/// `hipPointerGetAttribute`, which libraries have since HIP 5.0.
type PointerAttribute = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void) -> Code;

#[allow(clippy::unnecessary_wraps, reason = "what finds a field may fail")]
fn stream_device(library: &Library) -> Result<Option<StreamDevice>, String> {
    // SAFETY: the type is that of the function.
    Ok(unsafe { find(library, LIBRARY, "hipStreamGetDevice") }.ok())
}

#[allow(clippy::unnecessary_wraps, reason = "what finds a field may fail")]
fn pointer_attribute(library: &Library) -> Result<Option<PointerAttribute>, String> {
    // SAFETY: as above.
    Ok(unsafe { find(library, LIBRARY, "hipPointerGetAttribute") }.ok())
}

/// `hipKernelNodeParams`.
#[repr(C)]
pub(super) struct KernelNodeParameters {
    pub(super) block: [c_uint; 3],
    pub(super) extra: *mut *mut c_void,
    pub(super) function: Handle,
    pub(super) grid: [c_uint; 3],
    pub(super) arguments: *mut *mut c_void,
    pub(super) dynamic_shared_bytes: c_uint,
}

/// The functions for graphs. A library has all of them or is used as if it had none.
pub(super) struct GraphFunctions {
    pub(super) create: unsafe extern "C" fn(*mut Handle, c_uint) -> Code,
    pub(super) add_kernel_node: unsafe extern "C" fn(
        *mut Handle,
        Handle,
        *const Handle,
        usize,
        *const KernelNodeParameters,
    ) -> Code,
    pub(super) destroy: unsafe extern "C" fn(Handle) -> Code,
    pub(super) instantiate:
        unsafe extern "C" fn(*mut Handle, Handle, *mut Handle, *mut c_char, usize) -> Code,
    pub(super) launch: unsafe extern "C" fn(Handle, Handle) -> Code,
    pub(super) destroy_executable: unsafe extern "C" fn(Handle) -> Code,
}

impl GraphFunctions {
    /// `None` where the library lacks one of them.
    #[allow(clippy::unnecessary_wraps, reason = "what finds a field may fail")]
    fn find(library: &Library) -> Result<Option<Self>, String> {
        let functions = || {
            // SAFETY: the types are those of the functions.
            unsafe {
                Ok::<_, String>(Self {
                    create: find(library, LIBRARY, "hipGraphCreate")?,
                    add_kernel_node: find(library, LIBRARY, "hipGraphAddKernelNode")?,
                    destroy: find(library, LIBRARY, "hipGraphDestroy")?,
                    instantiate: find(library, LIBRARY, "hipGraphInstantiate")?,
                    launch: find(library, LIBRARY, "hipGraphLaunch")?,
                    destroy_executable: find(library, LIBRARY, "hipGraphExecDestroy")?,
                })
            }
        };
        Ok(functions().ok())
    }
}

/// The functions of the library; why they are not there where there is a library that cannot be used.
/// `None`: no library is installed.
pub(super) fn open() -> Option<Result<&'static Functions, &'static str>> {
    static LIBRARY: OnceLock<Option<Result<Functions, String>>> = OnceLock::new();
    let found = LIBRARY.get_or_init(|| {
        // SAFETY: opening the library runs its initialisers, which have no preconditions.
        let library = NAMES.into_iter().find_map(|name| unsafe { Library::new(name) }.ok())?;
        Some(Functions::find(library))
    });
    found.as_ref().map(|functions| functions.as_ref().map_err(String::as_str))
}

/// The functions of the library, for what is of a context.
///
/// # Panics
///
/// Where there is no library: then there is no context either.
pub(super) fn hip() -> &'static Functions {
    open().and_then(Result::ok).expect("a context has a library")
}
