//! Nodes of graphs.

use std::sync::Arc;

use cudarc::driver::sys::CUgraphNodeType;

use crate::base::handle::Handle;
use crate::memory::GraphMemory;
use crate::work::Work;

/// What a graph consists of.
#[derive(Clone, Default)]
pub(crate) struct Content {
    pub(crate) nodes: Vec<Step>,
    pub(super) memory: Arc<GraphMemory>,
}

/// A node, and the places of those before it.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) work: Work,
    pub(crate) kind: CUgraphNodeType,
    pub(crate) after: Vec<usize>,
    /// Null in graphs that are still captured.
    pub(super) handle: Handle,
}

impl Step {
    /// A node for a piece of work.
    pub(crate) fn new(work: Work, after: Vec<usize>) -> Self {
        let kind = match &work {
            Work::Launch(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL,
            Work::Copy(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY,
            Work::Fill(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET,
            Work::Host(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST,
            Work::Graph(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH,
            Work::Nothing
            | Work::Callback(_)
            | Work::Wait(_)
            | Work::Release(_)
            | Work::Stamp(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY,
        };
        Self { work, kind, after, handle: Handle::NULL }
    }
}
