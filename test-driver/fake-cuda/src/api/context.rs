//! Contexts.
//!
//! CUDA Driver API, "Context Management".

use std::{
    ffi::{c_int, c_uint, c_void},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::call::call;
use super::device::CONTEXT_FLAGS;
use crate::base::abi::{Ignored, Out, enumerators};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::context::{self, CONTEXTS, Context};
use crate::driver::{self, device};
use crate::lifetime;
use cudarc::driver::sys::CUresult;

enumerators! { c_int: CUfunc_cache
    PREFER_NONE = CU_FUNC_CACHE_PREFER_NONE;
    PREFER_EQUAL = CU_FUNC_CACHE_PREFER_EQUAL;
}

fn create(created: Out<Handle>, flags: c_uint, ordinal: c_int) -> Result<()> {
    created.check()?;
    if flags & !CONTEXT_FLAGS != 0 {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    let context = Context::create(device(ordinal)?.ordinal, flags, false);
    context::push(context.handle)?;
    created.set(context.handle)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxCreate_v2(
    created: Out<Handle>,
    flags: c_uint,
    ordinal: c_int,
) -> CUresult {
    call("cuCtxCreate_v2", || create(created, flags, ordinal))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxCreate_v3(
    created: Out<Handle>,
    affinities: Ignored<c_void>,
    count: c_int,
    flags: c_uint,
    ordinal: c_int,
) -> CUresult {
    call("cuCtxCreate_v3", || {
        if !affinities.is_null() || count != 0 {
            return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
        }
        create(created, flags, ordinal)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxCreate_v4(
    created: Out<Handle>,
    parameters: Ignored<c_void>,
    flags: c_uint,
    ordinal: c_int,
) -> CUresult {
    call("cuCtxCreate_v4", || {
        // Affinities, and sharing with graphics.
        if !parameters.is_null() {
            return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
        }
        create(created, flags, ordinal)
    })
}

/// Primary contexts are released, not destroyed.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxDestroy_v2(context: Handle) -> CUresult {
    call("cuCtxDestroy_v2", || {
        let context = CONTEXTS.get(context).map_err(|_| Error::CUDA_ERROR_INVALID_CONTEXT)?;
        if context.primary {
            return Err(Error::CUDA_ERROR_INVALID_CONTEXT);
        }
        if context::stack_top() == Some(context.handle) {
            context::pop()?;
        }
        lifetime::destroy(&context);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxPushCurrent_v2(context: Handle) -> CUresult {
    call("cuCtxPushCurrent_v2", || context::push(context))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxPopCurrent_v2(context: Out<Handle>) -> CUresult {
    call("cuCtxPopCurrent_v2", || {
        context.set_if_wanted(context::pop()?);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxSetCurrent(context: Handle) -> CUresult {
    call("cuCtxSetCurrent", || driver::driver().and_then(|_| context::set_current(context)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxGetCurrent(context: Out<Handle>) -> CUresult {
    call("cuCtxGetCurrent", || {
        driver::driver()?;
        context.set(context::stack_top().unwrap_or(Handle::NULL))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxGetDevice(ordinal: Out<c_int>) -> CUresult {
    call("cuCtxGetDevice", || ordinal.set(context::current()?.ordinal as c_int))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxGetFlags(flags: Out<c_uint>) -> CUresult {
    call("cuCtxGetFlags", || flags.set(context::current()?.flags.load(Ordering::Relaxed)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxSetFlags(flags: c_uint) -> CUresult {
    call("cuCtxSetFlags", || {
        if flags & !CONTEXT_FLAGS != 0 {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        context::current()?.flags.store(flags, Ordering::Relaxed);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxGetId(context: Handle, id: Out<u64>) -> CUresult {
    call("cuCtxGetId", || id.set(find(context)?.handle.0 as u64))
}

fn find(handle: Handle) -> Result<Arc<Context>> {
    match handle {
        Handle::NULL => context::current(),
        _ => CONTEXTS.get(handle).map_err(|_| Error::CUDA_ERROR_CONTEXT_IS_DESTROYED),
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxGetApiVersion(context: Handle, version: Out<c_uint>) -> CUresult {
    call("cuCtxGetApiVersion", || {
        find(context)?;
        version.set(driver::VERSION as c_uint)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxSynchronize() -> CUresult {
    call("cuCtxSynchronize", || context::current()?.synchronize())
}

fn limit(context: &Context, limit: c_int) -> Result<&AtomicUsize> {
    let index = usize::try_from(limit).map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)?;
    context.limits.get(index).ok_or(Error::CUDA_ERROR_UNSUPPORTED_LIMIT)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxGetLimit(value: Out<usize>, which: c_int) -> CUresult {
    call("cuCtxGetLimit", || {
        let context = context::usable()?;
        value.set(limit(&context, which)?.load(Ordering::Relaxed))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxSetLimit(which: c_int, value: usize) -> CUresult {
    call("cuCtxSetLimit", || {
        let context = context::usable()?;
        limit(&context, which)?.store(value, Ordering::Relaxed);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxGetCacheConfig(config: Out<c_int>) -> CUresult {
    call("cuCtxGetCacheConfig", || {
        config.set(context::usable()?.cache_config.load(Ordering::Relaxed))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxSetCacheConfig(config: c_int) -> CUresult {
    call("cuCtxSetCacheConfig", || {
        if !(PREFER_NONE..=PREFER_EQUAL).contains(&config) {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        context::usable()?.cache_config.store(config, Ordering::Relaxed);
        Ok(())
    })
}

/// Lower numbers come first; the emulator does not look at them.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxGetStreamPriorityRange(
    least: Out<c_int>,
    greatest: Out<c_int>,
) -> CUresult {
    call("cuCtxGetStreamPriorityRange", || {
        context::usable()?;
        least.set_if_wanted(0);
        greatest.set_if_wanted(-5);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxResetPersistingL2Cache() -> CUresult {
    call("cuCtxResetPersistingL2Cache", || context::usable().map(drop))
}
