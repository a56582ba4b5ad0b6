//! A launch on the CPU allocates nothing once every thread has run the kernel: with every lowering
//! strategy, with shared memory, with one thread and with two.

#[path = "../../../benches/common/allocations.rs"]
mod counter;

use conformance as _;
use kernelmill::{Buffer, Device, Launch, Stream};

/// The kernels of this package, whose code is linked with its library.
#[allow(missing_docs, reason = "they are not this file's")]
mod kernels {
    kernelmill::include_kernels!();
}

use kernels::Kernels;

/// Blocks of a launch that is shared among threads, and of one that takes so little that it is not.
const BLOCKS: [u32; 2] = [600, 3];
/// Threads of a block.
const THREADS: u32 = 64;
/// Launches that are counted: two times what rayon's queue has room for.
const LAUNCHES: u64 = 126;

/// A kernel on a device, with its memory.
struct Bench {
    kernels: Kernels,
    stream: Stream,
    input: Buffer<u32>,
    output: Buffer<u32>,
}

/// A lowering strategy, and a kernel that has it.
type Strategy = (&'static str, fn(&mut Bench, Launch<1>));

const STRATEGIES: [Strategy; 4] = [
    ("thread loop", |on, launch| {
        on.kernels.two_exits(&on.stream, launch, 3, 5, &mut on.output).unwrap()
    }),
    ("barrier regions", |on, launch| {
        on.kernels.reverse_blocks(&on.stream, launch, &on.input, &mut on.output).unwrap();
    }),
    ("barrier regions, dynamic shared memory", |on, launch| {
        let launch = launch.shared_bytes(4 * THREADS as usize);
        on.kernels.dynamic_shared(&on.stream, launch, &on.input, &mut on.output).unwrap();
    }),
    ("coroutine", |on, launch| {
        on.kernels.exit_inside(&on.stream, launch, &on.input, &mut on.output).unwrap();
    }),
];

impl Bench {
    fn new(device: &Device) -> Self {
        let len = (BLOCKS[0] * THREADS) as usize;
        Self {
            kernels: Kernels::load(device).unwrap(),
            stream: device.stream(),
            input: device.zeros(len).unwrap(),
            output: device.zeros(len).unwrap(),
        }
    }

    /// What some launches allocate.
    fn count(&mut self, run: fn(&mut Self, Launch<1>), launch: Launch<1>) -> u64 {
        for _ in 0..10 {
            run(self, launch);
        }
        let before = counter::allocations();
        for _ in 0..LAUNCHES {
            run(self, launch);
        }
        counter::allocations() - before
    }
}

/// What each strategy allocates: by its name and the blocks of the launch.
fn allocations(on: &mut Bench) -> Vec<(&'static str, u32, u64)> {
    let count = |(name, run): Strategy| {
        BLOCKS.map(|blocks| (name, blocks, on.count(run, Launch::grid([blocks], [THREADS]))))
    };
    STRATEGIES.map(count).into_iter().flatten().collect()
}

/// Runs a block of every kernel on the calling thread.
fn warm(device: &Device) {
    let mut bench = Bench::new(device);
    for (_, run) in STRATEGIES {
        run(&mut bench, Launch::grid([1], [THREADS]));
    }
}

#[test]
fn a_warm_launch_allocates_nothing() {
    let (parallel, sequential) = (Device::cpu().unwrap(), Device::cpu_sequential().unwrap());
    let nothing = |found: Vec<(&str, u32, u64)>| {
        assert!(found.iter().all(|(.., count)| *count == 0), "{found:?}");
    };
    nothing(allocations(&mut Bench::new(&sequential)));
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        // A thread that runs a kernel for the first time makes memory for its blocks.
        pool.broadcast(|_| warm(&parallel));
        nothing(pool.install(|| allocations(&mut Bench::new(&parallel))));
    }
    // A thread outside hands a launch on in a piece of memory for the launch and one for each thread that may help, and
    // rayon's queue takes one for each 63 of them.
    rayon::broadcast(|_| warm(&parallel));
    let found = allocations(&mut Bench::new(&parallel));
    // Few blocks are not handed on where they are expected to be short: for all, some or none of the launches, by how busy
    // the machine is.
    let is_expected = |(_, blocks, count): &(&str, u32, u64)| {
        let helpers = rayon::current_num_threads() as u64 - 1;
        let fewest = if *blocks == BLOCKS[0] && helpers > 0 { LAUNCHES * (1 + helpers) } else { 0 };
        (fewest..=LAUNCHES * (1 + helpers) + 3 * helpers.max(1)).contains(count)
    };
    assert!(found.iter().all(is_expected), "{found:?}");
}
