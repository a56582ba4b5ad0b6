//! What a launch costs: nanoseconds for an empty kernel on the CPU by wrapper, prepared and as a bare call of the
//! kernel's function, for each further block, for threads that run as coroutines, and allocations (there are
//! none); what the look-up of a loaded kernel costs, by one thread and by eight; and with the feature `cuda`,
//! where there is a driver, the same three for `cuLaunchKernel`.
//!
//! `cargo bench -p kernelmill --bench launch`
//!
//! With `count NAME LAUNCHES` behind `--` it makes so many launches of one kind and nothing else, for tools that count
//! instructions: NAME is `cpu-wrapper` or `cpu-prepared`, or one of `driver_launches.rs` on the driver.

#[path = "common/contention.rs"]
mod contention;
#[path = "common/allocations.rs"]
mod counter;
#[cfg(feature = "cuda")]
#[path = "common/driver_launches.rs"]
mod driver;

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use kernelmill::{
    __codegen::{self as cg, abi},
    Buffer, Device, Launch, PreparedLaunch, Result, Stream,
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
        blocks_along_y: 0,
        joins_blocks: 0,
        reserved: 0,
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
        cooperative: false,
        resources: cg::Resources::UNKNOWN,
        variant: None,
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
    variables: &[],
    tuned: &[],
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
        relocations: &[],
        variables: &[],
    }],
};

static PARAMETERS: [cg::Parameter; 3] = [
    cg::Parameter::borrowed("a", cg::ParameterKind::Value(cg::ValueType::Scalar(cg::Scalar::F32))),
    slice("x", cg::Access::Read),
    slice("y", cg::Access::Write),
];

/// The empty kernel with the parameters that a launch with indices of 32 bits looks at.
static WITH_SIZES: [cg::Signature; 1] = [cg::Signature::borrowed("empty", &PARAMETERS)];

const fn slice(name: &'static str, access: cg::Access) -> cg::Parameter {
    let element = cg::ValueType::Scalar(cg::Scalar::F32);
    cg::Parameter::borrowed(name, cg::ParameterKind::Slice { element, access })
}

const fn without_variants(kernels: &'static [cg::EmbeddedKernel]) -> cg::EmbeddedArtifact {
    cg::EmbeddedArtifact {
        fingerprint: "bench of variants",
        target: "cpu",
        kind: cg::ArtifactKind::Object,
        source: "launch.rs",
        bytes: &[],
        kernels,
        locations: &[],
        backtraces: &[],
        messages: &[],
        relocations: &[],
        variables: &[],
    }
}

/// A variant for blocks of at most so many threads, any where it is 0, with indices of so many bits.
const fn variant(name: &'static str, threads: u32, index_width: u32) -> cg::EmbeddedKernel {
    let limits =
        cg::LaunchLimits { max_block_threads: threads, index_width, ..cg::LaunchLimits::NONE };
    embedded(0, "empty", &EMPTY).as_variant(cg::EmbeddedVariant { name, limits, defines: &[] })
}

/// The empty kernel alone.
static PLAIN: cg::KernelSet = cg::KernelSet {
    signatures: &WITH_SIZES,
    artifacts: &[without_variants(&[embedded(0, "empty", &EMPTY)])],
    ..SET
};

/// The same with three variants, of which a launch in blocks of 256 threads gets the third that is tried.
static VARIED: cg::KernelSet = cg::KernelSet {
    signatures: &WITH_SIZES,
    artifacts: &[without_variants(&[
        embedded(0, "empty", &EMPTY),
        variant("threads64", 64, 0),
        variant("index32", 0, 32),
        variant("threads64_index32", 64, 32),
    ])],
    ..SET
};

struct Bench {
    loaded: cg::Loaded,
    stream: Stream,
}

impl Bench {
    fn new(device: &Device) -> Result<Self> {
        Self::of(device, &SET)
    }

    fn of(device: &Device, set: &'static cg::KernelSet) -> Result<Self> {
        Ok(Self { loaded: cg::Loaded::new(device, set)?, stream: device.stream() })
    }

    /// As a generated wrapper for a number and two slices.
    fn launch_with(&self, x: &Buffer<f32>, y: &mut Buffer<f32>) -> Result<()> {
        let arguments = (cg::Value(1.0f32), cg::read_slice(x), cg::write_slice(y));
        // SAFETY: the kernel takes no notice of its arguments.
        unsafe { cg::launch_with(&self.loaded, 0, &self.stream, Launch::linear(1), arguments) }
    }

    /// The same launch, prepared.
    fn prepare<'a>(
        &self,
        x: &'a Buffer<f32>,
        y: &'a mut Buffer<f32>,
    ) -> Result<PreparedLaunch<'a>> {
        // SAFETY: the kernel takes no notice of its arguments, which are borrowed for the launch.
        unsafe {
            cg::prepare(self.loaded.device(), |stream| {
                let arguments = (cg::Value(1.0f32), cg::read_slice(x), cg::write_slice(y));
                cg::launch_with(&self.loaded, 0, stream, Launch::linear(1), arguments)
            })
        }
    }

    /// As the generated method that sets the scalars of that.
    fn set_scalars(&self, prepared: &mut PreparedLaunch<'_>, a: f32) -> Result<()> {
        // SAFETY: the slices are those of the launch, in their order.
        unsafe {
            cg::set_scalars(prepared, &self.loaded, 0, |stream, launch: Launch<1>, slices| {
                let arguments = (
                    cg::Value(a),
                    cg::read_slice::<f32, _>(slices.take()),
                    cg::write_slice::<f32, _>(slices.take()),
                );
                cg::launch_with(&self.loaded, 0, stream, launch, arguments)
            })
        }
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

/// Samples of a measurement. Each is short, so that one of them is not interrupted on a machine that others use.
const SAMPLES: u32 = 200;

/// The best of the samples, in nanoseconds a launch, and the allocations of one launch.
fn measure(launches: u32, mut launch: impl FnMut()) -> (f64, f64) {
    launch();
    let (mut best, launches) = (f64::INFINITY, (launches / SAMPLES).max(1));
    let before = counter::allocations();
    for _ in 0..SAMPLES {
        let begun = Instant::now();
        for _ in 0..launches {
            launch();
        }
        best = best.min(begun.elapsed().as_nanos() as f64 / f64::from(launches));
    }
    let allocations = (counter::allocations() - before) as f64;
    (best, allocations / f64::from(SAMPLES * launches))
}

/// The median time of the one and of the other in nanoseconds, and the median of the ratios of samples that follow each
/// other: what slows the machine down for a while slows both.
fn compare(mut one: impl FnMut(), mut other: impl FnMut()) -> (f64, f64, f64) {
    const LAUNCHES: u32 = 2_000;
    let time = |launch: &mut dyn FnMut()| {
        let begun = Instant::now();
        (0..LAUNCHES).for_each(|_| launch());
        begun.elapsed().as_nanos() as f64 / f64::from(LAUNCHES)
    };
    let pairs: Vec<_> =
        (0..=2 * SAMPLES).map(|_| (time(&mut one), time(&mut other))).skip(1).collect();
    let median = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let mut sorted: Vec<f64> = pairs.iter().map(of).collect();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    };
    (median(&|it| it.0), median(&|it| it.1), median(&|it| it.1 / it.0))
}

/// What it costs that a launch chooses among variants.
fn measure_variants(device: &Device) -> Result<()> {
    let (plain, varied) = (Bench::of(device, &PLAIN)?, Bench::of(device, &VARIED)?);
    let (x, mut y, mut z) = (device.zeros(10)?, device.zeros(10)?, device.zeros(10)?);
    let chosen = varied.loaded.compiled(0)?.explain(&Launch::linear(1).into(), 10);
    let chosen = chosen.chosen().and_then(|build| build.variant);
    assert_eq!(chosen, Some("index32"));
    let (without, with, ratio) = compare(
        || plain.launch_with(&x, &mut y).expect("it runs"),
        || varied.launch_with(&x, &mut z).expect("it runs"),
    );
    println!("  without variants {without:.1} ns, with three {with:.1} ns, ratio {ratio:.3}");
    Ok(())
}

/// A call of the empty kernel's function for one block, with nothing around it.
fn bare_call(block: &mut abi::Block, arguments: &[*const u8]) {
    let run = black_box(EMPTY.run[0]).expect("it has a function");
    // SAFETY: the function takes no notice of what it is given.
    unsafe { run(black_box(arguments.as_ptr()), block) }
}

/// The launches to count, where the arguments ask for that.
fn asked_to_count() -> Option<(String, u32)> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "count").skip(1);
    let (name, launches) = (arguments.next()?, arguments.next()?);
    Some((name, launches.parse().expect("a number of launches")))
}

/// Makes launches of one kind.
fn count(name: &str, launches: u32) -> Result<()> {
    let is_prepared = match name {
        "cpu-wrapper" => false,
        "cpu-prepared" => true,
        #[cfg(feature = "cuda")]
        name => return driver::count(name, launches),
        #[cfg(not(feature = "cuda"))]
        name => panic!("`{name}` is none of the launches on the CPU"),
    };
    let device = Device::cpu()?;
    let (bench, x, mut y) = (Bench::new(&device)?, device.zeros(10)?, device.zeros(10)?);
    if !is_prepared {
        return (0..launches).try_for_each(|_| bench.launch_with(&x, &mut y));
    }
    let mut prepared = bench.prepare(&x, &mut y)?;
    (0..launches).try_for_each(|_| prepared.launch(&bench.stream))
}

/// A block without a launch.
fn no_block() -> abi::Block {
    abi::Block {
        index: [0; 3],
        reserved: 0,
        geometry: std::ptr::null(),
        shared: std::ptr::null_mut(),
        panic: std::ptr::null_mut(),
        scratch: std::ptr::null_mut(),
        jump: [0; 64],
        stack_limit: 0,
        stack_overflow: None,
    }
}

fn main() -> Result<()> {
    if let Some((name, launches)) = asked_to_count() {
        return count(&name, launches);
    }
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
        let mut prepared = bench.prepare(&x, &mut y)?;
        let ready = measure(1_000_000, || prepared.launch(&bench.stream).expect("it runs"));
        report("the same, prepared", ready, 1.0);
        let again = measure(1_000_000, || {
            bench.set_scalars(&mut prepared, black_box(2.0)).expect("it fits");
            prepared.launch(&bench.stream).expect("it runs");
        });
        report("the same, with another number each time", again, 1.0);
        drop(prepared);
        let anew = measure(1_000_000, || {
            let mut prepared = bench.prepare(&x, &mut y).expect("it fits");
            prepared.launch(&bench.stream).expect("it runs");
        });
        report("the same, prepared for each launch", anew, 1.0);
        let (mut block, pointers) = (no_block(), [std::ptr::null(); 5]);
        let bare = measure(1_000_000, || bare_call(&mut block, &pointers));
        report("the same, a bare call of its function", bare, 1.0);
        report("two blocks, empty", bench.measure(0, Launch::grid([2], [256]), 100_000), 1.0);
        report("100 000 blocks, empty, each block", bench.measure(0, many, 100), 1e5);
        report("one block of 256 coroutines, one barrier", bench.measure(2, one, 10_000), 1.0);
        let thousand = Launch::grid([1000], [256]);
        report("1 000 of these, each block", bench.measure(2, thousand, 20), 1e3);

        measure_variants(&device)?;

        BLOCKS.store(0, Ordering::Relaxed);
        bench.measure(1, many, 3);
        let launches = 1 + u64::from(SAMPLES);
        assert_eq!(BLOCKS.load(Ordering::Relaxed), launches * 100_000, "every block ran once");
    }
    let bench = Bench::new(&Device::cpu()?)?;
    // What a look-up did before each thread had a count of its own.
    let shared = Arc::new(());
    contention::report("a reference count that all threads share", |_| {
        drop(black_box(Arc::clone(black_box(&shared))));
    });
    contention::report("look-up of a compiled kernel", |_| {
        drop(black_box(black_box(&bench.loaded).compiled(black_box(0))));
    });
    #[cfg(feature = "cuda")]
    driver::measure_driver()?;
    Ok(())
}
