//! Memory that other libraries have allocated, as a file that is mapped.
//!
//! CUDA Driver API, "External Resource Interoperability".

use std::ffi::c_int;

use super::call::call;
use crate::base::abi::{In, Out, field};
use crate::base::error::Error;
use crate::base::handle::Handle;
use crate::context;
use crate::memory::external;
use cudarc::driver::sys::{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, CUexternalMemoryHandleType,
    CUresult,
};

/// Only files can be imported; the driver owns them from then on.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuImportExternalMemory(
    imported: Out<Handle>,
    description: In<CUDA_EXTERNAL_MEMORY_HANDLE_DESC>,
) -> CUresult {
    call("cuImportExternalMemory", || {
        const FILE: u32 =
            CUexternalMemoryHandleType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD as u32;
        imported.check()?;
        context::usable()?;
        let kind = field!(description, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, type_ as u32)?;
        if kind != FILE {
            return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
        }
        let file = field!(description, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, handle.fd as c_int)?;
        let bytes = field!(description, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size as u64)?;
        imported.set(external::import(file, bytes)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuExternalMemoryGetMappedBuffer(
    address: Out<u64>,
    memory: Handle,
    buffer: In<CUDA_EXTERNAL_MEMORY_BUFFER_DESC>,
) -> CUresult {
    call("cuExternalMemoryGetMappedBuffer", || {
        address.check()?;
        let context = context::usable()?;
        // No field of it is an enum.
        let given = buffer.get()?;
        if given.flags != 0 {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        address.set(external::map(context.owner(), memory, given.offset, given.size)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDestroyExternalMemory(memory: Handle) -> CUresult {
    call("cuDestroyExternalMemory", || external::destroy(memory))
}
