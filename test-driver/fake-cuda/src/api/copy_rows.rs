//! Copies of rows and slices.

use super::call::call;
use super::copy::{later, now, unified};
use crate::base::abi::{Copy2, Copy3, In, Side2, Side3};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::memory::copy::{Copy, Place, Side};
use cudarc::driver::sys::CUresult;

/// `CUmemorytype`; arrays are not supported.
const HOST: i32 = 1;
const DEVICE: i32 = 2;
const UNIFIED: i32 = 4;

fn place(kind: i32, host: usize, device: u64, offset: usize) -> Result<Place> {
    match kind {
        HOST => Ok(Place::Host(host + offset)),
        DEVICE => Ok(Place::Device(device + offset as u64)),
        UNIFIED => unified(device + offset as u64),
        3 => Err(Error::CUDA_ERROR_NOT_SUPPORTED),
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

fn side2(side: &Side2, width: usize) -> Result<Side> {
    let pitch = pitch(side.pitch, width + side.x)?;
    let place = place(side.kind, side.host, side.device, side.y * pitch + side.x)?;
    Ok(Side { place, pitch, slice: 0 })
}

fn rows(copy: In<Copy2>) -> Result<Copy> {
    let copy = copy.get()?;
    let (width, height) = (copy.width, copy.height);
    let (source, target) = (side2(&copy.source, width)?, side2(&copy.target, width)?);
    Ok(Copy { source, target, width, height, depth: 1, ordinals: None })
}

fn side3(side: &Side3, width: usize, height: usize) -> Result<Side> {
    if side.level != 0 {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    let pitch = pitch(side.pitch, width + side.x)?;
    let lines = if side.height == 0 { height + side.y } else { side.height };
    let slice = pitch * lines;
    let offset = side.z * slice + side.y * pitch + side.x;
    Ok(Side { place: place(side.kind, side.host, side.device, offset)?, pitch, slice })
}

pub(super) fn slices(copy: In<Copy3>) -> Result<Copy> {
    let copy = copy.get()?;
    let (width, height, depth) = (copy.width, copy.height, copy.depth);
    let source = side3(&copy.source, width, height)?;
    let target = side3(&copy.target, width, height)?;
    Ok(Copy { source, target, width, height, depth, ordinals: None })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpy2D_v2(copy: In<Copy2>) -> CUresult {
    call("cuMemcpy2D_v2", || now(rows(copy)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpy2DUnaligned_v2(copy: In<Copy2>) -> CUresult {
    call("cuMemcpy2DUnaligned_v2", || now(rows(copy)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpy2DAsync_v2(copy: In<Copy2>, stream: Handle) -> CUresult {
    call("cuMemcpy2DAsync_v2", || later(stream, rows(copy)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpy3D_v2(copy: In<Copy3>) -> CUresult {
    call("cuMemcpy3D_v2", || now(slices(copy)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemcpy3DAsync_v2(copy: In<Copy3>, stream: Handle) -> CUresult {
    call("cuMemcpy3DAsync_v2", || later(stream, slices(copy)?))
}
