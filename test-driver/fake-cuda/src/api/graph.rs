//! Graphs.
//!
//! CUDA Driver API, "Graph Management".

use std::{
    ffi::{c_uint, c_ulonglong},
    sync::Arc,
};

use super::call::call;
use crate::base::abi::{In, InOut, Out, field};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::context;
use crate::graph::{self, Content, EXECUTABLES, Executable, GRAPHS, Graph};
use crate::work::Work;
use cudarc::driver::sys::{
    CUDA_GRAPH_INSTANTIATE_PARAMS, CUgraphInstantiateResult, CUgraphNodeType, CUresult, CUstream,
};

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphCreate(created: Out<Handle>, flags: c_uint) -> CUresult {
    call("cuGraphCreate", || {
        created.check()?;
        if flags != 0 {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        created.set(Graph::create(Content::default()).handle)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphClone(created: Out<Handle>, graph: Handle) -> CUresult {
    call("cuGraphClone", || {
        created.check()?;
        created.set(GRAPHS.get(graph)?.duplicate().handle)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphDestroy(graph: Handle) -> CUresult {
    call("cuGraphDestroy", || Graph::destroy(graph))
}

fn instantiate(created: Out<Handle>, graph: Handle, flags: c_ulonglong) -> Result<()> {
    created.check()?;
    created.set(Executable::create(&*GRAPHS.get(graph)?, flags)?.handle)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphInstantiateWithFlags(
    created: Out<Handle>,
    graph: Handle,
    flags: c_ulonglong,
) -> CUresult {
    call("cuGraphInstantiateWithFlags", || instantiate(created, graph, flags))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphInstantiateWithParams(
    created: Out<Handle>,
    graph: Handle,
    parameters: InOut<CUDA_GRAPH_INSTANTIATE_PARAMS>,
) -> CUresult {
    call("cuGraphInstantiateWithParams", || {
        // What the result is before the call is up to the caller, so that only the inputs are read.
        let flags = field!(parameters.input(), CUDA_GRAPH_INSTANTIATE_PARAMS, flags as u64)?;
        let stream =
            field!(parameters.input(), CUDA_GRAPH_INSTANTIATE_PARAMS, hUploadStream as usize)?;
        let done = instantiate(created, graph, flags);
        parameters.output().set(CUDA_GRAPH_INSTANTIATE_PARAMS {
            flags,
            hUploadStream: stream as CUstream,
            hErrNode_out: std::ptr::null_mut(),
            result_out: match done {
                Ok(()) => CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_SUCCESS,
                Err(_) => CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_ERROR,
            },
        })?;
        done
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphExecDestroy(executable: Handle) -> CUresult {
    call("cuGraphExecDestroy", || EXECUTABLES.remove(executable).map(drop))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphLaunch(executable: Handle, stream: Handle) -> CUresult {
    call("cuGraphLaunch", || {
        let (_, stream) = context::resolve(stream)?;
        let plan = Arc::clone(&EXECUTABLES.get(executable)?.plan);
        stream.submit(Work::Graph(plan))
    })
}

/// There is nothing to upload.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphUpload(executable: Handle, stream: Handle) -> CUresult {
    call("cuGraphUpload", || {
        context::resolve(stream)?;
        EXECUTABLES.get(executable).map(drop)
    })
}

/// Writes a list: as many as there is room for, or only their number where there is no room.
fn list(handles: &[Handle], targets: Out<Handle>, count: InOut<usize>) -> Result<()> {
    if targets.is_null() {
        return count.exchange(handles.len());
    }
    let room = count.get()?;
    let padded = handles.iter().copied().chain(std::iter::repeat(Handle::NULL));
    targets.elements(room).zip(padded).try_for_each(|(target, handle)| target.set(handle))?;
    count.exchange(room.min(handles.len()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphGetNodes(
    graph: Handle,
    nodes: Out<Handle>,
    count: InOut<usize>,
) -> CUresult {
    call("cuGraphGetNodes", || list(&GRAPHS.get(graph)?.nodes(), nodes, count))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphGetRootNodes(
    graph: Handle,
    nodes: Out<Handle>,
    count: InOut<usize>,
) -> CUresult {
    call("cuGraphGetRootNodes", || list(&GRAPHS.get(graph)?.roots(), nodes, count))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphGetEdges(
    graph: Handle,
    from: Out<Handle>,
    to: Out<Handle>,
    count: InOut<usize>,
) -> CUresult {
    call("cuGraphGetEdges", || {
        let (starts, ends): (Vec<_>, Vec<_>) = GRAPHS.get(graph)?.edges().into_iter().unzip();
        if from.is_null() != to.is_null() {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        let room = if from.is_null() { 0 } else { count.get()? };
        list(&starts, from, count)?;
        if room > 0 {
            count.exchange(room)?;
        }
        list(&ends, to, count)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphNodeGetType(node: Handle, kind: Out<CUgraphNodeType>) -> CUresult {
    call("cuGraphNodeGetType", || kind.set(graph::node_kind(node)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGraphAddDependencies(
    graph: Handle,
    from: In<Handle>,
    to: In<Handle>,
    count: usize,
) -> CUresult {
    call("cuGraphAddDependencies", || {
        let graph = GRAPHS.get(graph)?;
        let pairs = from.elements(count)?.into_iter().zip(to.elements(count)?);
        pairs.into_iter().try_for_each(|(from, to)| graph.connect(from, to))
    })
}
