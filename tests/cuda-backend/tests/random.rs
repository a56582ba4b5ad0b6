//! Random programs of safe code on several streams compute what they would one step after the other.
//!
//! Buffers are read, written, sliced, copied, dropped and made again, by launches, prepared ones among them, on streams that
//! come and go and by threads at once. Programs begin with the default stream alone, whose accesses are not recorded, and make
//! the other streams in the middle. The driver does the work of a stream as late as it may, or as early.

use std::{env, sync::Arc, thread};

use cuda_backend::{Kernels, adopt, clean_child, cudarc, is_driver_real};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use kernelmill::{Buffer, Device, Launch, Stream};
use test_support::Random;

const LEN: usize = 6;
const BUFFERS: usize = 4;
const STREAMS: usize = 3;
const STEPS: usize = 40;
/// Steps with the default stream alone, at most.
const ALONE: usize = 30;
/// Of these the last that launch, and wait for nothing.
const QUIET: usize = 4;
/// What cells are overwritten with on a stream.
const CONSTANT: [f32; LEN] = [3.0; LEN];
/// Programs of one process.
const PROGRAMS: u64 = 100;

fn elements(random: &mut Random) -> [f32; LEN] {
    [(); LEN].map(|()| random.below(9) as f32 - 4.0)
}

/// A new stream of cudarc's.
fn adopted(device: &Device, context: &Arc<CudaContext>) -> Stream {
    adopt(device, &context.new_stream().unwrap()).unwrap()
}

/// Memory of this crate, or of cudarc, with what is in it.
struct Cell {
    memory: Memory,
    expected: [f32; LEN],
}

enum Memory {
    Own(Buffer<f32>),
    Cudarc(CudaSlice<f32>),
}

struct Program {
    random: Random,
    /// Steps until there are other streams than the default one.
    alone: usize,
    cells: Vec<Cell>,
    /// What cells are overwritten with: no launch uses it, so that a copy of it waits for its target alone.
    constant: Buffer<f32>,
    streams: Vec<Stream>,
    kernels: Kernels,
    device: Device,
    context: Arc<CudaContext>,
    cuda: Arc<CudaStream>,
}

impl Program {
    fn new(seed: u64) -> Self {
        let context = CudaContext::new(0).unwrap();
        let device = Device::from_cuda_context(&context).unwrap();
        let mut random = Random::new(seed);
        let mut program = Self {
            alone: random.below(ALONE),
            random,
            cells: Vec::new(),
            constant: device.upload(&CONSTANT).unwrap(),
            streams: Vec::new(),
            kernels: Kernels::load(&device).unwrap(),
            cuda: context.new_stream().unwrap(),
            device,
            context,
        };
        program.cells = (0..BUFFERS).map(|_| program.cell()).collect();
        program.streams = (0..STREAMS).map(|_| program.stream()).collect();
        program
    }

    fn cell(&mut self) -> Cell {
        let expected = elements(&mut self.random);
        let memory = match self.random.below(4) {
            0 if self.alone == 0 => Memory::Cudarc(self.cuda.clone_htod(&expected).unwrap()),
            _ => Memory::Own(self.device.upload(&expected).unwrap()),
        };
        Cell { memory, expected }
    }

    fn stream(&mut self) -> Stream {
        match self.random.below(5) {
            _ if self.alone > 0 => self.device.stream(),
            0 => self.device.stream(),
            1 => adopted(&self.device, &self.context),
            _ => self.device.new_stream().unwrap(),
        }
    }

    /// Makes the first streams beside the default one. Half of the time they are all of cudarc, which does not wait for what is
    /// queued already: it has the one that the program began with.
    fn leave_default(&mut self) {
        let are_adopted = self.random.below(2) == 0;
        let one = |program: &mut Self| match are_adopted {
            true => adopted(&program.device, &program.context),
            false => program.stream(),
        };
        self.streams = (0..STREAMS).map(|_| one(self)).collect();
    }

    /// Two cells, the first of which is written.
    fn pair(&mut self) -> (usize, usize) {
        let written = self.random.below(BUFFERS);
        (written, (written + 1 + self.random.below(BUFFERS - 1)) % BUFFERS)
    }

    fn step(&mut self) {
        if self.alone > 0 {
            self.alone -= 1;
            if self.alone == 0 {
                self.leave_default();
                let index = self.random.below(BUFFERS);
                self.overwrite(index);
            }
        }
        // The last steps alone leave launches that nothing has waited for.
        let steps = if (1..=QUIET).contains(&self.alone) { 8 } else { 22 };
        match self.random.below(steps) {
            0..8 => self.launch(),
            8 => self.launch_from_threads(),
            9 | 10 => self.copy(),
            11 | 12 => {
                let index = self.random.below(BUFFERS);
                self.check(index);
            }
            13 => {
                let index = self.random.below(BUFFERS);
                self.cells[index] = self.cell();
            }
            14 => {
                let index = self.random.below(STREAMS);
                self.streams[index] = self.stream();
            }
            15 => self.streams[self.random.below(STREAMS)].synchronize().unwrap(),
            16 | 17 => self.copy_between(),
            18 => {
                let index = self.random.below(BUFFERS);
                self.overwrite(index);
            }
            _ => self.launch_prepared(),
        }
    }

    /// Adds a part of one cell to a part of another.
    fn launch(&mut self) {
        let (written, read) = self.pair();
        let [to, from] = [(); 2].map(|()| self.random.below(LEN));
        let len = 1 + self.random.below(LEN - to.max(from));
        let stream = &self.streams[self.random.below(STREAMS)];
        let factor = [1.0, -1.0, 0.5][self.random.below(3)];
        let [y, x] = self.cells.get_disjoint_mut([written, read]).unwrap();
        let (kernels, launch) = (&self.kernels, Launch::linear(len));
        let (to, from) = (to..to + len, from..from + len);
        let launched = match (&mut y.memory, &x.memory) {
            (Memory::Own(y), Memory::Own(x)) => {
                let y = &mut y.slice_mut(to.clone());
                kernels.saxpy(stream, launch, factor, &x.slice(from.clone()), y)
            }
            (Memory::Own(y), Memory::Cudarc(x)) => {
                let (x, y) = (x.slice(from.clone()), &mut y.slice_mut(to.clone()));
                kernels.saxpy(stream, launch, factor, cudarc(&x), y)
            }
            (Memory::Cudarc(y), Memory::Own(x)) => {
                let y = &mut y.slice_mut(to.clone());
                kernels.saxpy(stream, launch, factor, &x.slice(from.clone()), cudarc(y))
            }
            (Memory::Cudarc(y), Memory::Cudarc(x)) => {
                let (x, y) = (x.slice(from.clone()), &mut y.slice_mut(to.clone()));
                kernels.saxpy(stream, launch, factor, cudarc(&x), cudarc(y))
            }
        };
        launched.unwrap();
        for (y, x) in y.expected[to].iter_mut().zip(&x.expected[from]) {
            *y = factor.mul_add(*x, *y);
        }
    }

    /// Lets threads read a cell on a stream each, all at once.
    fn launch_from_threads(&mut self) {
        let index = self.random.below(BUFFERS);
        let Cell { memory: Memory::Own(x), expected } = &self.cells[index] else { return };
        let (kernels, device) = (&self.kernels, &self.device);
        let seen: Vec<_> = thread::scope(|scope| {
            let read = |stream| {
                scope.spawn(move || {
                    let mut seen = device.zeros::<f32>(LEN).unwrap();
                    kernels.saxpy(stream, Launch::linear(LEN), 1.0, x, &mut seen).unwrap();
                    seen
                })
            };
            let threads: Vec<_> = self.streams.iter().map(read).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        // The others are dropped while they are written.
        assert_eq!(seen[0].download().unwrap(), expected);
    }

    /// Prepares a launch, and makes it several times, on streams some of which are made meanwhile.
    fn launch_prepared(&mut self) {
        let (written, read) = self.pair();
        let [y, x] = self.cells.get_disjoint_mut([written, read]).unwrap();
        let (Memory::Own(to), Memory::Own(from)) = (&mut y.memory, &x.memory) else { return };
        let factor = [1.0, -1.0, 0.5][self.random.below(3)];
        let mut launch = self.kernels.prepare(Launch::linear(LEN), factor, from, to).unwrap();
        for _ in 0..=self.random.below(6) {
            if self.random.below(4) == 0 {
                self.alone = 0;
                let stays = self.random.below(STREAMS);
                for index in (0..STREAMS).filter(|index| *index != stays) {
                    self.streams[index] = match self.random.below(2) {
                        0 => adopted(&self.device, &self.context),
                        _ => self.device.new_stream().unwrap(),
                    };
                }
            }
            launch.launch(&self.streams[self.random.below(STREAMS)]).unwrap();
            for (y, x) in y.expected.iter_mut().zip(&x.expected) {
                *y = factor.mul_add(*x, *y);
            }
        }
        drop(launch);
        if self.random.below(2) == 0 {
            self.overwrite(written);
        }
    }

    /// Writes a cell on a stream, which waits for nothing but what used the cell, and is waited for half of the time: the first
    /// launch of a kernel on a stream would wait for all of them, and a download for the default stream.
    fn overwrite(&mut self, index: usize) {
        let Cell { memory: Memory::Own(to), expected } = &mut self.cells[index] else { return };
        let stream = &self.streams[self.random.below(STREAMS)];
        to.copy_from_buffer(stream, &self.constant.slice(..)).unwrap();
        *expected = CONSTANT;
        if self.random.below(2) == 0 {
            stream.synchronize().unwrap();
        }
    }

    /// Copies a cell to another, on a stream that is waited for half of the time.
    fn copy_between(&mut self) {
        let (written, read) = self.pair();
        let [y, x] = self.cells.get_disjoint_mut([written, read]).unwrap();
        let (Memory::Own(to), Memory::Own(from)) = (&mut y.memory, &x.memory) else { return };
        let stream = &self.streams[self.random.below(STREAMS)];
        to.copy_from_buffer(stream, &from.slice(..)).unwrap();
        y.expected = x.expected;
        if self.random.below(2) == 0 {
            stream.synchronize().unwrap();
        }
    }

    fn copy(&mut self) {
        let (index, elements) = (self.random.below(BUFFERS), elements(&mut self.random));
        let cell = &mut self.cells[index];
        match &mut cell.memory {
            Memory::Own(buffer) => buffer.copy_from(&elements).unwrap(),
            Memory::Cudarc(slice) => self.cuda.memcpy_htod(&elements, slice).unwrap(),
        }
        cell.expected = elements;
    }

    #[track_caller]
    fn check(&self, index: usize) {
        let Cell { memory, expected } = &self.cells[index];
        let found = match memory {
            Memory::Own(buffer) => buffer.download().unwrap(),
            // cudarc's own reads would make it forget the readers before.
            Memory::Cudarc(slice) => {
                let mut seen = self.device.zeros::<f32>(LEN).unwrap();
                let (kernels, stream) = (&self.kernels, &self.streams[0]);
                kernels.saxpy(stream, Launch::linear(LEN), 1.0, cudarc(slice), &mut seen).unwrap();
                seen.download().unwrap()
            }
        };
        assert_eq!(found, expected);
    }
}

/// The number that a variable has.
fn variable(name: &str, otherwise: u64) -> u64 {
    env::var(name).map_or(otherwise, |value| value.parse().unwrap())
}

/// Runs the programs of one process.
fn run_some() {
    // On a machine's driver each program would wait seconds for a context of its own.
    let _context = is_driver_real().then(|| CudaContext::new(0).unwrap());
    let first = variable("CUDA_BACKEND_FIRST", 0);
    for seed in first..first + PROGRAMS {
        println!("seed {seed}");
        let mut program = Program::new(seed);
        (0..STEPS).for_each(|_| program.step());
        (0..BUFFERS).for_each(|index| program.check(index));
    }
}

/// Runs programs in as many processes as `CUDA_BACKEND_PROCESSES` says; one if it is not set.
#[track_caller]
fn run_all(name: &str, driver: (&str, &str)) {
    for process in 0..variable("CUDA_BACKEND_PROCESSES", 1) {
        let first = (process * PROGRAMS).to_string();
        clean_child(name, &[driver, ("CUDA_BACKEND_FIRST", &first)], run_some);
    }
}

#[test]
fn random_programs_on_lazy_streams() {
    run_all("random_programs_on_lazy_streams", ("FAKE_CUDA_STREAMS", "lazy"));
}

#[test]
fn random_programs_on_eager_streams() {
    run_all("random_programs_on_eager_streams", ("FAKE_CUDA_RACES", "1"));
}
