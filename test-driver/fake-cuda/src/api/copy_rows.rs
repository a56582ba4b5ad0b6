//! Copies of rows and slices.
//!
//! CUDA Driver API, "Memory Management".

use super::call::call;
use super::copy::{later, now, unified};
use crate::base::abi::{In, field};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::memory::copy::{Copy, Place, Side};
use cudarc::driver::sys::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUmemorytype, CUresult};

const HOST: u32 = CUmemorytype::CU_MEMORYTYPE_HOST as u32;
const DEVICE: u32 = CUmemorytype::CU_MEMORYTYPE_DEVICE as u32;
const ARRAY: u32 = CUmemorytype::CU_MEMORYTYPE_ARRAY as u32;
const UNIFIED: u32 = CUmemorytype::CU_MEMORYTYPE_UNIFIED as u32;

/// One side of a copy, as a C caller gives it.
struct Given {
    x: usize,
    y: usize,
    z: usize,
    /// A number of a `CUmemorytype`.
    kind: u32,
    host: usize,
    device: u64,
    pitch: usize,
    height: usize,
}

fn place(kind: u32, host: usize, device: u64, offset: usize) -> Result<Place> {
    match kind {
        HOST => Ok(Place::Host(host + offset)),
        DEVICE => Ok(Place::Device(device + offset as u64)),
        UNIFIED => unified(device + offset as u64),
        ARRAY => Err(Error::CUDA_ERROR_NOT_SUPPORTED),
        _ => Err(Error::CUDA_ERROR_INVALID_VALUE),
    }
}

/// The pitch of rows, which is their width where nothing is given.
fn pitch(given: usize, width: usize) -> Result<usize> {
    match given {
        0 => Ok(width),
        given if given >= width => Ok(given),
        _ => Err(Error::CUDA_ERROR_INVALID_VALUE),
    }
}

impl Given {
    /// The side of a copy of slices of `height` rows of `width` bytes.
    fn side(&self, width: usize, height: usize) -> Result<Side> {
        let pitch = pitch(self.pitch, width + self.x)?;
        let lines = if self.height == 0 { height + self.y } else { self.height };
        let slice = pitch * lines;
        let offset = self.z * slice + self.y * pitch + self.x;
        Ok(Side { place: place(self.kind, self.host, self.device, offset)?, pitch, slice })
    }
}

fn rows(copy: In<CUDA_MEMCPY2D>) -> Result<Copy> {
    let source = Given {
        x: field!(copy, CUDA_MEMCPY2D, srcXInBytes as usize)?,
        y: field!(copy, CUDA_MEMCPY2D, srcY as usize)?,
        z: 0,
        kind: field!(copy, CUDA_MEMCPY2D, srcMemoryType as u32)?,
        host: field!(copy, CUDA_MEMCPY2D, srcHost as usize)?,
        device: field!(copy, CUDA_MEMCPY2D, srcDevice as u64)?,
        pitch: field!(copy, CUDA_MEMCPY2D, srcPitch as usize)?,
        height: 0,
    };
    let target = Given {
        x: field!(copy, CUDA_MEMCPY2D, dstXInBytes as usize)?,
        y: field!(copy, CUDA_MEMCPY2D, dstY as usize)?,
        z: 0,
        kind: field!(copy, CUDA_MEMCPY2D, dstMemoryType as u32)?,
        host: field!(copy, CUDA_MEMCPY2D, dstHost as usize)?,
        device: field!(copy, CUDA_MEMCPY2D, dstDevice as u64)?,
        pitch: field!(copy, CUDA_MEMCPY2D, dstPitch as usize)?,
        height: 0,
    };
    let width = field!(copy, CUDA_MEMCPY2D, WidthInBytes as usize)?;
    let height = field!(copy, CUDA_MEMCPY2D, Height as usize)?;
    let (source, target) = (source.side(width, height)?, target.side(width, height)?);
    Ok(Copy { source, target, width, height, depth: 1, ordinals: None })
}

pub(super) fn slices(copy: In<CUDA_MEMCPY3D>) -> Result<Copy> {
    let levels = [
        field!(copy, CUDA_MEMCPY3D, srcLOD as usize)?,
        field!(copy, CUDA_MEMCPY3D, dstLOD as usize)?,
    ];
    if levels != [0; 2] {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    let (width, height) = (
        field!(copy, CUDA_MEMCPY3D, WidthInBytes as usize)?,
        field!(copy, CUDA_MEMCPY3D, Height as usize)?,
    );
    let depth = field!(copy, CUDA_MEMCPY3D, Depth as usize)?;
    let source = slices_source(copy)?.side(width, height)?;
    let target = slices_target(copy)?.side(width, height)?;
    Ok(Copy { source, target, width, height, depth, ordinals: None })
}

fn slices_source(copy: In<CUDA_MEMCPY3D>) -> Result<Given> {
    Ok(Given {
        x: field!(copy, CUDA_MEMCPY3D, srcXInBytes as usize)?,
        y: field!(copy, CUDA_MEMCPY3D, srcY as usize)?,
        z: field!(copy, CUDA_MEMCPY3D, srcZ as usize)?,
        kind: field!(copy, CUDA_MEMCPY3D, srcMemoryType as u32)?,
        host: field!(copy, CUDA_MEMCPY3D, srcHost as usize)?,
        device: field!(copy, CUDA_MEMCPY3D, srcDevice as u64)?,
        pitch: field!(copy, CUDA_MEMCPY3D, srcPitch as usize)?,
        height: field!(copy, CUDA_MEMCPY3D, srcHeight as usize)?,
    })
}

fn slices_target(copy: In<CUDA_MEMCPY3D>) -> Result<Given> {
    Ok(Given {
        x: field!(copy, CUDA_MEMCPY3D, dstXInBytes as usize)?,
        y: field!(copy, CUDA_MEMCPY3D, dstY as usize)?,
        z: field!(copy, CUDA_MEMCPY3D, dstZ as usize)?,
        kind: field!(copy, CUDA_MEMCPY3D, dstMemoryType as u32)?,
        host: field!(copy, CUDA_MEMCPY3D, dstHost as usize)?,
        device: field!(copy, CUDA_MEMCPY3D, dstDevice as u64)?,
        pitch: field!(copy, CUDA_MEMCPY3D, dstPitch as usize)?,
        height: field!(copy, CUDA_MEMCPY3D, dstHeight as usize)?,
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpy2D_v2(copy: In<CUDA_MEMCPY2D>) -> CUresult {
    call("cuMemcpy2D_v2", || now(rows(copy)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpy2DUnaligned_v2(copy: In<CUDA_MEMCPY2D>) -> CUresult {
    call("cuMemcpy2DUnaligned_v2", || now(rows(copy)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpy2DAsync_v2(copy: In<CUDA_MEMCPY2D>, stream: Handle) -> CUresult {
    call("cuMemcpy2DAsync_v2", || later(stream, rows(copy)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpy3D_v2(copy: In<CUDA_MEMCPY3D>) -> CUresult {
    call("cuMemcpy3D_v2", || now(slices(copy)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpy3DAsync_v2(copy: In<CUDA_MEMCPY3D>, stream: Handle) -> CUresult {
    call("cuMemcpy3DAsync_v2", || later(stream, slices(copy)?))
}
