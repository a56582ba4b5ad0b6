//! Graphs of a driver: kernel nodes with the order that their buffers ask for, launched all at once.
//!
//! As in the [CUDA C++ Programming Guide, "CUDA Graphs"](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-graphs);
//! HIP has the same functions. Nodes have the addresses of the panic records of the stream that they run on; so there
//! is an executable graph for each stream that the graph was launched on lately.

use std::{ptr, sync::Arc};

use super::{calls::Driver, image::Image, shared::Shared};
use crate::{
    error::Result,
    hal::{self, Node, StreamRef},
    limits::Checked,
};

/// The most executable graphs of a graph.
const MOST_EXECUTABLES: usize = 8;

/// Calls about graphs.
///
/// # Safety
///
/// The functions that take a handle need one that was made and not destroyed, of a context that is current.
pub(in crate::backend) trait GraphCalls: Driver {
    /// The driver's handles: of a graph, of a node of it, of an executable graph, and of a function.
    type Graph: Copy;
    type Node: Copy;
    type Executable: Copy;
    type Function: Copy;

    fn create_graph() -> Result<Self::Graph>;

    /// Adds a node that launches a function when others of the graph are done. There is a pointer for each argument, to as
    /// many bytes as it has; the driver copies them before it returns.
    unsafe fn add_kernel_node(
        graph: Self::Graph,
        dependencies: &[Self::Node],
        function: Self::Function,
        shape: &Checked,
        arguments: &mut [*const u8],
    ) -> Result<Self::Node>;

    unsafe fn destroy_graph(graph: Self::Graph) -> Result<()>;

    /// Makes an executable graph of all nodes of a graph.
    unsafe fn instantiate(graph: Self::Graph) -> Result<Self::Executable>;

    /// Queues all nodes, whose memory is there when the stream comes to them.
    unsafe fn launch_graph(executable: Self::Executable, stream: &Self::Stream) -> Result<()>;

    /// What runs of it goes on.
    unsafe fn destroy_executable(executable: Self::Executable) -> Result<()>;

    /// Queues that the number of a launch, in memory of the host, is that of none.
    unsafe fn forget_launch(number: u64, stream: &Self::Stream) -> Result<()>;
}

/// What of a function is in a node of a graph.
pub(in crate::backend) struct Launchable<D: GraphCalls> {
    pub(in crate::backend) handle: D::Function,
    pub(in crate::backend) image: Arc<Image<D>>,
    /// Whether it has a panic record.
    pub(in crate::backend) panics: bool,
}

/// A graph of kernel nodes.
pub(in crate::backend) struct Graph<D: GraphCalls> {
    // Dropped first: they have functions of the nodes' images.
    /// The one that was launched last is the last.
    executables: Vec<Executable<D>>,
    nodes: Vec<KernelNode<D>>,
    shared: Arc<Shared<D>>,
}

/// What is known of a node but for its panic record.
struct KernelNode<D: GraphCalls> {
    launchable: Launchable<D>,
    shape: Checked,
    /// To the arguments, and how many are the kernel's own.
    pointers: (Vec<*const u8>, usize),
    dependencies: Vec<usize>,
}

// SAFETY: the pointers are to arguments that outlive the graph, and are only read; the driver's handles can be used from
// every thread.
unsafe impl<D: GraphCalls> Send for KernelNode<D> {}
// SAFETY: as above.
unsafe impl<D: GraphCalls> Sync for KernelNode<D> {}

/// An executable graph, destroyed with this; what runs of it goes on.
struct Executable<D: GraphCalls> {
    handle: D::Executable,
    /// The address of the panic record of each node.
    records: Vec<u64>,
    driver: Arc<D>,
}

// SAFETY: the driver's handles can be used from every thread, one at a time.
unsafe impl<D: GraphCalls> Send for Executable<D> {}
// SAFETY: as above; it is launched through `&mut`.
unsafe impl<D: GraphCalls> Sync for Executable<D> {}

/// A graph that is being made, destroyed with this.
struct Template<'a, D: GraphCalls> {
    handle: D::Graph,
    driver: &'a D,
}

impl<D: GraphCalls> Graph<D> {
    /// The graph of these nodes, with the executable graph for the default stream. `launchable` says what of a function is in
    /// a node with so much dynamic shared memory; `None` where the launches of the graph are to be put on streams one by one.
    pub(in crate::backend) fn new(
        shared: &Arc<Shared<D>>,
        nodes: &[Node<'_>],
        launchable: impl Fn(&Node<'_>) -> Result<Option<Launchable<D>>>,
    ) -> Result<Option<Self>> {
        shared.bind()?;
        let mut own = Vec::with_capacity(nodes.len());
        for node in nodes {
            let Some(launchable) = launchable(node)? else { return Ok(None) };
            own.push(KernelNode {
                launchable,
                shape: node.shape,
                pointers: (node.arguments.pointers().to_vec(), node.arguments.own()),
                dependencies: node.dependencies.clone(),
            });
        }
        let mut graph = Self { nodes: own, executables: Vec::new(), shared: Arc::clone(shared) };
        let records = graph.records(shared.default_stream())?;
        graph.executables.push(graph.instantiate(records)?);
        Ok(Some(graph))
    }

    /// The address of the panic record of each node, for launches on a stream; 0 where it cannot panic.
    fn records(&self, stream: &Arc<D::Stream>) -> Result<Vec<u64>> {
        let record = |node: &KernelNode<D>| match node.launchable.panics {
            true => self.shared.panics.record(stream, &node.launchable.image),
            false => Ok(0),
        };
        self.nodes.iter().map(record).collect()
    }

    /// An executable graph whose nodes have these panic records.
    fn instantiate(&self, records: Vec<u64>) -> Result<Executable<D>> {
        let template = Template::new(&*self.shared.driver)?;
        let mut handles = Vec::with_capacity(self.nodes.len());
        for (node, record) in self.nodes.iter().zip(&records) {
            handles.push(template.add(node, *record, &handles)?);
        }
        // SAFETY: the template is a whole graph.
        let handle = unsafe { D::instantiate(template.handle)? };
        Ok(Executable { handle, records, driver: Arc::clone(&self.shared.driver) })
    }
}

impl<D: GraphCalls> hal::Graph for Graph<D> {
    unsafe fn launch(&mut self, stream: StreamRef<'_>) -> Result<()> {
        self.shared.bind()?;
        let stream = D::launch_stream(stream)?;
        let records = self.records(stream)?;
        // SAFETY: the number is in a record that is there, and of the launches on its stream alone.
        let forget = |number| unsafe { D::forget_launch(number, stream) };
        self.shared.panics.forget_launches(&records, forget)?;
        let found = self.executables.iter().position(|it| it.records == records);
        let executable = match found {
            Some(index) => self.executables.remove(index),
            None => self.instantiate(records)?,
        };
        let handle = executable.handle;
        if self.executables.len() == MOST_EXECUTABLES {
            self.executables.remove(0);
        }
        self.executables.push(executable);
        // SAFETY: the executable is of the stream's context, and the caller promises the memory.
        self.shared.timed(stream, || unsafe { D::launch_graph(handle, stream) })
    }
}

impl<'a, D: GraphCalls> Template<'a, D> {
    fn new(driver: &'a D) -> Result<Self> {
        Ok(Self { handle: D::create_graph()?, driver })
    }

    /// Adds a node, which depends on some of those before it.
    fn add(&self, node: &KernelNode<D>, record: u64, before: &[D::Node]) -> Result<D::Node> {
        let dependencies: Vec<_> = node.dependencies.iter().map(|index| before[*index]).collect();
        let (mut arguments, own) = node.pointers.clone();
        // It comes before the sizes, as for a launch.
        arguments.insert(own, ptr::from_ref(&record).cast());
        let (handle, shape) = (node.launchable.handle, &node.shape);
        // SAFETY: the function is loaded as long as the graph lives, and the arguments are there.
        unsafe { D::add_kernel_node(self.handle, &dependencies, handle, shape, &mut arguments) }
    }
}

impl<D: GraphCalls> Drop for Template<'_, D> {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once.
        self.driver.keep(unsafe { D::destroy_graph(self.handle) });
    }
}

impl<D: GraphCalls> Drop for Executable<D> {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once.
        self.driver.release(|| unsafe { D::destroy_executable(self.handle) });
    }
}

/// What the driver's functions are called for here.
pub(in crate::backend) fn subject() -> String {
    "a graph".to_owned()
}

/// What the number of a launch is forgotten for.
pub(in crate::backend) fn number() -> String {
    "the number of a launch".to_owned()
}
