//! Launches of kernels.
//!
//! CUDA Driver API, "Execution Control".

use std::{ffi::c_uint, sync::Arc};

use super::call::call;
use crate::base::abi::{In, enumerators, field};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::context;
use crate::module::FUNCTIONS;
use crate::module::launch::{Request, prepare};
use crate::work::Work;
use cudarc::driver::sys::{CUlaunchAttribute, CUlaunchConfig, CUresult};

fn launch(function: Handle, stream: Handle, request: &Request) -> Result<()> {
    let (context, stream) = context::resolve(stream)?;
    let launchable = prepare(context.owner(), &*FUNCTIONS.get(function)?, request)?;
    stream.submit(Work::Launch(Arc::new(launchable)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuLaunchKernel(
    function: Handle,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared_bytes: c_uint,
    stream: Handle,
    arguments: In<In<u8>>,
    extra: In<usize>,
) -> CUresult {
    call("cuLaunchKernel", || {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let cooperative = false;
        let request = Request { grid, block, shared_bytes, cooperative, arguments, extra };
        launch(function, stream, &request)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuLaunchCooperativeKernel(
    function: Handle,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared_bytes: c_uint,
    stream: Handle,
    arguments: In<In<u8>>,
) -> CUresult {
    call("cuLaunchCooperativeKernel", || {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let (cooperative, extra) = (true, In::null());
        let request = Request { grid, block, shared_bytes, cooperative, arguments, extra };
        launch(function, stream, &request)
    })
}

enumerators! { u32: CUlaunchAttributeID
    COOPERATIVE = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    CLUSTER = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
}

/// Whether attributes ask for a cooperative launch; clusters of more than one block are refused,
/// and all others make no difference to an emulator.
fn is_cooperative(attributes: In<CUlaunchAttribute>, count: usize) -> Result<bool> {
    /// The last attribute of newer versions of `cuda.h` also.
    const LAST: u32 = 16;
    let mut cooperative = false;
    for attribute in (0..count).map(|index| attributes.place(index)) {
        match field!(attribute, CUlaunchAttribute, id as u32)? {
            COOPERATIVE => {
                cooperative = field!(attribute, CUlaunchAttribute, value.cooperative as u32)? != 0;
            }
            CLUSTER => {
                let size = [
                    field!(attribute, CUlaunchAttribute, value.clusterDim.x as u32)?,
                    field!(attribute, CUlaunchAttribute, value.clusterDim.y as u32)?,
                    field!(attribute, CUlaunchAttribute, value.clusterDim.z as u32)?,
                ];
                if size != [1; 3] {
                    return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
                }
            }
            0..=LAST => {}
            _ => return Err(Error::CUDA_ERROR_INVALID_VALUE),
        }
    }
    Ok(cooperative)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuLaunchKernelEx(
    config: In<CUlaunchConfig>,
    function: Handle,
    arguments: In<In<u8>>,
    extra: In<usize>,
) -> CUresult {
    call("cuLaunchKernelEx", || {
        // No field of it is an enum.
        let config = config.get()?;
        // SAFETY: the attributes of a configuration are an array of `numAttrs` elements.
        let attributes = unsafe { In::new(config.attrs.cast_const()) };
        let cooperative = is_cooperative(attributes, config.numAttrs as usize)?;
        let grid = [config.gridDimX, config.gridDimY, config.gridDimZ];
        let block = [config.blockDimX, config.blockDimY, config.blockDimZ];
        let shared_bytes = config.sharedMemBytes;
        let request = Request { grid, block, shared_bytes, cooperative, arguments, extra };
        launch(function, Handle::from(config.hStream), &request)
    })
}
