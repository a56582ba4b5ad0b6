//! Functions of modules.
//!
//! CUDA Driver API, "Execution Control".

use std::ffi::c_int;

use super::call::call;
use crate::base::abi::{Out, enumerators};
use crate::base::error::Error;
use crate::base::handle::Handle;
use crate::context;
use crate::module::{self, FUNCTIONS};
use cudarc::driver::sys::CUresult;

enumerators! { c_int: CUfunc_cache
    PREFER_NONE = CU_FUNC_CACHE_PREFER_NONE;
    PREFER_EQUAL = CU_FUNC_CACHE_PREFER_EQUAL;
}

enumerators! { c_int: CUsharedconfig
    DEFAULT_BANK = CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE;
    EIGHT_BYTE_BANK = CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuFuncGetAttribute(
    value: Out<c_int>,
    attribute: c_int,
    function: Handle,
) -> CUresult {
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
) -> CUresult {
    call("cuFuncSetAttribute", || {
        context::usable()?;
        FUNCTIONS.get(function)?.set_attribute(attribute, value)
    })
}

/// There is no cache to configure.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuFuncSetCacheConfig(function: Handle, config: c_int) -> CUresult {
    call("cuFuncSetCacheConfig", || {
        context::usable()?;
        FUNCTIONS.get(function)?;
        if (PREFER_NONE..=PREFER_EQUAL).contains(&config) {
            Ok(())
        } else {
            Err(Error::CUDA_ERROR_INVALID_VALUE)
        }
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuFuncSetSharedMemConfig(function: Handle, config: c_int) -> CUresult {
    call("cuFuncSetSharedMemConfig", || {
        context::usable()?;
        FUNCTIONS.get(function)?;
        if (DEFAULT_BANK..=EIGHT_BYTE_BANK).contains(&config) {
            Ok(())
        } else {
            Err(Error::CUDA_ERROR_INVALID_VALUE)
        }
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuFuncGetModule(module: Out<Handle>, function: Handle) -> CUresult {
    call("cuFuncGetModule", || module.set(FUNCTIONS.get(function)?.module()?.handle))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuFuncGetParamInfo(
    function: Handle,
    index: usize,
    offset: Out<usize>,
    bytes: Out<usize>,
) -> CUresult {
    call("cuFuncGetParamInfo", || {
        let function = FUNCTIONS.get(function)?;
        let module = function.module()?;
        let kernel = module::kernel(&module, &function)?;
        let parameter = kernel.parameters.get(index).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        offset.set(parameter.offset as usize)?;
        bytes.set_if_wanted(parameter.size as usize);
        Ok(())
    })
}
