//! Modules and functions.

use std::ffi::{CStr, c_char, c_int, c_void};

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
            _ => self.refuse(code::INVALID_HANDLE, "a handle that is no function"),
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
            return state.refuse(code::INVALID_HANDLE, "a handle that is no module");
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
            return state.refuse(code::INVALID_HANDLE, "a handle that is no module");
        };
        // SAFETY: the caller gives a text that ends with a zero.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        let kernel = module.metadata.kernels.iter().find(|kernel| kernel.name == name);
        let kernel = kernel.ok_or(code::NOT_FOUND)?.clone();
        let found = Function { module: key, device: module.device, digest: module.digest, kernel };
        let made = state.add(Object::Function(found));
        // SAFETY: the caller's place.
        unsafe { give(function, handle(made)) }
    })
}

/// The code that runs is the processor's, which has no variables of the device.
#[unsafe(no_mangle)]
unsafe extern "C" fn hipModuleGetGlobal(
    _address: *mut *mut c_void,
    _bytes: *mut usize,
    module: *mut c_void,
    _name: *const c_char,
) -> Code {
    call("hipModuleGetGlobal", |state| match state.objects.get(&module.addr()) {
        Some(Object::Module(_)) => Err(code::NOT_FOUND),
        _ => state.refuse(code::INVALID_HANDLE, "a handle that is no module"),
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
            _ => return state.refuse(code::INVALID_VALUE, "an attribute that is not known"),
        };
        // SAFETY: the caller's place.
        unsafe { give(value, found as c_int) }
    })
}
