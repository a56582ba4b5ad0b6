//! Functions of modules.

use std::ffi::c_int;

use super::call::call;
use crate::base::abi::Out;
use crate::base::error::{Error, Status};
use crate::base::handle::Handle;
use crate::context;
use crate::module::{self, FUNCTIONS};

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuFuncGetAttribute(
    value: Out<c_int>,
    attribute: c_int,
    function: Handle,
) -> Status {
    call("cuFuncGetAttribute", || {
        context::usable()?;
        value.set(FUNCTIONS.get(function)?.attribute(attribute)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuFuncSetAttribute(
    function: Handle,
    attribute: c_int,
    value: c_int,
) -> Status {
    call("cuFuncSetAttribute", || {
        context::usable()?;
        FUNCTIONS.get(function)?.set_attribute(attribute, value)
    })
}

/// There is no cache to configure.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuFuncSetCacheConfig(function: Handle, config: c_int) -> Status {
    call("cuFuncSetCacheConfig", || {
        context::usable()?;
        FUNCTIONS.get(function)?;
        if (0..=3).contains(&config) { Ok(()) } else { Err(Error::InvalidValue) }
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuFuncSetSharedMemConfig(function: Handle, config: c_int) -> Status {
    call("cuFuncSetSharedMemConfig", || {
        context::usable()?;
        FUNCTIONS.get(function)?;
        if (0..=2).contains(&config) { Ok(()) } else { Err(Error::InvalidValue) }
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuFuncGetModule(module: Out<Handle>, function: Handle) -> Status {
    call("cuFuncGetModule", || module.set(FUNCTIONS.get(function)?.module()?.handle))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuFuncGetParamInfo(
    function: Handle,
    index: usize,
    offset: Out<usize>,
    bytes: Out<usize>,
) -> Status {
    call("cuFuncGetParamInfo", || {
        let function = FUNCTIONS.get(function)?;
        let module = function.module()?;
        let kernel = module::kernel(&module, &function)?;
        let parameter = kernel.parameters.get(index).ok_or(Error::InvalidValue)?;
        offset.set(parameter.offset as usize)?;
        bytes.set_if_wanted(parameter.size as usize);
        Ok(())
    })
}
