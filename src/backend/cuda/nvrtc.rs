//! NVRTC: NVIDIA's compiler of CUDA C++ as a library, found when the program runs ([NVRTC's documentation][nvrtc]).
//!
//! It needs no GPU and no driver. Guaranteed: the library is opened once and stays open, and every program that is made
//! for a compilation is destroyed with it.
//!
//! [nvrtc]: https://docs.nvidia.com/cuda/nvrtc/

use std::{
    env,
    ffi::{CStr, CString, c_char, c_int, c_void},
    ptr,
    sync::OnceLock,
};

use cudarc::driver::sys;
use libloading::Library;

use super::driver;
use crate::backend::library::library_functions;

/// `nvrtcResult`.
type Code = c_int;

/// `nvrtcProgram`.
type Handle = *mut c_void;

/// The variable that names the library.
const VARIABLE: &str = "KERNELMILL_NVRTC";

/// Names of the library, the best first. NVIDIA's packages for users have the versioned names only.
#[cfg(not(windows))]
const NAMES: [&str; 5] = [
    "libnvrtc.so",
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "/usr/local/cuda/lib64/libnvrtc.so",
    "/opt/cuda/lib64/libnvrtc.so",
];
#[cfg(windows)]
const NAMES: [&str; 2] = ["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"];

library_functions! {
    "NVRTC", struct Functions;
    nvrtcVersion(*mut c_int, *mut c_int) -> Code;
    nvrtcGetErrorString(Code) -> *const c_char;
    nvrtcGetNumSupportedArchs(*mut c_int) -> Code;
    nvrtcGetSupportedArchs(*mut c_int) -> Code;
    nvrtcCreateProgram(
        *mut Handle, *const c_char, *const c_char, c_int, *const *const c_char,
        *const *const c_char
    ) -> Code;
    nvrtcDestroyProgram(*mut Handle) -> Code;
    nvrtcCompileProgram(Handle, c_int, *const *const c_char) -> Code;
    nvrtcGetProgramLogSize(Handle, *mut usize) -> Code;
    nvrtcGetProgramLog(Handle, *mut c_char) -> Code;
    nvrtcGetPTXSize(Handle, *mut usize) -> Code;
    nvrtcGetPTX(Handle, *mut c_char) -> Code;
    nvrtcGetCUBINSize(Handle, *mut usize) -> Code;
    nvrtcGetCUBIN(Handle, *mut c_char) -> Code;
    nvrtcAddNameExpression(Handle, *const c_char) -> Code;
    nvrtcGetLoweredName(Handle, *const c_char, *mut *const c_char) -> Code;
}

/// The open library.
pub(crate) struct Nvrtc {
    functions: Functions,
    /// Of CUDA 13.5: 13 and 5.
    pub(crate) version: (u32, u32),
    /// The architectures that it compiles for, `75` and so on, in ascending order.
    pub(crate) architectures: Vec<u32>,
}

/// What is compiled.
pub(crate) struct Request<'a> {
    /// The name of the source in messages.
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
    /// Names of headers, as `#include` has them, with their texts.
    pub(crate) headers: &'a [(String, String)],
    pub(crate) options: &'a [String],
    /// Expressions of C++ for kernels whose symbols are wanted, such as `scale<float>`.
    pub(crate) instances: &'a [String],
}

/// What was made.
pub(crate) struct Output {
    pub(crate) ptx: Vec<u8>,
    /// Machine code, where the architecture is a real one.
    pub(crate) cubin: Vec<u8>,
    /// The symbols of the instances.
    pub(crate) symbols: Vec<String>,
    /// Warnings.
    pub(crate) log: String,
}

/// The library; why it cannot be used.
pub(crate) fn open() -> Result<&'static Nvrtc, &'static str> {
    static LIBRARY: OnceLock<Result<Nvrtc, String>> = OnceLock::new();
    LIBRARY.get_or_init(find).as_ref().map_err(String::as_str)
}

fn find() -> Result<Nvrtc, String> {
    let named = env::var_os(VARIABLE).filter(|value| !value.is_empty());
    // SAFETY: opening the library runs its initialisers, which have no preconditions.
    let load = |name: &std::ffi::OsStr| unsafe { Library::new(name) };
    let library = match &named {
        Some(name) => load(name).map_err(|error| {
            format!("the environment variable {VARIABLE} names a library that cannot be opened: {error}")
        })?,
        None => NAMES.into_iter().find_map(|name| load(name.as_ref()).ok()).ok_or_else(|| {
            format!(
                "there is no {} among the system's libraries; install CUDA's toolkit or the Python package \
                 `nvidia-cuda-nvrtc`, or name the library in {VARIABLE}",
                NAMES[0]
            )
        })?,
    };
    let functions = Functions::find(library)?;
    let (mut major, mut minor, mut count) = (0, 0, 0);
    // SAFETY: each writes the numbers that it is given places for.
    unsafe {
        functions.check((functions.nvrtcVersion)(&raw mut major, &raw mut minor))?;
        functions.check((functions.nvrtcGetNumSupportedArchs)(&raw mut count))?;
    }
    let mut architectures: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: it writes as many numbers as it has said.
    functions.check(unsafe { (functions.nvrtcGetSupportedArchs)(architectures.as_mut_ptr()) })?;
    let mut architectures: Vec<u32> =
        architectures.into_iter().filter_map(|it| u32::try_from(it).ok()).collect();
    architectures.sort_unstable();
    let number = |number: c_int| u32::try_from(number).unwrap_or(0);
    Ok(Nvrtc { functions, version: (number(major), number(minor)), architectures })
}

impl Functions {
    /// An error of the library's own, which is none of the program that it compiles.
    fn check(&self, code: Code) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: it gives a text of its own for every code.
        let text = unsafe { CStr::from_ptr((self.nvrtcGetErrorString)(code)) };
        Err(format!("NVRTC failed: {} ({code})", text.to_string_lossy()))
    }
}

impl Nvrtc {
    /// Compiles; where that fails, what the compiler says.
    pub(crate) fn compile(&self, request: &Request<'_>) -> Result<Output, String> {
        let program = Program::new(&self.functions, request)?;
        let instances = strings(request.instances.iter())?;
        for instance in &instances {
            // SAFETY: the program is there, and the text ends with a zero.
            program.check(unsafe {
                (self.functions.nvrtcAddNameExpression)(program.handle, instance.as_ptr())
            })?;
        }
        let options = strings(request.options.iter())?;
        let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let count = length(&pointers)?;
        // SAFETY: as many texts as it is told, each of which ends with a zero.
        let compiled = unsafe {
            (self.functions.nvrtcCompileProgram)(program.handle, count, pointers.as_ptr())
        };
        let log = program.log()?;
        if let Err(error) = self.functions.check(compiled) {
            return Err(if log.is_empty() { error } else { log });
        }
        let functions = &self.functions;
        let symbols =
            instances.iter().map(|instance| program.symbol(instance)).collect::<Result<_, _>>()?;
        let mut ptx = program.bytes(functions.nvrtcGetPTXSize, functions.nvrtcGetPTX)?;
        // The text ends with a zero.
        ptx.truncate(ptx.iter().position(|byte| *byte == 0).unwrap_or(ptx.len()));
        let cubin = program.bytes(functions.nvrtcGetCUBINSize, functions.nvrtcGetCUBIN)?;
        Ok(Output { ptx, cubin, symbols, log })
    }
}

/// A program of NVRTC's, destroyed with this.
struct Program<'f> {
    functions: &'f Functions,
    handle: Handle,
    /// The library may read the texts as long as the program lives.
    _texts: Vec<CString>,
}

impl<'f> Program<'f> {
    fn new(functions: &'f Functions, request: &Request<'_>) -> Result<Self, String> {
        let mut texts = strings([request.text, request.name])?;
        texts.extend(strings(request.headers.iter().map(|(_, text)| text))?);
        texts.extend(strings(request.headers.iter().map(|(name, _)| name))?);
        let pointers: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
        let (headers, names) = pointers[2..].split_at(request.headers.len());
        let mut handle = ptr::null_mut();
        // SAFETY: texts that end with zeros, and as many headers as it is told.
        functions.check(unsafe {
            (functions.nvrtcCreateProgram)(
                &raw mut handle,
                pointers[0],
                pointers[1],
                length(headers)?,
                headers.as_ptr(),
                names.as_ptr(),
            )
        })?;
        Ok(Self { functions, handle, _texts: texts })
    }

    fn check(&self, code: Code) -> Result<(), String> {
        self.functions.check(code)
    }

    fn log(&self) -> Result<String, String> {
        let mut log =
            self.bytes(self.functions.nvrtcGetProgramLogSize, self.functions.nvrtcGetProgramLog)?;
        log.truncate(log.iter().position(|byte| *byte == 0).unwrap_or(log.len()));
        Ok(String::from_utf8_lossy(&log).trim_end().to_owned())
    }

    /// Bytes of the program, by the function that says how many there are and the one that writes them.
    fn bytes(
        &self,
        size: unsafe extern "C" fn(Handle, *mut usize) -> Code,
        write: unsafe extern "C" fn(Handle, *mut c_char) -> Code,
    ) -> Result<Vec<u8>, String> {
        let mut bytes = 0;
        // SAFETY: the program is there, and the function writes one number.
        self.check(unsafe { size(self.handle, &raw mut bytes) })?;
        let mut found = vec![0_u8; bytes];
        if bytes > 0 {
            // SAFETY: there is room for as many bytes as it has said.
            self.check(unsafe { write(self.handle, found.as_mut_ptr().cast()) })?;
        }
        Ok(found)
    }

    /// The symbol of an instance that was asked for before the program was compiled.
    fn symbol(&self, instance: &CStr) -> Result<String, String> {
        let mut name = ptr::null();
        // SAFETY: the program is compiled, and keeps the name as long as it lives.
        unsafe {
            self.check((self.functions.nvrtcGetLoweredName)(
                self.handle,
                instance.as_ptr(),
                &raw mut name,
            ))?;
            Ok(CStr::from_ptr(name).to_string_lossy().into_owned())
        }
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: it was made, and nothing of it is kept.
        let _ = unsafe { (self.functions.nvrtcDestroyProgram)(&raw mut self.handle) };
    }
}

/// Texts that end with a zero.
fn strings<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Vec<CString>, String> {
    let texts = texts.into_iter();
    let made = texts.map(|text| {
        let text = text.as_ref();
        let start: String = text.chars().take(40).collect();
        CString::new(text).map_err(|_| {
            format!("a source, header, option or instance contains a zero byte: {start:?}")
        })
    });
    made.collect()
}

fn length<T>(list: &[T]) -> Result<c_int, String> {
    c_int::try_from(list.len()).map_err(|_| {
        format!("{} options, headers or instances are more than NVRTC takes", list.len())
    })
}

/// The version of CUDA that the driver knows, of 13.5 `(13, 5)`; `None` where there is no driver.
pub(crate) fn driver_version() -> Option<(u32, u32)> {
    driver::present().then_some(())?;
    let mut version = 0;
    // SAFETY: the driver is there, and writes one number.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().ok()?;
    let version = u32::try_from(version).ok()?;
    Some((version / 1000, version % 1000 / 10))
}
