//! Modules and functions.

use std::ffi::{CStr, c_char, c_int, c_void};

use kernelmill::artifact::PRINTS;

use super::{give, handle};
use crate::{
    call::{call, current},
    code::{self, Code},
    module::{Function, Module},
    state::{Object, State},
};

impl State {
    pub(super) fn function(&mut self, handle: usize) -> Result<Function, Code> {
        match self.objects.get(&handle) {
            Some(Object::Function(function)) => Ok(function.clone()),
            _ => self.refuse(code::INVALID_HANDLE, "a handle that is not a function"),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipModuleLoadData(module: *mut *mut c_void, image: *const c_void) -> Code {
    call("hipModuleLoadData", |state| {
        state.sticky(current())?;
        // SAFETY: the caller promises a whole code object.
        let loaded = unsafe { Module::load(image.cast(), current(), &state.config.architecture) };
        match loaded {
            Ok(loaded) => {
                let made = state.add(Object::Module(loaded));
                // SAFETY: the caller's place.
                unsafe { give(module, handle(made)) }
            }
            Err((code, what)) => {
                eprintln!("fake-hip: hipModuleLoadData: {what}");
                Err(code)
            }
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipModuleUnload(module: *mut c_void) -> Code {
    call("hipModuleUnload", |state| {
        let module = module.addr();
        if !matches!(state.objects.get(&module), Some(Object::Module(_))) {
            return state.refuse(code::INVALID_HANDLE, "a handle that is not a module");
        }
        if state.queues.uses(module) {
            state.misuse("a module is unloaded with launches of it queued");
        }
        let is_of_it =
            |object: &Object| matches!(object, Object::Function(it) if it.module == module);
        state.objects.retain(|key, object| *key != module && !is_of_it(object));
        state.released += 1;
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipModuleGetFunction(
    function: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> Code {
    call("hipModuleGetFunction", |state| {
        let key = module.addr();
        let Some(Object::Module(module)) = state.objects.get(&key) else {
            return state.refuse(code::INVALID_HANDLE, "a handle that is not a module");
        };
        // SAFETY: the caller gives a text that ends with a zero.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        let kernel = module.metadata.kernels.iter().find(|kernel| kernel.name == name);
        let kernel = kernel.ok_or(code::NOT_FOUND)?.clone();
        let Module { device, digest, .. } = *module;
        let prints = module.metadata.prints;
        let found = Function { module: key, device, digest, kernel, prints };
        let made = state.add(Object::Function(found));
        // SAFETY: the caller's place.
        unsafe { give(function, handle(made)) }
    })
}

/// The code that runs is the processor's: its variables are those that a test has registered, of all modules of one code
/// object the same. Besides, what says that kernels print is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn hipModuleGetGlobal(
    address: *mut *mut c_void,
    bytes: *mut usize,
    module: *mut c_void,
    name: *const c_char,
) -> Code {
    static MARK: u32 = 1;
    call("hipModuleGetGlobal", |state| {
        let Some(Object::Module(module)) = state.objects.get(&module.addr()) else {
            return state.refuse(code::INVALID_HANDLE, "a handle that is not a module");
        };
        // SAFETY: the caller gives a text that ends with a zero.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        let device = module.device;
        let (found, size) = match state.registered.variable(module.digest, &name) {
            Some((found, size)) => {
                state.memory.place_variable(found, size, device);
                (std::ptr::with_exposed_provenance_mut(found), size)
            }
            None if module.metadata.prints && name == PRINTS => {
                ((&raw const MARK).cast_mut().cast(), size_of_val(&MARK))
            }
            None => return Err(code::NOT_FOUND),
        };
        // SAFETY: the caller's places.
        unsafe {
            give(bytes, size)?;
            give(address, found)
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipFuncGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    function: *mut c_void,
) -> Code {
    call("hipFuncGetAttribute", |state| {
        let kernel = state.function(function.addr())?.kernel;
        let found = match attribute {
            0 => kernel.most_threads,
            1 => kernel.shared_bytes,
            _ => return state.refuse(code::INVALID_VALUE, "an unknown attribute"),
        };
        // SAFETY: the caller's place.
        unsafe { give(value, found as c_int) }
    })
}
