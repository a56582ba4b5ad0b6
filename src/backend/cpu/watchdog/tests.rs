//! Watched launches: a kernel that does not end, what its launch reports, and what becomes of its buffers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use super::super::{context::Context, options::Options};
use crate::{
    __codegen::{self as cg, abi},
    Device, Error, Launch, Result,
    tests::objects::{address, argument},
};

/// `fn stuck(out: *mut u32, value: u32)`: where `value` is 7 a block waits for [`RELEASED`] before it
/// writes its element.
static KERNELS: [cg::CpuKernel; 2] = [
    cg::CpuKernel {
        version: kernelmill_artifact::FORMAT_VERSION,
        strategy: abi::STRATEGY_LOOP,
        static_shared_bytes: 4,
        frame_bytes: 4,
        frame_align: 1,
        blocks_along_y: 0,
        joins_blocks: 0,
        reserved: 0,
        run: [Some(run), None, None],
        start: None,
        resume: None,
    },
    // Every thread waits at a barrier for ever.
    cg::CpuKernel {
        version: kernelmill_artifact::FORMAT_VERSION,
        strategy: abi::STRATEGY_COROUTINE,
        static_shared_bytes: 0,
        frame_bytes: 8,
        frame_align: 1,
        blocks_along_y: 0,
        joins_blocks: 0,
        reserved: 0,
        run: [None; 3],
        start: Some(start),
        resume: Some(resume),
    },
];

static SET: cg::KernelSet = cg::KernelSet {
    format_version: kernelmill_artifact::FORMAT_VERSION,
    package: "watched",
    signatures: &[
        cg::Signature::borrowed("stuck", &[]),
        cg::Signature::borrowed("stuck_at_barriers", &[]),
    ],
    functions: &[],
    variables: &[],
    tuned: &[],
    artifacts: &[cg::EmbeddedArtifact {
        fingerprint: "watched",
        target: "cpu",
        kind: cg::ArtifactKind::Object,
        source: "kernels/stuck.rs",
        bytes: &[],
        kernels: &[embedded(0, "stuck"), embedded(1, "stuck_at_barriers")],
        locations: &[],
        backtraces: &[],
        messages: &[],
        relocations: &[],
        variables: &[],
    }],
};

const fn embedded(signature: usize, entry: &'static str) -> cg::EmbeddedKernel {
    // SAFETY: a constant of this program, with functions as the type says.
    let cpu = Some(unsafe { cg::CpuEntry::new(&KERNELS[signature]) });
    cg::EmbeddedKernel {
        signature,
        entry,
        static_shared_bytes: 4,
        panics: true,
        cooperative: false,
        resources: cg::Resources::UNKNOWN,
        variant: None,
        cpu,
    }
}

/// Whether a block waits.
static WAITS: AtomicBool = AtomicBool::new(false);

/// Whether the block may go on.
static RELEASED: AtomicBool = AtomicBool::new(false);

/// What the block has written once it has gone on.
static WRITTEN: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn run(arguments: *const *const u8, block: *mut abi::Block) {
    // SAFETY: the run time passes the kernel's arguments, and a valid block.
    unsafe {
        let number = (*block).index[0];
        let is_stuck = argument::<u32>(arguments, 1) == 7;
        if is_stuck {
            WAITS.store(true, Ordering::Release);
        }
        while is_stuck && !RELEASED.load(Ordering::Acquire) {
            thread::yield_now();
        }
        let out = address::<u32>(arguments, 0).add(number as usize);
        out.write(argument::<u32>(arguments, 1));
        (*block).shared.write(1);
        (*block).scratch.write(1);
        if is_stuck {
            WRITTEN.store(out.read(), Ordering::Release);
        }
    }
}

unsafe extern "C" fn start(_: *const *const u8, _: *mut abi::Item, _: *mut u8) {}

unsafe extern "C" fn resume(_: *mut u8, item: *mut abi::Item) -> bool {
    // SAFETY: the item is valid.
    unsafe { (*item).wait = abi::WAIT_BARRIER };
    false
}

/// A limit that a launch which does not end exceeds.
const SHORT: Duration = Duration::from_millis(10);

/// A limit that no launch exceeds.
const LONG: Duration = Duration::from_secs(3600);

/// A device that gives a launch so much time.
fn watched(sequential: bool, limit: Duration) -> Device {
    let watchdog = Some(limit);
    Device::of(Arc::new(Context::new(sequential, Options { watchdog, guard_pages: None })))
}

/// Launches a kernel that writes `value` to `out`, an element for each block.
fn launch(device: &Device, kernel: usize, value: u32, out: &mut crate::Buffer<u32>) -> Result<()> {
    let loaded = cg::Loaded::new(device, &SET)?;
    let blocks = out.len() as u32;
    let stream = device.stream();
    let stream = cg::stream(&stream);
    let out = cg::write(out, stream)?;
    let arguments = [cg::Argument::pointer(&out), cg::Argument::value(&value)];
    // SAFETY: these are the arguments of the kernel.
    unsafe { cg::launch(&loaded, kernel, stream, Launch::grid([blocks], [3]), &arguments) }
}

#[test]
fn watched_launches_that_end_are_as_others() {
    for device in [watched(false, LONG), watched(true, LONG)] {
        for blocks in [1, 2, 100] {
            let mut out = device.zeros::<u32>(blocks).unwrap();
            launch(&device, 0, 5, &mut out).unwrap();
            assert_eq!(out.download().unwrap(), vec![5; blocks]);
        }
        device.synchronize().unwrap();
    }
}

/// A block whose thread gets no time before the launch is given up never begins, and then there is nothing
/// that goes on: so until one has begun.
#[test]
fn a_launch_that_does_not_end_is_an_error_and_its_buffer_is_lost() {
    while !WAITS.load(Ordering::Acquire) {
        a_launch_does_not_end();
    }
    // The block goes on after all that the launch was given is gone.
    RELEASED.store(true, Ordering::Release);
    while WRITTEN.load(Ordering::Acquire) == 0 {
        thread::yield_now();
    }
    assert_eq!(WRITTEN.load(Ordering::Acquire), 7);
}

fn a_launch_does_not_end() {
    let device = watched(false, SHORT);
    let (mut out, other) = (device.zeros::<u32>(1).unwrap(), device.upload(&[1_u8]).unwrap());
    launch(&device, 0, 7, &mut out).unwrap();
    let error = device.stream().synchronize().unwrap_err();
    let text = "kernel `stuck` of kernels/stuck.rs has run for more than 10ms, the limit that \
                KERNELMILL_WATCHDOG sets; blocks that still run: 0,0,0";
    assert_eq!(error.to_string(), text);
    // Reported once by streams, and by each use of the buffer.
    device.stream().synchronize().unwrap();
    device.synchronize().unwrap();
    for _ in 0..2 {
        let uses = [
            out.download().map(drop),
            out.copy_from(&[0]),
            out.slice(..1).download().map(drop),
            launch(&device, 0, 5, &mut out),
        ];
        for result in uses {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::LaunchTimeout(_)), "{error}");
        }
    }
    assert_eq!(other.download().unwrap(), [1]);
}

#[test]
fn coroutines_that_wait_at_barriers_for_ever_are_an_error() {
    let device = watched(true, SHORT);
    let mut out = device.zeros::<u32>(1).unwrap();
    launch(&device, 1, 7, &mut out).unwrap();
    match device.synchronize().unwrap_err() {
        Error::LaunchTimeout(timeout) => {
            assert_eq!((&*timeout.kernel, timeout.blocks), ("stuck_at_barriers", vec![[0, 0, 0]]));
        }
        error => panic!("{error}"),
    }
}

/// The launch that is given up may write the element when the next one of the graph would.
#[test]
fn a_graph_ends_at_the_memory_of_a_launch_that_is_given_up() {
    let device = watched(true, SHORT);
    let loaded = cg::Loaded::new(&device, &SET).unwrap();
    let builder = device.graph();
    let mut out = builder.add(device.upload(&[1_u32]).unwrap()).unwrap();
    for kernel in [1, 0] {
        let stream = cg::stream(&builder);
        let out = cg::write(&mut out, stream).unwrap();
        let arguments = [cg::Argument::pointer(&out), cg::Argument::value(&5_u32)];
        // SAFETY: these are the arguments of the kernels.
        unsafe { cg::launch(&loaded, kernel, stream, Launch::grid([1], [3]), &arguments) }.unwrap();
    }
    let mut graph = builder.instantiate().unwrap();
    for _ in 0..2 {
        let error = graph.launch(&device.stream()).unwrap_err();
        assert!(matches!(error, Error::LaunchTimeout(_)), "{error}");
    }
    let address = graph.slice(&out).unwrap().memory().unwrap().address();
    let element = std::ptr::with_exposed_provenance_mut(address as usize);
    // SAFETY: the memory is not freed, and its launch writes nothing.
    let found = unsafe { AtomicU32::from_ptr(element) }.load(Ordering::Relaxed);
    assert_eq!(found, 1, "the second launch has run");
}

#[test]
fn memory_that_a_watched_launch_cannot_get_is_an_error() {
    for sequential in [false, true] {
        super::super::tests::lacks_memory(&watched(sequential, LONG));
    }
}
