//! Modules and their functions.
//!
//! CUDA Driver API, "Module Management".

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
};

use ptx_emulator::{Kernel, Loaded, Module as Ptx};

use crate::base::abi::enumerators;
use crate::base::error::{Error, Result};
use crate::base::handle::{Handle, Registry, lock};
use crate::config::config;
use crate::device::Profile;
use crate::driver::device_of;
use crate::memory::{self, Owner};

enumerators! { i32: CUfunction_attribute
    MAX_THREADS = CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    SHARED_BYTES = CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
    CONST_BYTES = CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES;
    LOCAL_BYTES = CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES;
    REGISTERS = CU_FUNC_ATTRIBUTE_NUM_REGS;
    PTX_VERSION = CU_FUNC_ATTRIBUTE_PTX_VERSION;
    BINARY_VERSION = CU_FUNC_ATTRIBUTE_BINARY_VERSION;
    CACHE_MODE = CU_FUNC_ATTRIBUTE_CACHE_MODE_CA;
    DYNAMIC_BYTES = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    CARVEOUT = CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    CLUSTER_SIZE = CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET;
    CLUSTER_POLICY = CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
}

/// The modules that are loaded.
pub(crate) static MODULES: Registry<Module> = Registry::new(0x81);

/// The functions that were asked for, of modules that are loaded.
pub(crate) static FUNCTIONS: Registry<Function> = Registry::new(0x91);

/// A module, loaded into a context.
pub(crate) struct Module {
    pub(crate) handle: Handle,
    pub(crate) owner: Owner,
    pub(crate) ptx: Ptx,
    pub(crate) loaded: Loaded,
    /// Whether it was unloaded by a call that did not wait for its launches.
    pub(crate) unloaded: AtomicBool,
    functions: Mutex<HashMap<String, Arc<Function>>>,
    /// Addresses of the globals that were asked for.
    globals: Mutex<Vec<u64>>,
}

/// A kernel of a module.
pub(crate) struct Function {
    pub(crate) handle: Handle,
    pub(crate) name: String,
    pub(crate) module: Weak<Module>,
    /// Dynamic shared memory that a launch can have.
    pub(crate) dynamic_allowed: AtomicI32,
    carveout: AtomicI32,
}

/// Why an image was refused: the driver's error, and what the log says.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) error: Error,
    pub(crate) log: String,
}

impl Module {
    /// Loads PTX.
    pub(crate) fn load(owner: Owner, text: &str) -> Result<Arc<Self>, Refusal> {
        let refuse = |log: String| Refusal { error: Error::CUDA_ERROR_INVALID_PTX, log };
        let parse = |text: &str| Ptx::parse(text).map_err(|errors| refuse(errors.to_string()));
        let mut ptx = parse(text)?;
        let change = config().ok().and_then(|config| config.change.as_ref());
        let names = || ptx.kernels().map(|kernel| kernel.name.as_str());
        if let Some(change) = change.filter(|change| change.concerns(names())) {
            ptx = parse(&change.apply(text).map_err(refuse)?)?;
        }
        let device = device_of(owner.ordinal);
        let profile = &device.profile;
        let (target, suffix) = ptx.target();
        if !profile.runs(target, suffix) {
            let suffix = suffix.map(String::from).unwrap_or_default();
            return Err(refuse(format!(
                "ptxas fatal : the PTX is for sm_{target}{suffix}, which sm_{} cannot run",
                profile.name
            )));
        }
        let loaded = device.emulator.load(&ptx);
        let loaded =
            loaded.map_err(|log| Refusal { error: Error::CUDA_ERROR_OUT_OF_MEMORY, log })?;
        Ok(MODULES.add(|handle| Self {
            handle,
            owner,
            ptx,
            loaded,
            unloaded: AtomicBool::new(false),
            functions: Mutex::default(),
            globals: Mutex::default(),
        }))
    }

    /// The function with this name, always the same.
    pub(crate) fn function(self: &Arc<Self>, name: &str) -> Result<Arc<Function>> {
        let kernel = self.ptx.kernel(name).ok_or(Error::CUDA_ERROR_NOT_FOUND)?;
        let mut functions = lock(&self.functions);
        if let Some(function) = functions.get(name) {
            return Ok(Arc::clone(function));
        }
        let usual = Profile::SHARED_WITHOUT_ASKING as i32 - kernel.static_shared_bytes as i32;
        let function = FUNCTIONS.add(|handle| Function {
            handle,
            name: name.to_owned(),
            module: Arc::downgrade(self),
            dynamic_allowed: AtomicI32::new(usual.max(0)),
            carveout: AtomicI32::new(-1),
        });
        functions.insert(name.to_owned(), Arc::clone(&function));
        Ok(function)
    }

    /// Address and length of a global.
    pub(crate) fn global(&self, name: &str) -> Result<(u64, usize)> {
        let (address, bytes) = self.loaded.global(name).ok_or(Error::CUDA_ERROR_NOT_FOUND)?;
        let mut globals = lock(&self.globals);
        if !globals.contains(&address) {
            memory::add(address, bytes as u64, memory::Kind::Global, self.owner);
            globals.push(address);
        }
        Ok((address, bytes))
    }

    /// Names of all kernels.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.ptx.kernels().map(|kernel| kernel.name.as_str())
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        for (_, function) in lock(&self.functions).drain() {
            // Each function is in the registry as long as its module lives.
            let _ = FUNCTIONS.remove(function.handle);
        }
        for address in lock(&self.globals).drain(..) {
            memory::forget_global(address, self.owner.ordinal);
        }
    }
}

impl Function {
    /// The function's module; [`Error::CUDA_ERROR_INVALID_HANDLE`] once that is unloaded.
    pub(crate) fn module(&self) -> Result<Arc<Module>> {
        self.module.upgrade().ok_or(Error::CUDA_ERROR_INVALID_HANDLE)
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, attribute: i32) -> Result<i32> {
        let module = self.module()?;
        let profile = &device_of(module.owner.ordinal).profile;
        let kernel = kernel(&module, self)?;
        let number = |bytes: u64| i32::try_from(bytes).unwrap_or(i32::MAX);
        Ok(match attribute {
            MAX_THREADS => number(u64::from(threads(kernel))),
            SHARED_BYTES => number(kernel.static_shared_bytes as u64),
            CONST_BYTES | CACHE_MODE => 0,
            LOCAL_BYTES => number(kernel.local_bytes as u64),
            REGISTERS => number(u64::from(kernel.registers)),
            PTX_VERSION => number(u64::from(module.ptx.target().0)),
            BINARY_VERSION => number(u64::from(profile.capability())),
            DYNAMIC_BYTES => self.dynamic_allowed.load(Ordering::Relaxed),
            CARVEOUT => self.carveout.load(Ordering::Relaxed),
            CLUSTER_SIZE..=CLUSTER_POLICY => 0,
            _ => return Err(Error::CUDA_ERROR_INVALID_VALUE),
        })
    }

    /// Sets one of the attributes that can be set.
    pub(crate) fn set_attribute(&self, attribute: i32, value: i32) -> Result<()> {
        let module = self.module()?;
        let profile = &device_of(module.owner.ordinal).profile;
        let statics = kernel(&module, self)?.static_shared_bytes as i64;
        let room = i64::from(profile.shared_per_block) - statics;
        match attribute {
            DYNAMIC_BYTES if value >= 0 && i64::from(value) <= room => {
                self.dynamic_allowed.store(value, Ordering::Relaxed);
            }
            CARVEOUT if (-1..=100).contains(&value) => {
                self.carveout.store(value, Ordering::Relaxed)
            }
            _ => return Err(Error::CUDA_ERROR_INVALID_VALUE),
        }
        Ok(())
    }
}

/// The kernel behind a function.
pub(crate) fn kernel<'m>(module: &'m Module, function: &Function) -> Result<&'m Kernel> {
    module.ptx.kernel(&function.name).ok_or(Error::CUDA_ERROR_INVALID_HANDLE)
}

/// Threads that a block of a kernel can have.
pub(crate) fn threads(kernel: &Kernel) -> u32 {
    let most = Profile::THREADS_PER_BLOCK;
    kernel.max_threads.map_or(most, |threads| threads.min(most))
}

/// Why an image that is no text cannot be loaded, by how it begins.
pub(crate) fn refuse_binary(start: &[u8]) -> Option<Refusal> {
    /// How files of machine code, and bundles of them, begin.
    const ELF: &[u8] = b"\x7fELF";
    const BUNDLE: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
    if start.starts_with(ELF) || start.starts_with(&BUNDLE) {
        let log =
            "the image is machine code (a cubin), which an emulator of PTX cannot run: load PTX"
                .to_owned();
        return Some(Refusal { error: Error::CUDA_ERROR_NO_BINARY_FOR_GPU, log });
    }
    let text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    if start.first().is_some_and(text) {
        return None;
    }
    let log = "the image is neither PTX nor machine code".to_owned();
    Some(Refusal { error: Error::CUDA_ERROR_INVALID_IMAGE, log })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_told_apart() {
        assert!(refuse_binary(b"//\n.version").is_none());
        assert!(refuse_binary(b"\n.version 7.0").is_none());
        let error = |start: &[u8]| refuse_binary(start).unwrap().error;
        assert_eq!(error(b"\x7fELF\x02"), Error::CUDA_ERROR_NO_BINARY_FOR_GPU);
        assert_eq!(error(&[0x50, 0xed, 0x55, 0xba, 1]), Error::CUDA_ERROR_NO_BINARY_FOR_GPU);
        assert_eq!(error(&[0, 1, 2, 3]), Error::CUDA_ERROR_INVALID_IMAGE);
        assert_eq!(error(&[]), Error::CUDA_ERROR_INVALID_IMAGE);
    }
}
