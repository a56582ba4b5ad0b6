//! Nodes of graphs that are made by hand.

use std::sync::Arc;

use super::call::call;
use super::copy_rows;
use crate::base::abi::{Copy3, FillNode, HostNode, In, KernelNode, Out};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::context::CONTEXTS;
use crate::graph::GRAPHS;
use crate::memory::copy::Fill;
use crate::module::FUNCTIONS;
use crate::module::launch::{Request, prepare};
use crate::work::{HostCall, Work};
use cudarc::driver::sys::CUresult;

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

fn launch(parameters: In<KernelNode>) -> Result<Work> {
    let given = parameters.get()?;
    let function = FUNCTIONS.get(given.function)?;
    let request = Request {
        grid: given.grid,
        block: given.block,
        shared_bytes: given.shared_bytes,
        cooperative: false,
        arguments: given.arguments,
        extra: given.extra,
    };
    Ok(Work::Launch(Arc::new(prepare(function.module()?.owner, &function, &request)?)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphAddKernelNode(
    node: Out<Handle>,
    graph: Handle,
    after: In<Handle>,
    count: usize,
    parameters: In<KernelNode>,
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
    parameters: In<KernelNode>,
) -> CUresult {
    call("cuGraphAddKernelNode_v2", || add(node, graph, after, count, launch(parameters)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphAddMemcpyNode(
    node: Out<Handle>,
    graph: Handle,
    after: In<Handle>,
    count: usize,
    parameters: In<Copy3>,
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
    parameters: In<FillNode>,
    context: Handle,
) -> CUresult {
    call("cuGraphAddMemsetNode", || {
        let context = CONTEXTS.get(context).map_err(|_| Error::CUDA_ERROR_INVALID_CONTEXT)?;
        let given = parameters.get()?;
        if !matches!(given.element_bytes, 1 | 2 | 4) {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        let fill = Fill {
            address: given.target,
            pitch: given.pitch,
            width: given.width,
            height: given.height,
            value: given.value,
            element_bytes: given.element_bytes as usize,
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
    parameters: In<HostNode>,
) -> CUresult {
    call("cuGraphAddHostNode", || {
        let given = parameters.get()?;
        add(node, graph, after, count, Work::Host(HostCall::new(given.function, given.data)?))
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
