//! HIP graphs, as the shared part of the GPU back ends calls them.
//!
//! [HIP API reference, "Graph management"](https://rocm.docs.amd.com/projects/HIP/en/latest/reference/hip_runtime_api/modules/graph_management.html).
//! A node takes a function of a module where the reference names a kernel of the host's program, as the library's own
//! capture of `hipModuleLaunchKernel` does.

use std::ptr;

use super::{
    driver::named,
    driver_context::{DriverContext, HipStream},
    library::{GraphFunctions, Handle, KernelNodeParameters, hip},
    memory::pointer,
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

/// The functions for graphs.
fn functions() -> &'static GraphFunctions {
    hip().graphs.as_ref().expect("a graph is made where the library has all functions")
}

impl GraphCalls for DriverContext {
    type Graph = Handle;
    type Node = Handle;
    type Executable = Handle;
    type Function = Handle;

    fn create_graph() -> Result<Handle> {
        let mut handle = ptr::null_mut();
        // SAFETY: the place is this function's own; there are no flags.
        let code = unsafe { (functions().create)(&raw mut handle, 0) };
        named(code, "hipGraphCreate", subject)?;
        Ok(handle)
    }

    unsafe fn add_kernel_node(
        graph: Handle,
        dependencies: &[Handle],
        function: Handle,
        shape: &Checked,
        arguments: &mut [*const u8],
    ) -> Result<Handle> {
        let parameters = KernelNodeParameters {
            block: shape.block,
            extra: ptr::null_mut(),
            function,
            grid: shape.grid,
            arguments: arguments.as_mut_ptr().cast(),
            dynamic_shared_bytes: shape.dynamic_shared_bytes,
        };
        let (before, count) = (dependencies.as_ptr(), dependencies.len());
        let mut handle = ptr::null_mut();
        // SAFETY: promised.
        let code = unsafe {
            let add = functions().add_kernel_node;
            add(&raw mut handle, graph, before, count, &raw const parameters)
        };
        named(code, "hipGraphAddKernelNode", subject)?;
        Ok(handle)
    }

    unsafe fn destroy_graph(graph: Handle) -> Result<()> {
        // SAFETY: promised.
        named(unsafe { (functions().destroy)(graph) }, "hipGraphDestroy", subject)
    }

    unsafe fn instantiate(graph: Handle) -> Result<Handle> {
        let (mut handle, nothing) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: promised; nobody asks which node is wrong, and there is no log.
        let code = unsafe {
            (functions().instantiate)(&raw mut handle, graph, nothing, ptr::null_mut(), 0)
        };
        named(code, "hipGraphInstantiate", subject)?;
        Ok(handle)
    }

    unsafe fn launch_graph(executable: Handle, stream: &HipStream) -> Result<()> {
        // SAFETY: promised.
        let code = unsafe { (functions().launch)(executable, stream.handle()) };
        named(code, "hipGraphLaunch", subject)
    }

    unsafe fn destroy_executable(executable: Handle) -> Result<()> {
        // SAFETY: promised.
        named(
            unsafe { (functions().destroy_executable)(executable) },
            "hipGraphExecDestroy",
            subject,
        )
    }

    unsafe fn forget_launch(place: u64, stream: &HipStream) -> Result<()> {
        let (place, bytes) = (pointer(place), size_of::<u64>());
        // SAFETY: promised.
        let code = unsafe { (hip().hipMemsetD8Async)(place, 0xff, bytes, stream.handle()) };
        named(code, "hipMemsetD8Async", number)
    }
}
