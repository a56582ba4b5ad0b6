//! Launches.

use std::{ffi::c_uint, sync::Arc};

use super::call::call;
use crate::base::abi::{In, LaunchAttribute, LaunchConfig};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::context;
use crate::module::FUNCTIONS;
use crate::module::launch::{Request, prepare};
use crate::work::Work;
use cudarc::driver::sys::CUresult;

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

/// Whether attributes ask for a cooperative launch; clusters of more than one block are refused,
/// and all others make no difference to an emulator.
fn is_cooperative(attributes: &[LaunchAttribute]) -> Result<bool> {
    /// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE` and `_CLUSTER_DIMENSION`.
    const COOPERATIVE: i32 = 2;
    const CLUSTER: i32 = 4;
    let mut cooperative = false;
    for attribute in attributes {
        match attribute.id {
            COOPERATIVE => cooperative = attribute.value[0] != 0,
            CLUSTER if attribute.value[..3] != [1, 1, 1] => {
                return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
            }
            0..=16 => {}
            _ => return Err(Error::CUDA_ERROR_INVALID_VALUE),
        }
    }
    Ok(cooperative)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuLaunchKernelEx(
    config: In<LaunchConfig>,
    function: Handle,
    arguments: In<In<u8>>,
    extra: In<usize>,
) -> CUresult {
    call("cuLaunchKernelEx", || {
        let config = config.get()?;
        let attributes = config.attributes.elements(config.attribute_count as usize)?;
        let (grid, block, shared_bytes) = (config.grid, config.block, config.shared_bytes);
        let cooperative = is_cooperative(&attributes)?;
        let request = Request { grid, block, shared_bytes, cooperative, arguments, extra };
        launch(function, config.stream, &request)
    })
}
