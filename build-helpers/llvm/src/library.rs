//! The LLVM library of this process: found in a toolchain, opened, and checked.

use std::{
    ffi::c_void,
    path::{Path, PathBuf},
    sync::Mutex,
};

use crate::{Error, Version, trampolines};

/// The LLVM library that this process uses. It stays open until the process ends: LLVM keeps
/// state of its own, and so do values made with it.
#[derive(Clone, Debug)]
pub struct Library {
    path: PathBuf,
    version: Version,
}

/// The library in use, once one has been opened.
static OPENED: Mutex<Option<Library>> = Mutex::new(None);

impl Library {
    /// Opens the shared library at `path` and makes every function of llvm-sys call it.
    /// Opening the same library again gives the same one.
    ///
    /// # Errors
    ///
    /// [`Error::Open`] where the loader refuses the file, [`Error::TooOld`] and
    /// [`Error::MissingFunctions`] and [`Error::Codes`] where it does not fit the bindings, and
    /// [`Error::AnotherIsOpen`] where this process already uses another.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_with(path, true)
    }

    /// As [`Library::open`], without the handlers of crashes, for a program whose signals are its own: where LLVM ends
    /// the process, nothing is said of what it worked on.
    ///
    /// # Errors
    ///
    /// As [`Library::open`].
    pub fn open_without_handlers(path: &Path) -> Result<Self, Error> {
        Self::open_with(path, false)
    }

    fn open_with(path: &Path, handles_crashes: bool) -> Result<Self, Error> {
        let mut opened = OPENED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(library) = &*opened {
            if library.path == path {
                return Ok(library.clone());
            }
            return Err(Error::AnotherIsOpen {
                open: library.path.clone(),
                wanted: path.to_owned(),
            });
        }
        let version = load(path)?;
        if handles_crashes {
            crate::crash::install();
        }
        initialize_targets();
        crate::ir::selfcheck::run().map_err(|what| Error::Codes {
            path: path.to_owned(),
            version,
            what,
        })?;
        let library = Self { path: path.to_owned(), version };
        *opened = Some(library.clone());
        Ok(library)
    }

    /// The version that the library reports.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Where it was opened from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Opens the library, checks it, and fills the table.
fn load(path: &Path) -> Result<Version, Error> {
    let library =
        open_local(path).map_err(|source| Error::Open { path: path.to_owned(), source })?;
    let find = |name: &str| -> Option<*mut c_void> {
        // SAFETY: the symbol is only looked up; its type is given by llvm-sys where it is called.
        let symbol = unsafe { library.get::<*mut c_void>(name.as_bytes()) };
        symbol.ok().map(|symbol| symbol.as_raw_ptr())
    };
    let version = match find("LLVMGetVersion") {
        Some(function) => version_from(function),
        None => Version { major: 0, minor: 0, patch: 0 },
    };
    if version < Version::OLDEST {
        return Err(Error::TooOld { path: path.to_owned(), version });
    }
    let later = LATER.iter().filter(|(_, since)| version.major >= *since).map(|(name, _)| name);
    let needed = REQUIRED.iter().chain(later).copied();
    let missing: Vec<_> = needed.filter(|name| find(name).is_none()).collect();
    if !missing.is_empty() {
        let version = version.to_string();
        return Err(Error::MissingFunctions { path: path.to_owned(), version, missing });
    }
    trampolines::fill(find);
    std::mem::forget(library);
    Ok(version)
}

#[cfg(unix)]
type System = libloading::os::unix::Library;
#[cfg(windows)]
type System = libloading::os::windows::Library;

/// Opens a library without offering its symbols to others.
fn open_local(path: &Path) -> Result<System, libloading::Error> {
    // SAFETY: the initialisers of an LLVM library register its command-line options and passes
    // and have no conditions on the caller.
    #[cfg(unix)]
    unsafe {
        use libloading::os::unix::{RTLD_LOCAL, RTLD_NOW};
        System::open(Some(path), RTLD_NOW | RTLD_LOCAL)
    }
    // SAFETY: as above.
    #[cfg(windows)]
    unsafe {
        System::new(path)
    }
}

/// Asks a library for its version.
fn version_from(function: *mut c_void) -> Version {
    type GetVersion = unsafe extern "C" fn(*mut u32, *mut u32, *mut u32);
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: this is the type of LLVMGetVersion in every LLVM that has it; it writes three
    // integers.
    unsafe {
        let get_version: GetVersion = std::mem::transmute(function);
        get_version(&raw mut major, &raw mut minor, &raw mut patch);
    }
    Version { major, minor, patch }
}

/// Registers the targets that kernelmill compiles for.
fn initialize_targets() {
    use inkwell::targets::{InitializationConfig, Target};
    let config = InitializationConfig::default();
    Target::initialize_nvptx(&config);
    Target::initialize_amd_gpu(&config);
    Target::initialize_aarch64(&config);
    Target::initialize_x86(&config);
}

/// The functions that the compiler calls, itself or through inkwell. `tests/functions.rs`
/// compares the list with what this crate's sources name.
const REQUIRED: &[&str] = include!("required.in");

/// Functions that are called with libraries of a major version or later only.
const LATER: &[(&str, u32)] = &[("LLVMGetSwitchCaseValue", 23)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_llvm_is_refused() {
        let missing = Path::new("libno-such-library.so.0");
        let error = load(missing).unwrap_err();
        assert!(matches!(error, Error::Open { .. }));
        let message = error.to_string();
        if cfg!(target_os = "linux") {
            assert!(message.contains("cannot open shared object file"), "{message}");
        }
        let other = Path::new("libc.so.6");
        if cfg!(target_os = "linux") {
            let message = load(other).unwrap_err().to_string();
            assert!(
                message.contains("libc.so.6") && message.contains("version 0.0.0"),
                "{message}"
            );
        }
    }
}
