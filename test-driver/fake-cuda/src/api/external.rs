//! Memory that other libraries have allocated, as a file that is mapped.

use std::ffi::{c_int, c_uint, c_ulonglong};

use super::call::call;
use crate::base::abi::{In, Out};
use crate::base::error::Error;
use crate::base::handle::Handle;
use crate::context;
use crate::memory::external;
use cudarc::driver::sys::CUresult;

/// `CUDA_EXTERNAL_MEMORY_HANDLE_DESC`, of a file.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Description {
    kind: c_int,
    handle: FileHandle,
    bytes: c_ulonglong,
    flags: c_uint,
    reserved: [c_uint; 16],
}

/// The union of what a handle can be, as a file.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct FileHandle {
    file: c_int,
    rest: [c_int; 3],
}

/// `CUDA_EXTERNAL_MEMORY_BUFFER_DESC`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Buffer {
    offset: c_ulonglong,
    bytes: c_ulonglong,
    flags: c_uint,
    reserved: [c_uint; 16],
}

/// Only files can be imported; the driver owns them from then on.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuImportExternalMemory(
    imported: Out<Handle>,
    description: In<Description>,
) -> CUresult {
    call("cuImportExternalMemory", || {
        /// `CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD`.
        const FILE: c_int = 1;
        imported.check()?;
        context::usable()?;
        let given = description.get()?;
        if given.kind != FILE {
            return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
        }
        imported.set(external::import(given.handle.file, given.bytes)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuExternalMemoryGetMappedBuffer(
    address: Out<u64>,
    memory: Handle,
    buffer: In<Buffer>,
) -> CUresult {
    call("cuExternalMemoryGetMappedBuffer", || {
        address.check()?;
        let (context, given) = (context::usable()?, buffer.get()?);
        if given.flags != 0 {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        address.set(external::map(context.owner(), memory, given.offset, given.bytes)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDestroyExternalMemory(memory: Handle) -> CUresult {
    call("cuDestroyExternalMemory", || external::destroy(memory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_size_of_cuda_h() {
        assert_eq!(size_of::<Description>(), 104);
        assert_eq!(size_of::<Buffer>(), 88);
    }
}
