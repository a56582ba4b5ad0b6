//! CUDA graphs: kernel nodes with the order that their buffers ask for, launched all at once.
//!
//! [CUDA Driver API, "Graph Management"](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__GRAPH.html).
//! Nodes have the addresses of the panic records of the stream that they run on; so there is an executable
//! graph for each stream that the graph was launched on lately.

use std::{ffi::c_uint, mem::MaybeUninit, ptr, sync::Arc};

use cudarc::driver::{CudaStream, result as raw, sys};

use super::{
    driver::named,
    driver_context::{DriverContext, Shared},
    launch::{Function, Launchable},
    order,
};
use crate::{
    backend::gpu::calls::ContextCalls as _,
    error::Result,
    hal::{self, Node, StreamRef},
    limits::Checked,
};

/// The most executable graphs of a graph.
const MOST_EXECUTABLES: usize = 8;

/// A graph of kernel nodes.
pub(super) struct Graph {
    nodes: Vec<KernelNode>,
    /// The one that was launched last is the last.
    executables: Vec<Executable>,
    shared: Arc<Shared>,
}

/// What is known of a node but for its panic record.
struct KernelNode {
    launchable: Launchable,
    shape: Checked,
    /// To the arguments, and how many are the kernel's own.
    pointers: (Vec<*const u8>, usize),
    dependencies: Vec<usize>,
}

// SAFETY: the pointers are to arguments that outlive the graph, and are only read.
unsafe impl Send for KernelNode {}
// SAFETY: as above.
unsafe impl Sync for KernelNode {}

/// An executable graph, destroyed with this; what runs of it goes on.
struct Executable {
    handle: sys::CUgraphExec,
    /// The address of the panic record of each node.
    records: Vec<u64>,
    driver: Arc<DriverContext>,
}

// SAFETY: the driver's handles can be used from every thread, one at a time.
unsafe impl Send for Executable {}
// SAFETY: as above; it is launched through `&mut`.
unsafe impl Sync for Executable {}

/// A graph that is being made, destroyed with this.
struct Template<'a> {
    handle: sys::CUgraph,
    driver: &'a DriverContext,
}

impl Graph {
    /// The graph of these nodes, with the executable graph for the default stream.
    pub(super) fn new(shared: &Arc<Shared>, nodes: &[Node<'_>]) -> Result<Option<Self>> {
        shared.bind()?;
        let mut own = Vec::with_capacity(nodes.len());
        for node in nodes {
            let any: &dyn std::any::Any = node.function;
            let Some(function) = any.downcast_ref::<Function>() else { return Ok(None) };
            own.push(KernelNode {
                launchable: function.launchable(node.shape.dynamic_shared_bytes)?,
                shape: node.shape,
                pointers: (node.arguments.pointers().to_vec(), node.arguments.own()),
                dependencies: node.dependencies.clone(),
            });
        }
        let mut graph = Self { nodes: own, executables: Vec::new(), shared: Arc::clone(shared) };
        let records = graph.records(&shared.stream)?;
        graph.executables.push(graph.instantiate(records)?);
        Ok(Some(graph))
    }

    /// The address of the panic record of each node, for launches on a stream.
    fn records(&self, stream: &Arc<CudaStream>) -> Result<Vec<u64>> {
        let record = |node: &KernelNode| node.launchable.record(&self.shared.panics, stream);
        self.nodes.iter().map(record).collect()
    }

    /// An executable graph whose nodes have these panic records.
    fn instantiate(&self, records: Vec<u64>) -> Result<Executable> {
        let template = Template::new(&self.shared.driver)?;
        let mut handles = Vec::with_capacity(self.nodes.len());
        for (node, record) in self.nodes.iter().zip(&records) {
            handles.push(template.add(node, *record, &handles)?);
        }
        let mut handle = ptr::null_mut();
        // SAFETY: the template is a whole graph.
        let made = unsafe { sys::cuGraphInstantiateWithFlags(&mut handle, template.handle, 0) };
        named(made.result(), "cuGraphInstantiateWithFlags", subject)?;
        Ok(Executable { handle, records, driver: Arc::clone(&self.shared.driver) })
    }
}

impl hal::Graph for Graph {
    unsafe fn launch(&mut self, stream: StreamRef<'_>) -> Result<()> {
        self.shared.bind()?;
        let stream = order::launch_stream(stream)?;
        let records = self.records(stream)?;
        self.shared.panics.forget_launches(&records, |number| forget_launch(number, stream))?;
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
        let launch = || unsafe { sys::cuGraphLaunch(handle, stream.cu_stream()) };
        self.shared.timed(stream, || named(launch().result(), "cuGraphLaunch", subject))
    }
}

impl<'a> Template<'a> {
    fn new(driver: &'a DriverContext) -> Result<Self> {
        let mut handle = ptr::null_mut();
        // SAFETY: the place is this function's own.
        let made = unsafe { sys::cuGraphCreate(&mut handle, 0) };
        named(made.result(), "cuGraphCreate", subject)?;
        Ok(Self { handle, driver })
    }

    /// Adds a node, which depends on some of those before it.
    fn add(
        &self,
        node: &KernelNode,
        record: u64,
        before: &[sys::CUgraphNode],
    ) -> Result<sys::CUgraphNode> {
        let dependencies: Vec<_> = node.dependencies.iter().map(|index| before[*index]).collect();
        let (mut arguments, own) = node.pointers.clone();
        // It comes before the sizes, as for a launch.
        arguments.insert(own, ptr::from_ref(&record).cast());
        let ([gx, gy, gz], [bx, by, bz]) = (node.shape.grid, node.shape.block);
        let mut parameters = MaybeUninit::<sys::CUDA_KERNEL_NODE_PARAMS>::zeroed();
        // SAFETY: null is a value of every pointer in it, and 0 of every number.
        let parameters = unsafe { parameters.assume_init_mut() };
        parameters.func = node.launchable.handle();
        (parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ) = (gx, gy, gz);
        (parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ) = (bx, by, bz);
        parameters.sharedMemBytes = node.shape.dynamic_shared_bytes as c_uint;
        parameters.kernelParams = arguments.as_mut_ptr().cast();
        let mut handle = ptr::null_mut();
        // SAFETY: the function is loaded as long as the graph lives, and the driver copies the arguments,
        // which are there, before it returns.
        let added = unsafe {
            sys::cuGraphAddKernelNode_v2(
                &mut handle,
                self.handle,
                dependencies.as_ptr(),
                dependencies.len(),
                parameters,
            )
        };
        named(added.result(), "cuGraphAddKernelNode", subject)?;
        Ok(handle)
    }
}

impl Drop for Template<'_> {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once.
        let destroyed = unsafe { sys::cuGraphDestroy(self.handle) };
        self.driver.keep(named(destroyed.result(), "cuGraphDestroy", subject));
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        let destroy = || {
            // SAFETY: created once, destroyed once.
            let destroyed = unsafe { sys::cuGraphExecDestroy(self.handle) };
            named(destroyed.result(), "cuGraphExecDestroy", subject)
        };
        self.driver.release(destroy);
    }
}

/// Puts on a stream that the number of a launch, in memory of the host, is that of none.
fn forget_launch(number: u64, stream: &CudaStream) -> Result<()> {
    // SAFETY: the number is in a record that is there, and of the launches on its stream alone.
    let forgotten =
        unsafe { raw::memset_d8_async(number, 0xff, size_of::<u64>(), stream.cu_stream()) };
    named(forgotten, "cuMemsetD8Async", || "the number of a launch".to_owned())
}

/// What the driver's functions are called for here.
fn subject() -> String {
    "a graph".to_owned()
}
