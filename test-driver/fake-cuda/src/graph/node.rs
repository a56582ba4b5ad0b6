//! Nodes of graphs.

use std::sync::Arc;

use crate::base::handle::Handle;
use crate::memory::GraphMemory;
use crate::work::Work;

/// `CUgraphNodeType` of nodes that are no piece of work.
pub(crate) const EMPTY: i32 = 5;
pub(crate) const ALLOCATION: i32 = 10;
pub(crate) const RELEASE: i32 = 11;

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
    pub(crate) kind: i32,
    pub(crate) after: Vec<usize>,
    /// Null in graphs that are still captured.
    pub(super) handle: Handle,
}

impl Step {
    /// A node for a piece of work.
    pub(crate) fn new(work: Work, after: Vec<usize>) -> Self {
        let kind = match &work {
            Work::Launch(_) => 0,
            Work::Copy(_) => 1,
            Work::Fill(_) => 2,
            Work::Host(_) => 3,
            Work::Graph(_) => 4,
            Work::Nothing | Work::Callback(_) | Work::Release(_) | Work::Stamp(_) => EMPTY,
        };
        Self { work, kind, after, handle: Handle::NULL }
    }
}
