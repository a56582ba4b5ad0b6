//! What a launch on the CPU costs: nanoseconds for an empty kernel, for each further block, for
//! threads that run as coroutines, and allocations (there are none).
//!
//! `cargo bench -p kernelmill --bench launch`

#[path = "common/allocations.rs"]
mod counter;

use std::{
    hint::black_box,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use kernelmill::{
    __codegen::{self as cg, abi},
    Buffer, Device, Launch, Result, Stream,
};

/// Blocks that ran: so that what is measured is known to have happened.
static BLOCKS: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn empty(_arguments: *const *const u8, _block: *mut abi::Block) {}

unsafe extern "C" fn counted(_arguments: *const *const u8, _block: *mut abi::Block) {
    BLOCKS.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn start(_arguments: *const *const u8, _item: *mut abi::Item, frame: *mut u8) {
    // SAFETY: the frame has 8 bytes.
    unsafe { frame.cast::<u64>().write(0) }
}

/// Waits at one barrier, then ends.
unsafe extern "C" fn resume(frame: *mut u8, item: *mut abi::Item) -> bool {
    // SAFETY: the frame was started, the item is valid.
    unsafe {
        if frame.cast::<u64>().replace(1) == 1 {
            return true;
        }
        (*item).wait = abi::WAIT_BARRIER;
    }
    false
}

const fn kernel(run: Option<abi::Run>) -> cg::CpuKernel {
    let coroutine = run.is_none();
    cg::CpuKernel {
        version: kernelmill_artifact::FORMAT_VERSION,
        strategy: if coroutine { abi::STRATEGY_COROUTINE } else { abi::STRATEGY_LOOP },
        static_shared_bytes: 0,
        frame_bytes: 8,
        frame_align: 8,
        run: [run, None, None],
        start: if coroutine { Some(start) } else { None },
        resume: if coroutine { Some(resume) } else { None },
    }
}

static EMPTY: cg::CpuKernel = kernel(Some(empty));
static COUNTED: cg::CpuKernel = kernel(Some(counted));
static BARRIER: cg::CpuKernel = kernel(None);

const fn embedded(
    signature: usize,
    entry: &'static str,
    kernel: &'static cg::CpuKernel,
) -> cg::EmbeddedKernel {
    // SAFETY: a constant of this program, with functions as the type says.
    let cpu = Some(unsafe { cg::CpuEntry::new(kernel) });
    cg::EmbeddedKernel {
        signature,
        entry,
        static_shared_bytes: 0,
        panics: false,
        resources: cg::Resources::UNKNOWN,
        cpu,
    }
}

static SET: cg::KernelSet = cg::KernelSet {
    format_version: kernelmill_artifact::FORMAT_VERSION,
    package: "launch",
    signatures: &[
        cg::Signature::borrowed("empty", &[]),
        cg::Signature::borrowed("counted", &[]),
        cg::Signature::borrowed("barrier", &[]),
    ],
    functions: &[],
    artifacts: &[cg::EmbeddedArtifact {
        fingerprint: "bench",
        target: "cpu",
        kind: cg::ArtifactKind::Object,
        source: "launch.rs",
        bytes: &[],
        kernels: &[
            embedded(0, "empty", &EMPTY),
            embedded(1, "counted", &COUNTED),
            embedded(2, "barrier", &BARRIER),
        ],
        locations: &[],
        backtraces: &[],
        messages: &[],
    }],
};

struct Bench {
    loaded: cg::Loaded,
    stream: Stream,
}

impl Bench {
    fn new(device: &Device) -> Result<Self> {
        Ok(Self { loaded: cg::Loaded::new(device, &SET)?, stream: device.stream() })
    }

    /// As a generated wrapper for a number and two slices.
    fn launch_with(&self, x: &Buffer<f32>, y: &mut Buffer<f32>) -> Result<()> {
        let arguments = (cg::Value(1.0f32), cg::read_slice(x), cg::write_slice(y));
        // SAFETY: the kernel takes no notice of its arguments.
        unsafe { cg::launch_with(&self.loaded, 0, &self.stream, Launch::linear(1), arguments) }
    }

    fn launch(&self, kernel: usize, launch: Launch<1>) {
        let stream = cg::stream(&self.stream);
        // SAFETY: the kernels take no arguments.
        unsafe { cg::launch(&self.loaded, kernel, stream, launch, &[]) }.expect("it runs");
    }

    fn measure(&self, kernel: usize, launch: Launch<1>, launches: u32) -> (f64, f64) {
        measure(launches, || self.launch(kernel, black_box(launch)))
    }
}

/// The best of 5 samples, in nanoseconds a launch, and the allocations of one launch.
fn measure(launches: u32, mut launch: impl FnMut()) -> (f64, f64) {
    launch();
    let mut best = f64::INFINITY;
    let before = counter::allocations();
    for _ in 0..5 {
        let begun = Instant::now();
        for _ in 0..launches {
            launch();
        }
        best = best.min(begun.elapsed().as_nanos() as f64 / f64::from(launches));
    }
    let allocations = (counter::allocations() - before) as f64;
    (best, allocations / f64::from(5 * launches))
}

fn main() -> Result<()> {
    let one = Launch::grid([1], [256]);
    let many = Launch::grid([100_000], [256]);
    for device in [Device::cpu()?, Device::cpu_sequential()?] {
        let bench = Bench::new(&device)?;
        println!("{device}");
        let report = |what: &str, (time, allocations): (f64, f64), per: f64| {
            println!("  {what:44} {:9.1} ns, {allocations:.3} allocations a launch", time / per);
        };
        report("one block, empty", bench.measure(0, one, 1_000_000), 1.0);
        let (x, mut y) = (device.zeros(10)?, device.zeros(10)?);
        let with_arguments = measure(1_000_000, || bench.launch_with(&x, &mut y).expect("it runs"));
        report("one block, empty, a number and two slices", with_arguments, 1.0);
        report("two blocks, empty", bench.measure(0, Launch::grid([2], [256]), 100_000), 1.0);
        report("100 000 blocks, empty, each block", bench.measure(0, many, 100), 1e5);
        report("one block of 256 coroutines, one barrier", bench.measure(2, one, 10_000), 1.0);
        let thousand = Launch::grid([1000], [256]);
        report("1 000 of these, each block", bench.measure(2, thousand, 20), 1e3);

        BLOCKS.store(0, Ordering::Relaxed);
        bench.measure(1, many, 3);
        assert_eq!(BLOCKS.load(Ordering::Relaxed), 16 * 100_000, "every block ran once");
    }
    Ok(())
}
