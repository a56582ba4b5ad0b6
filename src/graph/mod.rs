//! Graphs: launches that are recorded once and launched many times, with the buffers that they use.
//!
//! The executable graphs of CUDA ([CUDA C++ Programming Guide, "CUDA Graphs"](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-graphs))
//! and HIP. A graph owns its buffers, so none is freed while it lives, and a launch of it borrows it for
//! writing, so that nobody else uses them meanwhile: the rules of a buffer hold by the borrow checker. What
//! it cannot see, a handle of another graph, is an error at run time.

mod buffer;
mod recorder;

/// The examples of the book's page.
#[cfg(doctest)]
#[doc = include_str!("../../docs/src/guide/graphs.md")]
pub struct Guide;

use std::{fmt, marker::PhantomData};

pub use self::buffer::{GraphBuffer, GraphSlice, GraphSliceMut};
pub(crate) use self::recorder::Recorder;
use self::recorder::{RecordedLaunch, StoredBuffer};
use crate::{
    argument::{LaunchStream, sealed::Sealed},
    buffer::Buffer,
    copy::DeviceCopy,
    device::Device,
    error::{Error, Result},
    hal::{self, ErrorSlot, Guard, StreamRef},
    slice::{BufferSlice, BufferSliceMut},
    trace,
};

/// A graph that is being recorded. Launches on it are not run but recorded.
///
/// ```
/// # /* What the next line brings in is written by the build script:
/// mod kernels { kernelmill::include_kernels!(); }
/// # */
/// # use kernelmill::{Device, Launch, LaunchStream, ReadSlice, Result, WriteSlice};
/// # struct Kernels;
/// # impl Kernels {
/// #     fn load(_: &Device) -> Result<Self> { Ok(Self) }
/// #     fn saxpy(
/// #         &self, stream: &impl LaunchStream, _: Launch<1>, a: f32, x: impl ReadSlice<f32>, y: impl WriteSlice<f32>,
/// #     ) -> Result<()> {
/// #         use kernelmill::__codegen as cg;
/// #         let stream = cg::stream(stream);
/// #         cg::read(x, stream)?;
/// #         cg::write(y, stream).map(drop)
/// #     }
/// # }
/// let device = Device::cpu()?;
/// let kernels = Kernels::load(&device)?;
///
/// let builder = device.graph();
/// let x = builder.add(device.upload(&[1.0f32; 1000])?)?;
/// let mut y = builder.add(device.zeros::<f32>(1000)?)?;
/// kernels.saxpy(&builder, Launch::linear(1000), 2.0, &x, &mut y)?;
/// kernels.saxpy(&builder, Launch::linear(1000), 3.0, &x, &mut y)?;
/// let mut graph = builder.instantiate()?;
///
/// let stream = device.stream();
/// for _ in 0..10 {
///     graph.launch(&stream)?;
/// }
/// let sums = graph.slice(&y)?.download()?;
/// # assert_eq!(sums.len(), 1000);
/// # Ok::<(), kernelmill::Error>(())
/// ```
///
/// It records for one thread: launches keep the order in which they are recorded.
///
/// ```compile_fail,E0277
/// fn used_by_several_threads<T: Sync>() {}
/// used_by_several_threads::<kernelmill::GraphBuilder>();
/// ```
pub struct GraphBuilder {
    device: Device,
    recorder: Recorder,
    /// One thread at a time: the uses of a launch are those that were noted since the one before.
    marker: PhantomData<std::cell::Cell<()>>,
}

/// Launches that can be launched again and again, with the buffers that they use.
///
/// Made by [`GraphBuilder::instantiate`]. Its launches run as if they were launched in their order. On CUDA
/// and HIP those that share no buffer can run at the same time, and one call launches all. Modules of its kernels
/// stay loaded while it lives.
///
/// Its buffers are used between launches, as a [`BufferSlice`] or a [`BufferSliceMut`]. A slice cannot be
/// kept over a launch:
///
/// ```compile_fail,E0502
/// # fn f(mut graph: kernelmill::Graph, x: kernelmill::GraphBuffer<f32>, stream: kernelmill::Stream) -> kernelmill::Result<()> {
/// let slice = graph.slice(&x)?;
/// graph.launch(&stream)?;
/// slice.download()?;
/// # Ok(()) }
/// ```
pub struct Graph {
    // Dropped first: it refers to kernels and arguments of the launches.
    executable: Option<Box<dyn hal::Graph>>,
    // Before the buffers, for their modules wait for what runs.
    launches: Vec<RecordedLaunch>,
    buffers: Vec<StoredBuffer>,
    /// For each buffer how launches use it.
    uses: Vec<Access>,
    device: Device,
    id: u64,
}

/// How the launches of a graph use a buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    Nothing,
    Read,
    Write,
}

/// The buffers of a graph that is gone, for [`Graph::into_buffers`].
pub struct GraphBuffers {
    buffers: Vec<Option<StoredBuffer>>,
    device: Device,
    id: u64,
}

impl Device {
    /// A graph to record launches on this device in.
    #[must_use]
    pub fn graph(&self) -> GraphBuilder {
        let recorder = Recorder::new(self.clone());
        GraphBuilder { device: self.clone(), recorder, marker: PhantomData }
    }
}

impl GraphBuilder {
    /// Moves a buffer into the graph. What is returned stands for it in launches on this builder, as the
    /// buffer did in others.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] for a buffer of another device.
    pub fn add<T: DeviceCopy>(&self, buffer: Buffer<T>) -> Result<GraphBuffer<T>> {
        if buffer.device() != &self.device {
            return Err(Error::WrongDevice {
                subject: format!("a buffer of {} elements", buffer.len()),
                found: buffer.device().to_string(),
                expected: self.device.to_string(),
            });
        }
        let (memory, len) = buffer.into_parts();
        let address = memory.as_ref().map(|memory| memory.address());
        let index = self.recorder.add(memory);
        Ok(GraphBuffer::new(self.recorder.id(), index, address, len))
    }

    /// Ends the recording.
    ///
    /// # Errors
    ///
    /// What the driver reports.
    pub fn instantiate(self) -> Result<Graph> {
        let id = self.recorder.id();
        let (launches, buffers) = self.recorder.into_parts();
        let mut uses = vec![Access::Nothing; buffers.len()];
        for used in launches.iter().flat_map(RecordedLaunch::uses) {
            let access = if used.writes { Access::Write } else { Access::Read };
            uses[used.buffer] = uses[used.buffer].max(access);
        }
        let mut graph =
            Graph { executable: None, launches, buffers, uses, device: self.device, id };
        let nodes = recorder::nodes(&graph.launches);
        if !nodes.is_empty() {
            // SAFETY: the graph keeps the launches, and drops them after the executable.
            graph.executable = unsafe { graph.device.context().instantiate(&nodes)? };
        }
        drop(nodes);
        Ok(graph)
    }
}

impl Graph {
    /// Puts all launches of the graph on a stream. They wait for what else uses the graph's buffers, and
    /// what uses them later waits for them.
    ///
    /// # Errors
    ///
    /// As a launch: [`Error::WrongDevice`] for a stream of another device, and what the driver reports. A
    /// panic of a kernel is reported by the stream or a buffer, as that of any launch.
    pub fn launch(&mut self, stream: &impl LaunchStream) -> Result<()> {
        let stream = stream.stream();
        if !self.device.context().accepts(&stream) {
            return Err(Error::WrongDevice {
                subject: "a graph".to_owned(),
                found: self.device.to_string(),
                expected: stream.describe().to_owned(),
            });
        }
        let mut guards = Vec::with_capacity(self.buffers.len());
        for (buffer, access) in self.buffers.iter_mut().zip(&self.uses) {
            guards.push(buffer.hold(*access, stream)?);
        }
        match &mut self.executable {
            // SAFETY: the memory is held, and the stream is of this device.
            Some(executable) => unsafe {
                let _span = trace::span(|| {
                    let arguments = vec![
                        ("device", self.device.to_string()),
                        ("launches", self.launches.len().to_string()),
                    ];
                    trace::About { category: "launch", name: "graph".into(), arguments }
                });
                executable.launch(stream)
            },
            None => replay(&self.launches, stream, &guards),
        }
    }

    /// The elements of a buffer, to read.
    ///
    /// # Errors
    ///
    /// [`Error::NotInGraph`] for a buffer of another graph.
    pub fn slice<T>(&self, buffer: &GraphBuffer<T>) -> Result<BufferSlice<'_, T>> {
        buffer.check(self.id)?;
        let stored = &self.buffers[buffer.index()];
        Ok(BufferSlice::new(&self.device, stored.memory.as_deref(), 0..buffer.len()))
    }

    /// The elements of a buffer, to write.
    ///
    /// # Errors
    ///
    /// [`Error::NotInGraph`] for a buffer of another graph.
    pub fn slice_mut<T>(&mut self, buffer: &GraphBuffer<T>) -> Result<BufferSliceMut<'_, T>> {
        buffer.check(self.id)?;
        let memory = self.buffers[buffer.index()].memory.as_mut();
        let memory = memory.map(|memory| &mut **memory as &mut dyn hal::Memory);
        Ok(BufferSliceMut::new(&self.device, memory, 0..buffer.len()))
    }

    /// Ends the graph, and gives its buffers back.
    ///
    /// ```
    /// let device = kernelmill::Device::cpu()?;
    /// let builder = device.graph();
    /// let x = builder.add(device.upload(&[1u8, 2, 3])?)?;
    /// let graph = builder.instantiate()?;
    /// assert_eq!(graph.into_buffers().take(x)?.download()?, [1, 2, 3]);
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    #[must_use]
    pub fn into_buffers(self) -> GraphBuffers {
        let buffers = self.buffers.into_iter().map(Some).collect();
        GraphBuffers { buffers, device: self.device, id: self.id }
    }

    /// The device of this graph.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }
}

/// Runs launches one after the other, where launches have run when they return.
///
/// # Errors
///
/// Those of a launch whose memory one before it has lost: it may use it for ever.
fn replay(launches: &[RecordedLaunch], stream: StreamRef<'_>, guards: &[Guard<'_>]) -> Result<()> {
    for launch in launches {
        let slots = || launch.uses().iter().filter_map(|used| guards[used.buffer].errors());
        slots().try_for_each(ErrorSlot::check)?;
        // SAFETY: the memory of the launch is held, and the stream is of its device.
        if let Some(error) = unsafe { launch.run(stream)? } {
            slots().for_each(|slot| slot.keep(&error));
        }
    }
    Ok(())
}

impl StoredBuffer {
    /// Holds the memory for a launch of the graph.
    fn hold<'a>(&'a mut self, access: Access, stream: StreamRef<'a>) -> Result<Guard<'a>> {
        let mut guard = Guard::Nothing;
        match (&mut self.memory, access) {
            (None, _) | (_, Access::Nothing) => 0,
            (Some(memory), Access::Read) => memory.hold_read(&stream, &mut guard)?,
            (Some(memory), Access::Write) => memory.hold_write(&stream, &mut guard)?,
        };
        Ok(guard)
    }
}

impl GraphBuffers {
    /// A buffer, with what the last launch of the graph has left in it.
    ///
    /// # Errors
    ///
    /// [`Error::NotInGraph`] for a buffer of another graph.
    pub fn take<T>(&mut self, buffer: GraphBuffer<T>) -> Result<Buffer<T>> {
        buffer.check(self.id)?;
        // A handle is no copy of another, so nobody has taken it before.
        let stored = self.buffers[buffer.index()].take().expect("there is one handle a buffer");
        Ok(Buffer::from_parts(&self.device, stored.memory, buffer.len()))
    }
}

impl Sealed for GraphBuilder {}

impl LaunchStream for GraphBuilder {
    fn stream(&self) -> StreamRef<'_> {
        StreamRef::new(&self.recorder)
    }
}

impl fmt::Debug for GraphBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("GraphBuilder").field("device", &self.device).finish_non_exhaustive()
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Graph")
            .field("device", &self.device)
            .field("launches", &self.launches.len())
            .field("buffers", &self.buffers.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for GraphBuffers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("GraphBuffers").field("device", &self.device).finish_non_exhaustive()
    }
}
