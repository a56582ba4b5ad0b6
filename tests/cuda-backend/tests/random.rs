//! Random programs of safe code on several streams compute what they would one step after the other.
//!
//! Buffers are read, written, sliced, copied, dropped and made again, by launches on streams that come
//! and go and by threads at once. The driver does the work of a stream as late as it may, or as early.

use std::{env, sync::Arc, thread};

use cuda_backend::{Kernels, adopt, clean_child, cudarc, is_driver_real};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use kernelmill::{Buffer, Device, Launch, Stream};
use test_support::Random;

const LEN: usize = 6;
const BUFFERS: usize = 4;
const STREAMS: usize = 3;
const STEPS: usize = 40;
/// Programs of one process.
const PROGRAMS: u64 = 60;

fn elements(random: &mut Random) -> [f32; LEN] {
    [(); LEN].map(|()| random.below(9) as f32 - 4.0)
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
    cells: Vec<Cell>,
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
        let mut program = Self {
            random: Random::new(seed),
            cells: Vec::new(),
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
            0 => Memory::Cudarc(self.cuda.clone_htod(&expected).unwrap()),
            _ => Memory::Own(self.device.upload(&expected).unwrap()),
        };
        Cell { memory, expected }
    }

    fn stream(&mut self) -> Stream {
        match self.random.below(5) {
            0 => self.device.stream(),
            1 => adopt(&self.device, &self.context.new_stream().unwrap()).unwrap(),
            _ => self.device.new_stream().unwrap(),
        }
    }

    /// Two cells, the first of which is written.
    fn pair(&mut self) -> (usize, usize) {
        let written = self.random.below(BUFFERS);
        (written, (written + 1 + self.random.below(BUFFERS - 1)) % BUFFERS)
    }

    fn step(&mut self) {
        match self.random.below(16) {
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
            _ => self.streams[self.random.below(STREAMS)].synchronize().unwrap(),
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
