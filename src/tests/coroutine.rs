//! A kernel whose threads are coroutines and share memory, through whole launches.

use crate::{
    __codegen::{self as cg, abi},
    Device, Error, Launch, PanicKind, Result, Stream, WriteSlice,
};

/// `fn reverse(out: *mut u32, stuck: u32)`: every block of `n` threads writes its indices, in
/// reverse, through dynamic shared memory. Thread `stuck` of block 1 waits for a lane that is at
/// the barrier.
static REVERSE: cg::CpuKernel = cg::CpuKernel {
    version: kernelmill_artifact::FORMAT_VERSION,
    strategy: abi::STRATEGY_COROUTINE,
    static_shared_bytes: 4,
    frame_bytes: size_of::<Frame>() as u64,
    frame_align: 32,
    blocks_along_y: 0,
    joins_blocks: 0,
    reserved: 0,
    run: [None; 3],
    start: Some(start),
    resume: Some(resume),
};

/// The same, compiled for an interface that there is not.
static OTHER_VERSION: cg::CpuKernel = cg::CpuKernel { version: 77, ..REVERSE };

static SIGNATURES: [cg::Signature; 1] = [cg::Signature::borrowed("reverse", &[])];
static SET: cg::KernelSet = set(&[artifact("07", &[embedded(&REVERSE)])]);
static OTHER_SET: cg::KernelSet = set(&[artifact("08", &[embedded(&OTHER_VERSION)])]);
static BOUNDED: [cg::Signature; 1] = [cg::signature(
    "reverse",
    "reverse",
    cg::Dimension::One,
    cg::Safety::Safe,
    cg::LaunchLimits { max_block_threads: 4, ..cg::LaunchLimits::NONE },
    &[],
    ("kernels/reverse.rs", 1),
)];
static BOUNDED_SET: cg::KernelSet =
    cg::KernelSet { signatures: &BOUNDED, ..set(&[artifact("09", &[embedded(&REVERSE)])]) };
static NO_BINARIES: cg::KernelSet = set(&[]);
static OTHER_BINDINGS: cg::KernelSet = cg::KernelSet { format_version: 78, ..set(&[]) };

const fn set(artifacts: &'static [cg::EmbeddedArtifact]) -> cg::KernelSet {
    cg::KernelSet {
        format_version: kernelmill_artifact::FORMAT_VERSION,
        package: "demo",
        signatures: &SIGNATURES,
        functions: &[],
        variables: &[],
        tuned: &[],
        artifacts,
    }
}

const fn artifact(
    fingerprint: &'static str,
    kernels: &'static [cg::EmbeddedKernel],
) -> cg::EmbeddedArtifact {
    cg::EmbeddedArtifact {
        fingerprint,
        target: "cpu",
        kind: cg::ArtifactKind::Object,
        source: "kernels/reverse.rs",
        bytes: &[],
        kernels,
        locations: &[],
        backtraces: &[],
        messages: &[],
        relocations: &[],
        variables: &[],
    }
}

const fn embedded(kernel: &'static cg::CpuKernel) -> cg::EmbeddedKernel {
    // SAFETY: a constant of this program, with functions as the type says.
    let cpu = Some(unsafe { cg::CpuEntry::new(kernel) });
    cg::EmbeddedKernel {
        signature: 0,
        entry: "reverse",
        static_shared_bytes: 4,
        panics: true,
        cooperative: false,
        resources: cg::Resources::UNKNOWN,
        variant: None,
        cpu,
    }
}

#[repr(C)]
struct Frame {
    out: *mut u32,
    stuck: u32,
    step: u32,
}

unsafe extern "C" fn start(arguments: *const *const u8, _item: *mut abi::Item, frame: *mut u8) {
    // SAFETY: the arguments are those of the kernel, the frame has room.
    unsafe {
        let out = super::objects::address::<u32>(arguments, 0);
        let stuck = (*arguments.add(1)).cast::<u32>().read();
        assert!(frame.addr().is_multiple_of(32), "the alignment that the kernel asks for");
        frame.cast::<Frame>().write(Frame { out, stuck, step: 0 });
    }
}

unsafe extern "C" fn resume(frame: *mut u8, item: *mut abi::Item) -> bool {
    // SAFETY: the frame was started, item, block and geometry are valid, shared memory has 128
    // bytes for the 4 of the kernel, then the dynamic part.
    unsafe {
        let (frame, item) = (&mut *frame.cast::<Frame>(), &mut *item);
        let block = &*item.block;
        let (threads, thread) = ((*block.geometry).block[0], item.thread[0]);
        assert!(block.shared.addr().is_multiple_of(128));
        let shared = block.shared.add(128).cast::<u32>();
        if frame.step == 0 {
            frame.step = 1;
            if block.index[0] == 1 && thread == frame.stuck {
                (item.wait, item.mask) = (abi::WAIT_WARP, 0b11);
                return false;
            }
            shared.add(thread as usize).write(thread);
            frame.out.add((block.index[0] * threads + thread) as usize).write(u32::MAX);
            item.wait = abi::WAIT_BARRIER;
            return false;
        }
        let value = shared.add((threads - 1 - thread) as usize).read();
        frame.out.add((block.index[0] * threads + thread) as usize).write(value);
        true
    }
}

fn reverse(
    loaded: &cg::Loaded,
    stream: &Stream,
    launch: Launch<1>,
    out: impl WriteSlice<u32>,
    stuck: u32,
) -> Result<()> {
    let stream = cg::stream(stream);
    let out = cg::write(out, stream)?;
    let arguments = [cg::Argument::pointer(&out), cg::Argument::value(&stuck)];
    // SAFETY: these are the arguments of the kernel.
    unsafe { cg::launch(loaded, 0, stream, launch, &arguments) }
}

#[test]
fn blocks_of_coroutines_share_memory_each_its_own() {
    for device in [Device::cpu().unwrap(), Device::cpu_sequential().unwrap()] {
        let loaded = cg::Loaded::new(&device, &SET).unwrap();
        assert_eq!(loaded.compiled(0).unwrap().lowering_strategy(), None, "nobody has said it");
        // Up and down: arenas grow, and are used again for less.
        for (blocks, threads) in [(1, 1), (3, 7), (40, 1024), (500, 33), (2, 64)] {
            let mut out = device.zeros::<u32>((blocks * threads) as usize).unwrap();
            let launch = Launch::grid([blocks], [threads]).shared_bytes(4 * threads as usize);
            reverse(&loaded, &device.stream(), launch, &mut out, u32::MAX).unwrap();
            let out = out.download().unwrap();
            assert!((0..).zip(&out).all(|(i, &out)| out == threads - 1 - i % threads));
        }
    }
}

#[test]
fn launches_are_within_the_bounds_of_the_source() {
    let device = Device::cpu().unwrap();
    let loaded = cg::Loaded::new(&device, &BOUNDED_SET).unwrap();
    let mut out = device.zeros::<u32>(5).unwrap();
    let mut launch = |threads: u32| {
        let launch = Launch::grid([1], [threads]).shared_bytes(20);
        reverse(&loaded, &device.stream(), launch, &mut out, u32::MAX)
    };
    launch(4).unwrap();
    assert!(matches!(launch(5), Err(Error::Limit { requested: 5, limit: 4, .. })));
}

#[test]
fn a_deadlock_is_reported_like_a_panic() {
    let device = Device::cpu_sequential().unwrap();
    let loaded = cg::Loaded::new(&device, &SET).unwrap();
    let mut out = device.zeros::<u32>(3 * 32).unwrap();
    let stream = device.new_stream().unwrap();
    let launch = Launch::grid([3], [32]).shared_bytes(128);
    reverse(&loaded, &stream, launch, &mut out, 1).unwrap();
    let error = stream.synchronize().unwrap_err();
    let text = "kernel of kernels/reverse.rs panicked (block 1,0,0 thread 1,0,0): deadlock in a block: 1 threads wait \
                at a warp-level primitive";
    assert!(error.to_string().starts_with(text), "{error}");
    match error {
        Error::KernelPanic(panic) => assert_eq!(panic.kind, PanicKind::Deadlock),
        error => panic!("{error}"),
    }
    // Block 0 ran, block 2 was not begun.
    let out = out.download().unwrap();
    assert_eq!((out[0], out[64..].iter().max()), (31, Some(&0)));
}

#[test]
fn what_does_not_fit_this_version_is_refused_by_name() {
    let device = Device::cpu().unwrap();
    let refused = |set| cg::Loaded::new(&device, set).unwrap_err().to_string();
    assert!(refused(&OTHER_SET).starts_with("the kernel `reverse` has interface version 77, "));
    let bindings = refused(&OTHER_BINDINGS);
    assert!(bindings.starts_with("package `demo` has interface version 78"), "{bindings}");
    let missing = refused(&NO_BINARIES);
    assert!(missing.contains("KERNELMILL_SKIP_BUILD"), "{missing}");
}

#[test]
fn contracts_are_checked_by_name() {
    cg::require(true, "reverse", "out.len() >= n", &[]).unwrap();
    let error = cg::require(false, "reverse", "out.len() >= n", &[]).unwrap_err();
    assert_eq!(error.to_string(), "kernel `reverse`: its contract `out.len() >= n` does not hold");
}
