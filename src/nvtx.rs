//! NVTX ranges: what the program does, for NVIDIA's tools.
//!
//! [NVTX](https://github.com/NVIDIA/NVTX) is a header that finds the tool by itself, and has no library: a tool sets
//! `NVTX_INJECTION64_PATH` to one of its own, whose `InitializeInjectionNvtx2` asks the program for tables of places, and
//! puts its functions into them. This is that header in Rust, as far as ranges need it. Without the variable there is no
//! tool, and nothing is opened.

use std::{
    ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_void},
    mem,
    ptr::{self, NonNull},
    sync::{
        OnceLock,
        atomic::{AtomicPtr, Ordering},
    },
};

use libloading::Library;

/// Names the tool's library.
const VARIABLE: &str = if cfg!(target_pointer_width = "64") {
    "NVTX_INJECTION64_PATH"
} else {
    "NVTX_INJECTION32_PATH"
};

/// `NVTX_VERSION`.
const VERSION: u32 = 3;

/// `NvtxExportTableID`.
const CALLBACKS: u32 = 1;
const VERSION_INFO: u32 = 3;

/// The functions of each module, `NvtxCallbackModule`, with the one that there is not: `NVTX_CBID_..._SIZE`.
const SIZES: [usize; 7] = [0, 16, 9, 15, 7, 16, 7];
/// The most of them.
const MOST: usize = 16;

/// `NVTX_CB_MODULE_CORE2`, and its functions that are used here.
const CORE2: usize = 5;
const RANGE_PUSH: usize = 4;
const RANGE_POP: usize = 5;
const DOMAIN_CREATE: usize = 12;

/// A place for a function of the tool's.
type Place = AtomicPtr<c_void>;

/// The places that tools put their functions into.
static PLACES: [[Place; MOST]; SIZES.len()] =
    [const { [const { AtomicPtr::new(ptr::null_mut()) }; MOST] }; SIZES.len()];

/// Places as tools are given them: the first is none, and another that is none comes after the last.
#[repr(transparent)]
struct Table([*const Place; MOST + 1]);

// SAFETY: the places are shared, and there for ever.
unsafe impl Sync for Table {}

static TABLES: [Table; SIZES.len()] = {
    let mut tables = [const { Table([ptr::null(); MOST + 1]) }; SIZES.len()];
    let mut module = 0;
    while module < SIZES.len() {
        let mut function = 1;
        while function < SIZES[module] {
            tables[module].0[function] = &raw const PLACES[module][function];
            function += 1;
        }
        module += 1;
    }
    tables
};

type GetTable = extern "system" fn(c_int, *mut *const Table, *mut c_uint) -> c_int;

/// `NvtxExportTableCallbacks`.
#[repr(C)]
struct Callbacks {
    bytes: usize,
    get_table: GetTable,
}

/// `NvtxExportTableVersionInfo`.
#[repr(C)]
struct VersionInfo {
    bytes: usize,
    version: u32,
    reserved: u32,
    set_version: extern "system" fn(u32),
}

/// `nvtxEventAttributes_v2`.
#[repr(C)]
struct Attributes {
    version: u16,
    bytes: u16,
    category: u32,
    color_kind: i32,
    color: u32,
    payload_kind: i32,
    reserved: i32,
    payload: u64,
    message_kind: i32,
    message: *const c_char,
}

/// `NVTX_MESSAGE_TYPE_ASCII`, which tools read as UTF-8.
const TEXT: i32 = 1;

type Initialize = unsafe extern "system" fn(extern "system" fn(u32) -> *const c_void) -> c_int;
type DomainCreate = unsafe extern "system" fn(*const c_char) -> *mut c_void;
type RangePush = unsafe extern "system" fn(*mut c_void, *const Attributes) -> c_int;
type RangePop = unsafe extern "system" fn(*mut c_void) -> c_int;

/// A tool that takes ranges.
struct Tool {
    push: RangePush,
    pop: RangePop,
    /// The tool's handle of what is kernelmill's.
    domain: *mut c_void,
    /// It is never closed: the functions are its.
    _library: mem::ManuallyDrop<Library>,
}

// SAFETY: NVTX's functions can be called from every thread.
unsafe impl Send for Tool {}
// SAFETY: as above.
unsafe impl Sync for Tool {}

/// A range of the calling thread, which ends when this is dropped.
pub(crate) struct Range(&'static Tool, /* not `Send`: */ std::marker::PhantomData<*const ()>);

/// Whether a tool takes ranges.
#[inline]
pub(crate) fn is_wanted() -> bool {
    tool().is_some()
}

/// Begins a range; `None` where no tool takes it.
pub(crate) fn range(category: &str, name: &str) -> Option<Range> {
    let tool = tool()?;
    let message = CString::new(format!("{category} {name}")).ok()?;
    let attributes = Attributes {
        version: VERSION as u16,
        bytes: size_of::<Attributes>() as u16,
        category: 0,
        color_kind: 0,
        color: 0,
        payload_kind: 0,
        reserved: 0,
        payload: 0,
        message_kind: TEXT,
        message: message.as_ptr(),
    };
    // SAFETY: the function is the tool's for this; it copies what it needs of the attributes before it returns.
    unsafe { (tool.push)(tool.domain, &raw const attributes) };
    Some(Range(tool, std::marker::PhantomData))
}

impl Drop for Range {
    fn drop(&mut self) {
        // SAFETY: the function is the tool's for this, and the range was begun on this thread.
        unsafe { (self.0.pop)(self.0.domain) };
    }
}

/// The tool, which is asked for once.
fn tool() -> Option<&'static Tool> {
    static TOOL: OnceLock<Option<Tool>> = OnceLock::new();
    TOOL.get_or_init(|| {
        let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
        let opened = Tool::open(&path);
        let warn = |reason: &String| {
            eprintln!("kernelmill: {VARIABLE} is `{}`, which cannot be used: {reason}; no NVTX ranges are recorded", path.display());
        };
        opened.inspect_err(warn).ok()?
    })
    .as_ref()
}

impl Tool {
    /// Opens the library of a tool; `None` where it takes no ranges.
    fn open(path: &OsStr) -> Result<Option<Self>, String> {
        // SAFETY: the user says that this is the library of a tool, which can be opened.
        let library = unsafe { Library::new(path) }.map_err(|error| describe(&error))?;
        // SAFETY: as above: this is what the function with this name is.
        let initialize =
            unsafe { library.get::<Initialize>(c"InitializeInjectionNvtx2".to_bytes_with_nul()) };
        let initialize = *initialize.map_err(|error| describe(&error))?;
        // From here on functions of it may be in the tables.
        let library = mem::ManuallyDrop::new(library);
        // SAFETY: as above.
        if unsafe { initialize(export_table) } == 0 {
            return Err("its function `InitializeInjectionNvtx2` reports a failure".to_owned());
        }
        let (push, pop) = (function(RANGE_PUSH), function(RANGE_POP));
        let Some((push, pop)) = push.zip(pop) else { return Ok(None) };
        let domain = function(DOMAIN_CREATE).map_or(ptr::null_mut(), |create| {
            let name: &CStr = c"kernelmill";
            // SAFETY: the tool has put a function of this type into that place.
            unsafe { mem::transmute::<NonNull<c_void>, DomainCreate>(create)(name.as_ptr()) }
        });
        // SAFETY: as above.
        let (push, pop) = unsafe {
            (
                mem::transmute::<NonNull<c_void>, RangePush>(push),
                mem::transmute::<NonNull<c_void>, RangePop>(pop),
            )
        };
        Ok(Some(Self { push, pop, domain, _library: library }))
    }
}

/// An error with what the system says of it.
fn describe(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// A function that the tool has for `CORE2`.
fn function(which: usize) -> Option<NonNull<c_void>> {
    NonNull::new(PLACES[CORE2][which].load(Ordering::Acquire))
}

/// `NvtxGetExportTableFunc_t`.
extern "system" fn export_table(id: u32) -> *const c_void {
    static OF_CALLBACKS: Callbacks = Callbacks { bytes: size_of::<Callbacks>(), get_table };
    static OF_VERSION: VersionInfo = VersionInfo {
        bytes: size_of::<VersionInfo>(),
        version: VERSION,
        reserved: 0,
        set_version: ignore_version,
    };
    match id {
        CALLBACKS => (&raw const OF_CALLBACKS).cast(),
        VERSION_INFO => (&raw const OF_VERSION).cast(),
        _ => ptr::null(),
    }
}

/// What tools say of themselves is ignored, as NVIDIA's header does.
extern "system" fn ignore_version(_version: u32) {}

/// The places of a module; 0 where there is none with that number.
extern "system" fn get_table(
    module: c_int,
    table: *mut *const Table,
    functions: *mut c_uint,
) -> c_int {
    let module = usize::try_from(module).unwrap_or(0);
    let Some(&size) = SIZES.get(module).filter(|&&size| size > 0) else { return 0 };
    if !table.is_null() {
        // SAFETY: the tool gives a place for this.
        unsafe { table.write(&raw const TABLES[module]) };
    }
    if !functions.is_null() {
        // SAFETY: as above.
        unsafe { functions.write(size as c_uint) };
    }
    1
}
