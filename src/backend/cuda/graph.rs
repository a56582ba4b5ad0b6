//! CUDA graphs, as the shared part of the GPU back ends calls them.
//!
//! [CUDA Driver API, "Graph Management"](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__GRAPH.html).

use std::{ffi::c_uint, mem::MaybeUninit, ptr, sync::OnceLock};

use cudarc::driver::{CudaStream, result as raw, sys};

use super::{
    driver::{has, named},
    driver_context::DriverContext,
};
use crate::{
    backend::gpu::graph::{self, GraphCalls, number, subject},
    error::Result,
    limits::Checked,
};

/// A graph of kernel nodes.
pub(super) type Graph = graph::Graph<DriverContext>;

/// What of a function is in a node of a graph.
pub(super) type Launchable = graph::Launchable<DriverContext>;

/// Whether the driver has the nodes that graphs are made of, which came with CUDA 12. Launches are put on streams one by one
/// where it has not.
pub(super) fn has_graphs() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| has("cuGraphAddKernelNode_v2"))
}

impl GraphCalls for DriverContext {
    type Graph = sys::CUgraph;
    type Node = sys::CUgraphNode;
    type Executable = sys::CUgraphExec;
    type Function = sys::CUfunction;

    fn create_graph() -> Result<sys::CUgraph> {
        let mut handle = ptr::null_mut();
        // SAFETY: the place is this function's own.
        let made = unsafe { sys::cuGraphCreate(&mut handle, 0) };
        named(made.result(), "cuGraphCreate", subject)?;
        Ok(handle)
    }

    unsafe fn add_kernel_node(
        graph: sys::CUgraph,
        dependencies: &[sys::CUgraphNode],
        function: sys::CUfunction,
        shape: &Checked,
        arguments: &mut [*const u8],
    ) -> Result<sys::CUgraphNode> {
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        let mut parameters = MaybeUninit::<sys::CUDA_KERNEL_NODE_PARAMS>::zeroed();
        // SAFETY: null is a value of every pointer in it, and 0 of every number.
        let parameters = unsafe { parameters.assume_init_mut() };
        parameters.func = function;
        (parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ) = (gx, gy, gz);
        (parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ) = (bx, by, bz);
        parameters.sharedMemBytes = shape.dynamic_shared_bytes as c_uint;
        parameters.kernelParams = arguments.as_mut_ptr().cast();
        let (before, count) = (dependencies.as_ptr(), dependencies.len());
        let mut handle = ptr::null_mut();
        // SAFETY: promised.
        let added =
            unsafe { sys::cuGraphAddKernelNode_v2(&mut handle, graph, before, count, parameters) };
        named(added.result(), "cuGraphAddKernelNode", subject)?;
        Ok(handle)
    }

    unsafe fn destroy_graph(graph: sys::CUgraph) -> Result<()> {
        // SAFETY: promised.
        let destroyed = unsafe { sys::cuGraphDestroy(graph) };
        named(destroyed.result(), "cuGraphDestroy", subject)
    }

    unsafe fn instantiate(graph: sys::CUgraph) -> Result<sys::CUgraphExec> {
        let mut handle = ptr::null_mut();
        // SAFETY: promised.
        let made = unsafe { sys::cuGraphInstantiateWithFlags(&mut handle, graph, 0) };
        named(made.result(), "cuGraphInstantiateWithFlags", subject)?;
        Ok(handle)
    }

    unsafe fn launch_graph(executable: sys::CUgraphExec, stream: &CudaStream) -> Result<()> {
        // SAFETY: promised.
        let launched = unsafe { sys::cuGraphLaunch(executable, stream.cu_stream()) };
        named(launched.result(), "cuGraphLaunch", subject)
    }

    unsafe fn destroy_executable(executable: sys::CUgraphExec) -> Result<()> {
        // SAFETY: promised.
        let destroyed = unsafe { sys::cuGraphExecDestroy(executable) };
        named(destroyed.result(), "cuGraphExecDestroy", subject)
    }

    unsafe fn forget_launch(place: u64, stream: &CudaStream) -> Result<()> {
        // SAFETY: promised.
        let forgotten =
            unsafe { raw::memset_d8_async(place, 0xff, size_of::<u64>(), stream.cu_stream()) };
        named(forgotten, "cuMemsetD8Async", number)
    }
}
