//! Graphs: work that is recorded once and done many times.
//!
//! CUDA Driver API, "Graph Management".

use std::sync::{Arc, Mutex};

use cudarc::driver::sys::{CUgraphInstantiate_flags, CUgraphNodeType};

use super::node::{Content, Step};
use super::order;
use crate::base::error::{Error, Result};
use crate::base::handle::{Handle, Registry, lock};
use crate::work::{Plan, Work};

/// The graphs that exist.
pub(crate) static GRAPHS: Registry<Graph> = Registry::new(0xa1);
/// The nodes of all graphs.
pub(crate) static NODES: Registry<Node> = Registry::new(0xb1);
/// The instantiated graphs that exist.
pub(crate) static EXECUTABLES: Registry<Executable> = Registry::new(0xc1);

/// A graph.
pub(crate) struct Graph {
    pub(crate) handle: Handle,
    content: Mutex<Content>,
}

/// What the handle of a node means.
pub(crate) struct Node {
    handle: Handle,
    graph: Handle,
    index: usize,
}

/// A graph that can be launched.
pub(crate) struct Executable {
    pub(crate) handle: Handle,
    pub(crate) plan: Arc<Plan>,
}

impl Graph {
    /// A graph with this content, whose nodes get handles.
    pub(crate) fn create(content: Content) -> Arc<Self> {
        let graph = GRAPHS.add(|handle| Self { handle, content: Mutex::new(content) });
        for (index, step) in lock(&graph.content).nodes.iter_mut().enumerate() {
            step.handle = graph.node(index);
        }
        graph
    }

    fn node(&self, index: usize) -> Handle {
        NODES.add(|handle| Node { handle, graph: self.handle, index }).handle
    }

    /// Destroys a graph with its nodes; what was instantiated from it stays.
    pub(crate) fn destroy(handle: Handle) -> Result<()> {
        GRAPHS.remove(handle)?;
        NODES.remove_all(|node| node.graph == handle);
        Ok(())
    }

    /// A copy of the graph.
    pub(crate) fn duplicate(&self) -> Arc<Self> {
        let content = lock(&self.content).clone();
        Self::create(content)
    }

    /// Adds a node after others of the same graph.
    pub(crate) fn add(&self, work: Work, after: &[Handle]) -> Result<Handle> {
        let after = after.iter().map(|node| self.index(*node)).collect::<Result<_>>()?;
        let mut content = lock(&self.content);
        let handle = self.node(content.nodes.len());
        content.nodes.push(Step { handle, ..Step::new(work, after) });
        Ok(handle)
    }

    /// Adds an edge.
    pub(crate) fn connect(&self, from: Handle, to: Handle) -> Result<()> {
        let (from, to) = (self.index(from)?, self.index(to)?);
        let mut content = lock(&self.content);
        let after = &mut content.nodes[to].after;
        if from == to || after.contains(&from) {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        after.push(from);
        Ok(())
    }

    fn index(&self, node: Handle) -> Result<usize> {
        let node = NODES.get(node).map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)?;
        if node.graph == self.handle {
            Ok(node.index)
        } else {
            Err(Error::CUDA_ERROR_INVALID_VALUE)
        }
    }

    /// The handles of all nodes.
    pub(crate) fn nodes(&self) -> Vec<Handle> {
        lock(&self.content).nodes.iter().map(|step| step.handle).collect()
    }

    /// The handles of the nodes that come after no other.
    pub(crate) fn roots(&self) -> Vec<Handle> {
        let content = lock(&self.content);
        let roots = content.nodes.iter().filter(|step| step.after.is_empty());
        roots.map(|step| step.handle).collect()
    }

    /// All edges.
    pub(crate) fn edges(&self) -> Vec<(Handle, Handle)> {
        let content = lock(&self.content);
        let handle = |index: usize| content.nodes[index].handle;
        let into = |step: &Step| {
            let to = step.handle;
            step.after.iter().map(|&from| (handle(from), to)).collect::<Vec<_>>()
        };
        content.nodes.iter().flat_map(into).collect()
    }

    /// The work of the graph, for a launch.
    pub(crate) fn plan(&self) -> Result<Arc<Plan>> {
        let content = lock(&self.content);
        let order = order::topological(&content.nodes).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        let steps = order.into_iter().map(|index| content.nodes[index].work.clone()).collect();
        Ok(Arc::new(Plan::new(steps, Arc::clone(&content.memory))))
    }
}

/// The kind of a node.
pub(crate) fn node_kind(node: Handle) -> Result<CUgraphNodeType> {
    let node = NODES.get(node).map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)?;
    let graph = GRAPHS.get(node.graph)?;
    let kind = lock(&graph.content).nodes[node.index].kind;
    Ok(kind)
}

impl Executable {
    /// Makes a graph ready to be launched.
    pub(crate) fn create(graph: &Graph, flags: u64) -> Result<Arc<Self>> {
        const AUTO_FREE: u64 =
            flag(CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
        const UPLOAD: u64 = flag(CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
        const DEVICE_LAUNCH: u64 =
            flag(CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
        const PRIORITY: u64 =
            flag(CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
        const ALL: u64 = AUTO_FREE | UPLOAD | DEVICE_LAUNCH | PRIORITY;
        let both = AUTO_FREE | DEVICE_LAUNCH;
        if flags & !ALL != 0 || flags & both == both {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        if flags & DEVICE_LAUNCH != 0 {
            return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
        }
        let plan = graph.plan()?;
        Ok(EXECUTABLES.add(|handle| Self { handle, plan }))
    }
}

/// A flag, as the integer that it is.
const fn flag(flag: CUgraphInstantiate_flags) -> u64 {
    flag.0 as u64
}
