//! Steps of a program that record its launches in a graph.

use std::ops::Range;

use kernelmill::{Graph, GraphBuffer};

use super::{
    BUFFERS, Call, Cell, Program, STREAMS, stream,
    values::{elements, range},
};

/// The most launches of a graph, and the most times that it is launched.
const MOST: usize = 4;

/// A launch that was recorded.
struct Recorded {
    call: Call,
    written: usize,
    to: Range<usize>,
    read: usize,
    from: Range<usize>,
}

/// A buffer of a graph, with what is in it; nothing where that is undefined.
struct Inside {
    buffer: GraphBuffer<u32>,
    expected: Option<Vec<u32>>,
}

impl Program {
    /// Moves all buffers into a graph, launches it, and takes them out again or drops them with it.
    pub(super) fn graph(&mut self) {
        let builder = self.device.graph();
        let inside = |cell: Cell| Inside {
            buffer: builder.add(cell.buffer).expect("a buffer of the device"),
            expected: cell.expected,
        };
        let mut buffers: Vec<_> = std::mem::take(&mut self.cells).into_iter().map(inside).collect();
        let count = self.random.below(MOST + 1);
        let mut launches = Vec::new();
        for _ in 0..count {
            let recorded = self.recorded(&buffers);
            let pair = buffers.get_disjoint_mut([recorded.written, recorded.read]);
            let [y, x] = pair.expect("two buffers");
            let Recorded { call, ref to, ref from, .. } = recorded;
            let (x, mut y) = (x.buffer.slice(from.clone()), y.buffer.slice_mut(to.clone()));
            let done =
                (call.case.record)(&self.kernels, &builder, call.launch(), call.a, &x, &mut y);
            done.expect("the launch is within the limits");
            launches.push(recorded);
        }
        let mut graph = builder.instantiate().expect("a graph");
        if self.random.below(3) == 0 {
            self.reload();
        }
        for _ in 0..self.random.below(MOST + 1) {
            self.launch_graph(&mut graph, &launches, &mut buffers);
            self.use_between(&mut graph, &mut buffers);
        }
        self.leave(graph, buffers);
    }

    fn recorded(&mut self, buffers: &[Inside]) -> Recorded {
        let call = Call::new(&mut self.random);
        let written = self.random.below(BUFFERS);
        let read = (written + 1 + self.random.below(BUFFERS - 1)) % BUFFERS;
        let [to, from] =
            [written, read].map(|index| range(&mut self.random, buffers[index].buffer.len()));
        Recorded { call, written, to, read, from }
    }

    fn launch_graph(&mut self, graph: &mut Graph, launches: &[Recorded], buffers: &mut [Inside]) {
        let stream = &self.streams[self.random.below(STREAMS)];
        graph.launch(stream).expect("a graph of the device");
        self.launches += launches.len() as u64;
        for Recorded { call, written, to, read, from } in launches {
            let [y, x] = buffers.get_disjoint_mut([*written, *read]).expect("two buffers");
            let done = match (&mut y.expected, &x.expected) {
                (Some(y), Some(x)) => {
                    call.case.apply(call.shape, call.a, &x[from.clone()], &mut y[to.clone()])
                }
                // What is undefined may be an element for which the kernel panics.
                _ => Err(crate::pool::Panics),
            };
            if done.is_err() {
                y.expected = None;
                self.panics.launched();
            }
        }
    }

    /// What a program does with the buffers between two launches of their graph.
    fn use_between(&mut self, graph: &mut Graph, buffers: &mut [Inside]) {
        let Inside { buffer, expected } = &mut buffers[self.random.below(BUFFERS)];
        match self.random.below(4) {
            0 => {
                let elements = elements(&mut self.random, buffer.len());
                let mut slice = graph.slice_mut(buffer).expect("a buffer of the graph");
                self.panics.tolerate(|| slice.copy_from(&elements));
                *expected = Some(elements);
            }
            1 => {
                let slice = graph.slice(buffer).expect("a buffer of the graph");
                let found = self.panics.tolerated(|| slice.download()).expect("a download");
                if let Some(expected) = expected {
                    assert_eq!(&found, expected, "a buffer of a graph");
                }
            }
            2 => {
                let index = self.random.below(STREAMS);
                self.streams[index] = stream(&self.device, &mut self.random);
            }
            _ => {}
        }
    }

    /// Ends the graph, of which launches may still run.
    fn leave(&mut self, graph: Graph, buffers: Vec<Inside>) {
        if self.random.below(3) == 0 {
            drop(graph);
            let new = |_| Cell::new(&self.device, &mut self.random);
            self.cells = (0..BUFFERS).map(new).collect();
            return;
        }
        let mut outside = graph.into_buffers();
        let cell = |Inside { buffer, expected }| Cell {
            buffer: outside.take(buffer).expect("a buffer of the graph"),
            expected,
        };
        self.cells = buffers.into_iter().map(cell).collect();
    }
}
