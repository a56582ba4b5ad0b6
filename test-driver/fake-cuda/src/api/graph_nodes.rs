//! Nodes of graphs that are made by hand.
//!
//! CUDA Driver API, "Graph Management".

use std::sync::Arc;

use super::call::call;
use super::copy_rows;
use crate::base::abi::{In, Out};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::context::CONTEXTS;
use crate::graph::GRAPHS;
use crate::memory::copy::Fill;
use crate::module::FUNCTIONS;
use crate::module::launch::{Request, prepare};
use crate::work::{HostCall, Work};
use cudarc::driver::sys::{
    CUDA_HOST_NODE_PARAMS_st, CUDA_KERNEL_NODE_PARAMS_st, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS_st, CUresult,
};

fn add(
    node: Out<Handle>,
    graph: Handle,
    after: In<Handle>,
    count: usize,
    work: Work,
) -> Result<()> {
    node.check()?;
    let after = after.elements(count)?;
    node.set(GRAPHS.get(graph)?.add(work, &after)?)
}

/// A launch; no field of the first version of the parameters is an enum, and version 2 begins with it.
fn launch(parameters: In<CUDA_KERNEL_NODE_PARAMS_st>) -> Result<Work> {
    let given = parameters.get()?;
    let function = FUNCTIONS.get(Handle::from(given.func))?;
    // SAFETY: the parameters of a node promise of both what `cuLaunchKernel` does of its arguments.
    let (arguments, extra) =
        unsafe { (In::new(given.kernelParams.cast_const()), In::new(given.extra.cast_const())) };
    let request = Request {
        grid: [given.gridDimX, given.gridDimY, given.gridDimZ],
        block: [given.blockDimX, given.blockDimY, given.blockDimZ],
        shared_bytes: given.sharedMemBytes,
        cooperative: false,
        arguments: arguments.cast(),
        extra: extra.cast(),
    };
    Ok(Work::Launch(Arc::new(prepare(function.module()?.owner, &function, &request)?)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphAddKernelNode(
    node: Out<Handle>,
    graph: Handle,
    after: In<Handle>,
    count: usize,
    parameters: In<CUDA_KERNEL_NODE_PARAMS_st>,
) -> CUresult {
    call("cuGraphAddKernelNode", || add(node, graph, after, count, launch(parameters)?))
}

/// What version 2 has more, a library's kernel, is not supported.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphAddKernelNode_v2(
    node: Out<Handle>,
    graph: Handle,
    after: In<Handle>,
    count: usize,
    parameters: In<CUDA_KERNEL_NODE_PARAMS_st>,
) -> CUresult {
    call("cuGraphAddKernelNode_v2", || add(node, graph, after, count, launch(parameters)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphAddMemcpyNode(
    node: Out<Handle>,
    graph: Handle,
    after: In<Handle>,
    count: usize,
    parameters: In<CUDA_MEMCPY3D>,
    context: Handle,
) -> CUresult {
    call("cuGraphAddMemcpyNode", || {
        let context = CONTEXTS.get(context).map_err(|_| Error::CUDA_ERROR_INVALID_CONTEXT)?;
        let copy = copy_rows::slices(parameters)?;
        copy.check(context.ordinal)?;
        add(node, graph, after, count, Work::Copy(Arc::new(copy)))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphAddMemsetNode(
    node: Out<Handle>,
    graph: Handle,
    after: In<Handle>,
    count: usize,
    parameters: In<CUDA_MEMSET_NODE_PARAMS_st>,
    context: Handle,
) -> CUresult {
    call("cuGraphAddMemsetNode", || {
        let context = CONTEXTS.get(context).map_err(|_| Error::CUDA_ERROR_INVALID_CONTEXT)?;
        let given = parameters.get()?;
        if !matches!(given.elementSize, 1 | 2 | 4) {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        let fill = Fill {
            address: given.dst,
            pitch: given.pitch,
            width: given.width,
            height: given.height,
            value: given.value,
            element_bytes: given.elementSize as usize,
        };
        fill.check(context.ordinal)?;
        add(node, graph, after, count, Work::Fill(fill))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphAddHostNode(
    node: Out<Handle>,
    graph: Handle,
    after: In<Handle>,
    count: usize,
    parameters: In<CUDA_HOST_NODE_PARAMS_st>,
) -> CUresult {
    call("cuGraphAddHostNode", || {
        let given = parameters.get()?;
        add(node, graph, after, count, Work::Host(HostCall::new(given.fn_, given.userData)?))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphAddEmptyNode(
    node: Out<Handle>,
    graph: Handle,
    after: In<Handle>,
    count: usize,
) -> CUresult {
    call("cuGraphAddEmptyNode", || add(node, graph, after, count, Work::Nothing))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphAddChildGraphNode(
    node: Out<Handle>,
    graph: Handle,
    after: In<Handle>,
    count: usize,
    child: Handle,
) -> CUresult {
    call("cuGraphAddChildGraphNode", || {
        if graph == child {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        let plan = GRAPHS.get(child)?.plan()?;
        add(node, graph, after, count, Work::Graph(plan))
    })
}
