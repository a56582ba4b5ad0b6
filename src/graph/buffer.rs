//! Buffers of a graph: handles of what was moved into it.
//!
//! A handle is an argument while the graph is recorded, and names the buffer afterwards. There is one for
//! each buffer, so that the borrow checker sees, as for a buffer, that a launch which writes has it alone.

use std::{fmt, marker::PhantomData, ops::Range, ops::RangeBounds};

use super::recorder::{BufferUse, Recorder};
use crate::{
    argument::{Held, ReadSlice, WriteSlice, sealed::Sealed},
    copy::DeviceCopy,
    error::{Error, Result},
    hal::StreamRef,
    slice::resolve,
};

/// A buffer that was moved into a graph with [`GraphBuilder::add`](crate::GraphBuilder::add).
///
/// `&x` and `&mut x` are arguments of launches that are recorded, as those of a
/// [`Buffer`](crate::Buffer) are of others:
///
/// ```compile_fail,E0502
/// # use kernelmill::{GraphBuffer, GraphBuilder, LaunchStream, ReadSlice, WriteSlice};
/// # fn add(_: &impl LaunchStream, _: impl ReadSlice<f32>, _: impl WriteSlice<f32>) {}
/// # fn f(builder: GraphBuilder, mut x: GraphBuffer<f32>) {
/// add(&builder, &x, &mut x);
/// # }
/// ```
///
/// The buffer itself is the graph's:
///
/// ```compile_fail,E0382
/// # fn f(builder: kernelmill::GraphBuilder, x: kernelmill::Buffer<f32>) -> kernelmill::Result<()> {
/// let inside = builder.add(x)?;
/// x.download()?;
/// # Ok(()) }
/// ```
pub struct GraphBuffer<T> {
    graph: u64,
    index: usize,
    /// `None`: no bytes.
    address: Option<u64>,
    len: usize,
    marker: PhantomData<fn() -> T>,
}

/// Elements of a [`GraphBuffer`] that a recorded launch reads.
pub struct GraphSlice<'a, T> {
    buffer: &'a GraphBuffer<T>,
    range: Range<usize>,
}

/// Elements of a [`GraphBuffer`] that a recorded launch writes.
pub struct GraphSliceMut<'a, T> {
    buffer: &'a mut GraphBuffer<T>,
    range: Range<usize>,
}

impl<T> GraphBuffer<T> {
    pub(super) fn new(graph: u64, index: usize, address: Option<u64>, len: usize) -> Self {
        Self { graph, index, address, len, marker: PhantomData }
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements in `range`, as an argument for kernels that read.
    ///
    /// # Panics
    ///
    /// If `range` is not within the buffer.
    #[must_use]
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> GraphSlice<'_, T> {
        GraphSlice { range: resolve(&range, self.len), buffer: self }
    }

    /// The elements in `range`, as an argument for kernels that write.
    ///
    /// # Panics
    ///
    /// If `range` is not within the buffer.
    #[must_use]
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> GraphSliceMut<'_, T> {
        GraphSliceMut { range: resolve(&range, self.len), buffer: self }
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Checks that it is of the graph with this identity.
    pub(super) fn check(&self, graph: u64) -> Result<()> {
        if self.graph == graph {
            return Ok(());
        }
        Err(Error::NotInGraph { subject: format!("a graph's buffer of {} elements", self.len) })
    }

    /// Notes a use of the elements in `range` by the launch that is being recorded on `stream`.
    fn hold_range<'s>(
        &self,
        range: &Range<usize>,
        stream: &StreamRef<'s>,
        writes: bool,
        held: &mut Held<'s, T>,
    ) -> Result<()> {
        let recorder = stream.downcast::<Recorder>();
        let Some(recorder) = recorder.filter(|recorder| recorder.id() == self.graph) else {
            let subject = format!("a graph's buffer of {} elements", self.len);
            return Err(Error::NotInGraph { subject });
        };
        recorder.note(BufferUse { buffer: self.index, writes });
        let offset = (range.start * size_of::<T>()) as u64;
        held.set(self.address.map(|address| address + offset), range.len());
        Ok(())
    }
}

impl<T> Sealed for &GraphBuffer<T> {}
impl<T> Sealed for &mut GraphBuffer<T> {}
impl<T> Sealed for &GraphSlice<'_, T> {}
impl<T> Sealed for &mut GraphSliceMut<'_, T> {}

impl<T: DeviceCopy> ReadSlice<T> for &GraphBuffer<T> {
    fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
    where
        Self: 's,
    {
        self.hold_range(&(0..self.len), stream, false, held)
    }
}

impl<T: DeviceCopy> WriteSlice<T> for &mut GraphBuffer<T> {
    fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
    where
        Self: 's,
    {
        self.hold_range(&(0..self.len), stream, true, held)
    }
}

impl<T: DeviceCopy> ReadSlice<T> for &GraphSlice<'_, T> {
    fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
    where
        Self: 's,
    {
        self.buffer.hold_range(&self.range, stream, false, held)
    }
}

impl<T: DeviceCopy> WriteSlice<T> for &mut GraphSliceMut<'_, T> {
    fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
    where
        Self: 's,
    {
        self.buffer.hold_range(&self.range, stream, true, held)
    }
}

impl<T> fmt::Debug for GraphBuffer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("GraphBuffer")
            .field("element", &std::any::type_name::<T>())
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for GraphSlice<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("GraphSlice").field("range", &self.range).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for GraphSliceMut<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("GraphSliceMut").field("range", &self.range).finish_non_exhaustive()
    }
}
