//! Graphs: work that is recorded once and done many times.

mod capture;
mod order;

use std::sync::{Arc, Mutex};

pub(crate) use capture::{Capture, Captured, begin, end, exchange_thread_mode};

use crate::{
    context::Context,
    error::{Error, Result},
    handle::{Handle, Registry, lock},
    memory,
    work::{Trouble, Work},
};

/// The graphs that exist.
pub(crate) static GRAPHS: Registry<Graph> = Registry::new(0xa1);
/// The nodes of all graphs.
pub(crate) static NODES: Registry<Node> = Registry::new(0xb1);
/// The instantiated graphs that exist.
pub(crate) static EXECUTABLES: Registry<Executable> = Registry::new(0xc1);

/// `CUgraphNodeType` of nodes that are no piece of work.
pub(crate) const EMPTY: i32 = 5;
pub(crate) const ALLOCATION: i32 = 10;
pub(crate) const RELEASE: i32 = 11;

/// A graph.
pub(crate) struct Graph {
    pub(crate) handle: Handle,
    content: Mutex<Content>,
}

/// What a graph consists of.
#[derive(Clone, Default)]
pub(crate) struct Content {
    pub(crate) nodes: Vec<Step>,
    memory: Arc<GraphMemory>,
}

/// A node, and the places of those before it.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) work: Work,
    pub(crate) kind: i32,
    pub(crate) after: Vec<usize>,
    /// Null in graphs that are still captured.
    handle: Handle,
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

/// The work of a graph, in an order that it can be done in.
pub(crate) struct Plan {
    steps: Vec<Work>,
    /// Kept as long as the plan can be run.
    _memory: Arc<GraphMemory>,
}

/// Memory that a graph has allocated while it was captured. Its addresses stay the same.
#[derive(Default)]
struct GraphMemory {
    addresses: Mutex<Vec<(u64, usize)>>,
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        for (address, ordinal) in lock(&self.addresses).drain(..) {
            memory::release(address, ordinal);
        }
    }
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
            return Err(Error::InvalidValue);
        }
        after.push(from);
        Ok(())
    }

    fn index(&self, node: Handle) -> Result<usize> {
        let node = NODES.get(node).map_err(|_| Error::InvalidValue)?;
        if node.graph == self.handle { Ok(node.index) } else { Err(Error::InvalidValue) }
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
        let order = order::topological(&content.nodes).ok_or(Error::InvalidValue)?;
        let steps = order.into_iter().map(|index| content.nodes[index].work.clone()).collect();
        Ok(Arc::new(Plan { steps, _memory: Arc::clone(&content.memory) }))
    }
}

/// The kind of a node.
pub(crate) fn node_kind(node: Handle) -> Result<i32> {
    let node = NODES.get(node).map_err(|_| Error::InvalidValue)?;
    let graph = GRAPHS.get(node.graph)?;
    let kind = lock(&graph.content).nodes[node.index].kind;
    Ok(kind)
}

impl Executable {
    /// Makes a graph ready to be launched.
    pub(crate) fn create(graph: &Graph, flags: u64) -> Result<Arc<Self>> {
        /// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`, `_DEVICE_LAUNCH` and all there are.
        const AUTO_FREE: u64 = 1;
        const DEVICE_LAUNCH: u64 = 4;
        const ALL: u64 = 15;
        let both = AUTO_FREE | DEVICE_LAUNCH;
        if flags & !ALL != 0 || flags & both == both {
            return Err(Error::InvalidValue);
        }
        if flags & DEVICE_LAUNCH != 0 {
            return Err(Error::NotSupported);
        }
        let plan = graph.plan()?;
        Ok(EXECUTABLES.add(|handle| Self { handle, plan }))
    }
}

impl Plan {
    /// Does the work.
    pub(crate) fn run(&self, context: &Arc<Context>) -> Result<(), Trouble> {
        self.steps.iter().try_for_each(|work| work.run(context))
    }
}
