//! How many blocks there is room for.
//!
//! CUDA Driver API, "Occupancy".

use std::{
    ffi::{c_int, c_uint},
    sync::{Arc, atomic::Ordering},
};

use super::call::call;
use crate::base::abi::{In, Out};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::context::{self, Context};
use crate::module::occupancy;
use crate::module::{self, FUNCTIONS, Function, Module};
use cudarc::driver::sys::{CUlaunchConfig, CUoccupancyB2DSize, CUresult};

/// A function with all that occupancy depends on.
fn find(function: Handle) -> Result<(Arc<Context>, Arc<Module>, String)> {
    let (context, module, function) = find_function(function)?;
    Ok((context, module, function.name.clone()))
}

/// The same with the function itself.
fn find_function(function: Handle) -> Result<(Arc<Context>, Arc<Module>, Arc<Function>)> {
    let context = context::usable()?;
    let function = FUNCTIONS.get(function)?;
    Ok((context, function.module()?, function))
}

fn active_blocks(
    blocks: Out<c_int>,
    function: Handle,
    threads: c_int,
    dynamic: usize,
    flags: c_uint,
) -> Result<()> {
    let threads = u32::try_from(threads).ok().filter(|threads| *threads > 0);
    let threads = threads.filter(|_| flags & !1 == 0).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
    let (context, module, function) = find_function(function)?;
    let kernel = module.ptx.kernel(&function.name).ok_or(Error::CUDA_ERROR_INVALID_HANDLE)?;
    let found = occupancy::blocks(&context.device().profile, kernel, threads, dynamic);
    // Of a function that is not allowed as much, no block is ever resident.
    let is_allowed = dynamic as u64 <= function.dynamic_allowed.load(Ordering::Relaxed) as u64;
    blocks.set(if is_allowed { found as c_int } else { 0 })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: Out<c_int>,
    function: Handle,
    threads: c_int,
    dynamic: usize,
) -> CUresult {
    call("cuOccupancyMaxActiveBlocksPerMultiprocessor", || {
        active_blocks(blocks, function, threads, dynamic, 0)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: Out<c_int>,
    function: Handle,
    threads: c_int,
    dynamic: usize,
    flags: c_uint,
) -> CUresult {
    call("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", || {
        active_blocks(blocks, function, threads, dynamic, flags)
    })
}

fn best_block(
    blocks: Out<c_int>,
    threads: Out<c_int>,
    function: Handle,
    dynamic: (CUoccupancyB2DSize, usize),
    limit: c_int,
    flags: c_uint,
) -> Result<()> {
    let limit = u32::try_from(limit).map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)?;
    if flags & !1 != 0 {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    let (context, module, name) = find(function)?;
    let kernel = module.ptx.kernel(&name).ok_or(Error::CUDA_ERROR_INVALID_HANDLE)?;
    let shared = |threads: u32| match dynamic.0 {
        // SAFETY: the caller passes a function that can be called with every block size.
        Some(shared) => unsafe { shared(threads as c_int) },
        None => dynamic.1,
    };
    let best = occupancy::best(&context.device().profile, kernel, limit, shared);
    blocks.set(best.0 as c_int)?;
    threads.set(best.1 as c_int)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuOccupancyMaxPotentialBlockSize(
    blocks: Out<c_int>,
    threads: Out<c_int>,
    function: Handle,
    shared: CUoccupancyB2DSize,
    dynamic: usize,
    limit: c_int,
) -> CUresult {
    call("cuOccupancyMaxPotentialBlockSize", || {
        best_block(blocks, threads, function, (shared, dynamic), limit, 0)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuOccupancyMaxPotentialBlockSizeWithFlags(
    blocks: Out<c_int>,
    threads: Out<c_int>,
    function: Handle,
    shared: CUoccupancyB2DSize,
    dynamic: usize,
    limit: c_int,
    flags: c_uint,
) -> CUresult {
    call("cuOccupancyMaxPotentialBlockSizeWithFlags", || {
        best_block(blocks, threads, function, (shared, dynamic), limit, flags)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuOccupancyAvailableDynamicSMemPerBlock(
    bytes: Out<usize>,
    function: Handle,
    blocks: c_int,
    threads: c_int,
) -> CUresult {
    call("cuOccupancyAvailableDynamicSMemPerBlock", || {
        let (context, module, name) = find(function)?;
        let kernel = module.ptx.kernel(&name).ok_or(Error::CUDA_ERROR_INVALID_HANDLE)?;
        let profile = &context.device().profile;
        bytes.set(occupancy::available_shared(profile, kernel, blocks, threads)?)
    })
}

/// Devices without clusters have clusters of one block.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuOccupancyMaxPotentialClusterSize(
    size: Out<c_int>,
    function: Handle,
    config: In<CUlaunchConfig>,
) -> CUresult {
    call("cuOccupancyMaxPotentialClusterSize", || {
        find(function)?;
        config.get()?;
        size.set(1)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuOccupancyMaxActiveClusters(
    clusters: Out<c_int>,
    function: Handle,
    config: In<CUlaunchConfig>,
) -> CUresult {
    call("cuOccupancyMaxActiveClusters", || {
        let config = config.get()?;
        let (context, module, name) = find(function)?;
        let kernel = module.ptx.kernel(&name).ok_or(Error::CUDA_ERROR_INVALID_HANDLE)?;
        let profile = &context.device().profile;
        let block = [config.blockDimX, config.blockDimY, config.blockDimZ];
        let threads = block.iter().product::<u32>().min(module::threads(kernel) + 1);
        let each = occupancy::blocks(profile, kernel, threads, config.sharedMemBytes as usize);
        clusters.set((each * profile.multiprocessors) as c_int)
    })
}
