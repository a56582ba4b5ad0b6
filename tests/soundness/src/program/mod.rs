//! A random program: its state, its steps, and what it expects.

mod graphs;
mod panics;
mod pinned;
mod prepared;
mod values;

use std::thread;

use kernelmill::{Backend, Buffer, Device, Launch, Stream, module_cache};
use test_support::Random;

use self::{
    panics::Panics,
    values::{elements, range},
};
use crate::{
    kernels::Kernels,
    pool::{CASES, Case, Shape},
};

/// Buffers of a program.
const BUFFERS: usize = 4;
/// Streams of a program.
const STREAMS: usize = 3;
/// Steps of a program.
const STEPS: usize = 30;
/// The most elements of a buffer.
const LONGEST: usize = 150;

/// A buffer, with what is in it.
#[derive(Debug)]
struct Cell {
    buffer: Buffer<u32>,
    /// Nothing after a launch that panicked: what it has written is undefined.
    expected: Option<Vec<u32>>,
}

/// A random program of safe code.
#[derive(Debug)]
pub struct Program {
    random: Random,
    device: Device,
    kernels: Kernels,
    streams: Vec<Stream>,
    cells: Vec<Cell>,
    panics: Panics,
    launches: u64,
}

/// What programs have done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// Launches.
    pub launches: u64,
    /// Of these, those that panicked.
    pub panics: u64,
}

/// A launch that a program makes: a kernel, its threads and its number.
#[derive(Clone, Copy)]
struct Call {
    case: &'static Case,
    shape: Shape,
    a: u32,
}

impl Call {
    fn new(random: &mut Random) -> Self {
        let case = &CASES[random.below(CASES.len())];
        let threads = [1, 32, 41, 64][random.below(4)];
        let shape = Shape { blocks: 1 + random.below(4), threads };
        Self { case, shape, a: random.below(1 << 16) as u32 }
    }

    fn launch(self) -> Launch<1> {
        Launch::grid([self.shape.blocks as u32], [self.shape.threads as u32])
    }
}

impl Program {
    /// Runs the program of this seed.
    ///
    /// # Panics
    ///
    /// Where it computes something else than plain Rust, or a call fails.
    pub fn run(device: &Device, seed: u64) -> Statistics {
        let mut program = Self::new(device, seed);
        for _ in 0..STEPS {
            program.step();
        }
        for index in 0..BUFFERS {
            program.check(index);
        }
        // The default stream of this thread outlives the program.
        for stream in program.streams.iter().chain([&device.stream()]) {
            program.panics.tolerate(|| stream.synchronize());
        }
        let panics = program.panics.end(device);
        Statistics { launches: program.launches, panics }
    }

    fn new(device: &Device, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let cells = (0..BUFFERS).map(|_| Cell::new(device, &mut random)).collect();
        let streams = (0..STREAMS).map(|_| stream(device, &mut random)).collect();
        let kernels = Kernels::load(device).expect("kernels for the device");
        let panics = Panics::default();
        let device = device.clone();
        Self { random, device, kernels, streams, cells, panics, launches: 0 }
    }

    fn step(&mut self) {
        match self.random.below(25) {
            0..9 => self.launch(),
            9 | 10 => self.launch_from_threads(),
            11 => self.launch_and_drop(),
            12 => self.copy(),
            13 | 14 => {
                let index = self.random.below(BUFFERS);
                self.check(index);
            }
            15 => {
                let index = self.random.below(BUFFERS);
                self.cells[index] = Cell::new(&self.device, &mut self.random);
            }
            16 => {
                let index = self.random.below(STREAMS);
                self.streams[index] = stream(&self.device, &mut self.random);
            }
            17 => self.reload(),
            18 => self.graph(),
            20 | 21 => self.prepared(),
            22 => self.copy_from_pinned(),
            23 => self.copy_to_pinned(),
            19 => self.panics.tolerate(|| self.device.synchronize()),
            _ => {
                let stream = &self.streams[self.random.below(STREAMS)];
                self.panics.tolerate(|| stream.synchronize());
            }
        }
    }

    /// Whether something is leaked: half of the times, and never on the fake driver, which would report it.
    fn may_leak(&mut self) -> bool {
        self.random.below(2) == 0 && self.device.backend() == Backend::Cpu
    }

    /// A launch that reads a part of one buffer and writes a part of another.
    fn launch(&mut self) {
        let written = self.random.below(BUFFERS);
        let read = (written + 1 + self.random.below(BUFFERS - 1)) % BUFFERS;
        self.define(written);
        self.define(read);
        let call = Call::new(&mut self.random);
        let stream = &self.streams[self.random.below(STREAMS)];
        let [y, x] = self.cells.get_disjoint_mut([written, read]).expect("two buffers");
        let (to, from) = (range(&mut self.random, y.len()), range(&mut self.random, x.len()));
        let mut part = y.buffer.slice_mut(to.clone());
        let launched = (call.case.launch)(
            &self.kernels,
            stream,
            call.launch(),
            call.a,
            &x.buffer.slice(from.clone()),
            &mut part,
        );
        launched.expect("the launch is within the limits");
        self.launches += 1;
        let x = &x.expected.as_ref().expect("defined before")[from];
        y.update(|y| call.case.apply(call.shape, call.a, x, &mut y[to]), &self.panics);
    }

    /// Lets a thread for each buffer but one write it, all at once; all read the one that is left.
    fn launch_from_threads(&mut self) {
        (0..BUFFERS).for_each(|index| self.define(index));
        let calls: Vec<_> = (1..BUFFERS).map(|_| Call::new(&mut self.random)).collect();
        let own_stream = self.random.below(2) == 0;
        self.launches += calls.len() as u64;
        let Self { device, kernels, streams, cells, panics, .. } = self;
        let (read, written) = cells.split_first_mut().expect("several buffers");
        let (read, panics, device, kernels) = (&*read, &*panics, &*device, &*kernels);
        let x = read.expected.as_ref().expect("defined before");
        thread::scope(|scope| {
            for ((cell, call), stream) in written.iter_mut().zip(calls).zip(streams.iter().cycle())
            {
                scope.spawn(move || {
                    let default = device.stream();
                    let stream = if own_stream { &default } else { stream };
                    let (from, mut to) = (read.buffer.slice(..), cell.buffer.slice_mut(..));
                    (call.case.launch)(kernels, stream, call.launch(), call.a, &from, &mut to)
                        .expect("the launch is within the limits");
                    cell.update(|y| call.case.apply(call.shape, call.a, x, y), panics);
                });
            }
        });
    }

    /// Lets another thread launch on a buffer, and drop it at once; so are its kernels and its stream.
    fn launch_and_drop(&mut self) {
        let index = self.random.below(BUFFERS);
        self.define(index);
        let mut cell = Cell::new(&self.device, &mut self.random);
        std::mem::swap(&mut cell, &mut self.cells[index]);
        let (mut call, device) = (Call::new(&mut self.random), self.device.clone());
        call.a %= 50;
        self.launches += 1;
        let panics = &self.panics;
        thread::scope(|scope| {
            scope.spawn(move || {
                let kernels = Kernels::load(&device).expect("kernels for the device");
                let stream = device.new_stream().expect("a stream");
                let x = device.upload(&[call.a; 20]).expect("memory");
                let mut to = cell.buffer.slice_mut(..);
                let launch = call.launch();
                (call.case.launch)(&kernels, &stream, launch, call.a, &x.slice(..), &mut to)
                    .expect("the launch is within the limits");
                cell.update(|y| call.case.apply(call.shape, call.a, &[call.a; 20], y), panics);
            });
        });
    }

    /// Copies from the host to a part of a buffer.
    fn copy(&mut self) {
        let index = self.random.below(BUFFERS);
        self.define(index);
        let cell = &mut self.cells[index];
        let range = range(&mut self.random, cell.len());
        let elements = elements(&mut self.random, range.len());
        let copied =
            self.panics.tolerated(|| cell.buffer.slice_mut(range.clone()).copy_from(&elements));
        copied.expect("the lengths are equal");
        cell.expected.as_mut().expect("defined before")[range].copy_from_slice(&elements);
    }

    /// Drops the kernels and loads them again, and unloads what nobody uses in between or not.
    fn reload(&mut self) {
        let before = Kernels::load(&self.device).expect("kernels for the device");
        self.kernels = before;
        if self.random.below(2) == 0 {
            module_cache().release_unused();
        }
    }

    /// Gives a buffer elements that are known, after a launch that panicked.
    fn define(&mut self, index: usize) {
        let Self { random, cells, panics, .. } = self;
        let cell = &mut cells[index];
        if cell.expected.is_none() {
            let elements = elements(random, cell.len());
            panics.tolerate(|| cell.buffer.copy_from(&elements));
            cell.expected = Some(elements);
        }
    }

    fn check(&self, index: usize) {
        let cell = &self.cells[index];
        let found = self.panics.tolerated(|| cell.buffer.download()).expect("a download");
        if let Some(expected) = &cell.expected {
            assert_eq!(&found, expected, "buffer {index}");
        }
    }
}

impl Cell {
    fn new(device: &Device, random: &mut Random) -> Self {
        let len = random.below(LONGEST + 1);
        let elements = elements(random, len);
        let buffer = device.upload(&elements).expect("memory");
        Self { buffer, expected: Some(elements) }
    }

    fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Notes what a launch makes of the elements.
    fn update(
        &mut self,
        launch: impl FnOnce(&mut Vec<u32>) -> std::result::Result<(), crate::pool::Panics>,
        panics: &Panics,
    ) {
        let expected = self.expected.as_mut().expect("defined before");
        if launch(expected).is_err() {
            self.expected = None;
            panics.launched();
        }
    }
}

fn stream(device: &Device, random: &mut Random) -> Stream {
    match random.below(3) {
        0 => device.stream(),
        _ => device.new_stream().expect("a stream"),
    }
}
