//! Launches that are queued: what a program can see of their order, and what becomes of buffers and panics.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use kernelmill_artifact::PanicRecord;

use super::{
    context::Context,
    driver_context::{CpuStream, DriverContext},
};
use crate::{
    __codegen::{self as cg, abi},
    Buffer, Device, Error, Launch, Result, Stream,
    backend::{
        cpu,
        gpu::calls::{EventCalls as _, EventUse},
    },
    tests::objects::{address, argument, looped},
};

/// `fn step(out: *mut u32, what: u32, gate: u32)`: one block waits until [`GATES`] lets `gate` through,
/// and then adds to each element, multiplies it, or panics.
static KERNEL: cg::CpuKernel = looped(run);

static SET: cg::KernelSet = cg::KernelSet {
    format_version: kernelmill_artifact::FORMAT_VERSION,
    package: "queued",
    signatures: &[cg::Signature::borrowed("step", &[])],
    functions: &[],
    variables: &[],
    tuned: &[],
    artifacts: &[cg::EmbeddedArtifact {
        fingerprint: "queued",
        target: "cpu",
        kind: cg::ArtifactKind::Object,
        source: "kernels/step.rs",
        bytes: &[],
        kernels: &[cg::EmbeddedKernel {
            signature: 0,
            entry: "step",
            static_shared_bytes: 0,
            panics: true,
            cooperative: false,
            resources: cg::Resources::UNKNOWN,
            variant: None,
            // SAFETY: a constant of this program, with functions as the type says.
            cpu: Some(unsafe { cg::CpuEntry::new(&KERNEL) }),
        }],
        locations: &[],
        backtraces: &[],
        messages: &[],
        relocations: &[],
        variables: &[],
    }],
};

/// The highest gate that is open, for each test.
static GATES: [AtomicU32; 12] = [const { AtomicU32::new(0) }; 12];

/// What a launch does to each element.
#[derive(Clone, Copy)]
enum Step {
    Add(u32),
    Double,
    Panic,
}

unsafe extern "C" fn run(arguments: *const *const u8, block: *mut abi::Block) {
    // SAFETY: the run time passes the kernel's arguments, and a valid block.
    unsafe {
        let (out, len) = (address::<u32>(arguments, 0), argument::<u32>(arguments, 1));
        let (what, by) = (argument::<u32>(arguments, 2), argument::<u32>(arguments, 3));
        let (test, gate) = (argument::<u32>(arguments, 4), argument::<u32>(arguments, 5));
        while GATES[test as usize].load(Ordering::Acquire) < gate {
            thread::sleep(Duration::from_micros(100));
        }
        for i in 0..len as usize {
            let element = out.add(i);
            match what {
                0 => *element += by,
                1 => *element *= 2,
                _ => {
                    let record: *mut PanicRecord = (*block).panic;
                    (*record).kind = 2;
                    ((*record).a, (*record).b) = (u64::from(by), 0);
                    AtomicU32::from_ptr(&raw mut (*record).state).store(2, Ordering::Release);
                    return;
                }
            }
        }
    }
}

/// The kernels of a test, which has gates of its own.
struct Test {
    device: Device,
    loaded: cg::Loaded,
    number: u32,
}

impl Test {
    fn new(number: u32) -> Self {
        Self::on(Device::cpu_async().unwrap(), number)
    }

    fn on(device: Device, number: u32) -> Self {
        let loaded = cg::Loaded::new(&device, &SET).unwrap();
        Self { device, loaded, number }
    }

    fn open(&self, gate: u32) {
        GATES[self.number as usize].store(gate, Ordering::Release);
    }

    /// Queues a step, which waits for a gate.
    fn step(&self, stream: &Stream, out: &mut Buffer<u32>, step: Step, gate: u32) -> Result<()> {
        let (what, by) = match step {
            Step::Add(by) => (0_u32, by),
            Step::Double => (1, 0),
            Step::Panic => (2, 9),
        };
        let len = out.len() as u32;
        let stream = cg::stream(stream);
        let out = cg::write(out, stream)?;
        let arguments = [
            cg::Argument::pointer(&out),
            cg::Argument::value(&len),
            cg::Argument::value(&what),
            cg::Argument::value(&by),
            cg::Argument::value(&self.number),
            cg::Argument::value(&gate),
        ];
        // SAFETY: these are the arguments of the kernel.
        unsafe { cg::launch(&self.loaded, 0, stream, Launch::grid([1], [1]), &arguments) }
    }
}

#[test]
fn a_launch_returns_before_its_kernel_has_run() {
    let test = Test::new(0);
    let stream = test.device.new_stream().unwrap();
    let mut out = test.device.zeros::<u32>(3).unwrap();
    test.step(&stream, &mut out, Step::Add(5), 1).unwrap();
    let event = stream.record().unwrap();
    assert!(!event.is_complete().unwrap());
    test.open(1);
    event.synchronize().unwrap();
    assert!(event.is_complete().unwrap());
    assert_eq!(out.download().unwrap(), [5; 3]);
}

#[test]
fn launches_of_a_buffer_run_in_order_on_whatever_streams() {
    let test = Test::new(1);
    let streams = [test.device.new_stream().unwrap(), test.device.new_stream().unwrap()];
    let mut out = test.device.upload(&[1_u32, 2]).unwrap();
    let mut expected = [1_u32, 2];
    for round in 0..20_u32 {
        let step = if round % 3 == 0 { Step::Double } else { Step::Add(round) };
        // The first is let through last, so that the others are queued while it waits.
        test.step(&streams[(round % 2) as usize], &mut out, step, 1).unwrap();
        expected = expected.map(|it| if round % 3 == 0 { it * 2 } else { it + round });
    }
    let mut copy = test.device.zeros::<u32>(2).unwrap();
    copy.copy_from_buffer(&streams[0], &out.slice(..)).unwrap();
    let opener = {
        let number = test.number as usize;
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            GATES[number].store(1, Ordering::Release);
        })
    };
    assert_eq!(copy.download().unwrap(), expected);
    opener.join().unwrap();
}

#[test]
fn streams_run_beside_each_other() {
    let test = Test::new(2);
    let streams = [test.device.new_stream().unwrap(), test.device.new_stream().unwrap()];
    let mut held = test.device.zeros::<u32>(1).unwrap();
    let mut free = test.device.zeros::<u32>(1).unwrap();
    test.step(&streams[0], &mut held, Step::Add(1), 2).unwrap();
    test.step(&streams[1], &mut free, Step::Add(7), 0).unwrap();
    streams[1].synchronize().unwrap();
    assert_eq!(free.download().unwrap(), [7]);
    // Another stream waits for an event of the first.
    let event = streams[0].record().unwrap();
    streams[1].wait(&event).unwrap();
    test.step(&streams[1], &mut free, Step::Double, 0).unwrap();
    let after = streams[1].record().unwrap();
    thread::sleep(Duration::from_millis(5));
    assert!(!event.is_complete().unwrap() && !after.is_complete().unwrap());
    test.open(2);
    after.synchronize().unwrap();
    assert!(event.is_complete().unwrap() && !after.elapsed_since(&event).unwrap().is_zero());
    assert_eq!(free.download().unwrap(), [14]);
}

#[test]
fn buffers_and_streams_are_dropped_while_launches_wait() {
    let test = Test::new(3);
    let stream = test.device.new_stream().unwrap();
    for _ in 0..10 {
        let mut out = test.device.zeros::<u32>(100).unwrap();
        test.step(&stream, &mut out, Step::Add(1), 1).unwrap();
    }
    let mut kept = test.device.zeros::<u32>(1).unwrap();
    test.step(&stream, &mut kept, Step::Add(3), 1).unwrap();
    drop(stream);
    test.open(1);
    test.device.synchronize().unwrap();
    assert_eq!(kept.download().unwrap(), [3]);
}

#[test]
fn a_panic_is_reported_once_by_the_stream_that_is_waited_for() {
    // A device of its own: any download of a device may report a panic.
    let device = Device::of(Arc::new(Context::new().unwrap()));
    let test = Test::on(device, 4);
    let streams = [test.device.new_stream().unwrap(), test.device.new_stream().unwrap()];
    let mut out = test.device.zeros::<u32>(1).unwrap();
    let mut other = test.device.zeros::<u32>(1).unwrap();
    for _ in 0..3 {
        test.open(0);
        test.step(&streams[0], &mut out, Step::Panic, 1).unwrap();
        test.step(&streams[0], &mut out, Step::Panic, 1).unwrap();
        test.step(&streams[1], &mut other, Step::Add(1), 0).unwrap();
        streams[1].synchronize().unwrap();
        test.open(1);
        let error = streams[0].synchronize().unwrap_err();
        let Error::KernelPanic(panic) = &error else { panic!("{error}") };
        assert_eq!(panic.source, "kernels/step.rs");
        streams[0].synchronize().unwrap();
        test.device.synchronize().unwrap();
    }
    test.step(&streams[0], &mut out, Step::Panic, 0).unwrap();
    assert!(matches!(out.download().unwrap_err(), Error::KernelPanic(_)));
    assert_eq!(other.download().unwrap(), [3]);
}

#[test]
fn kernels_are_unloaded_after_their_launches() {
    let device = Device::of(Arc::new(Context::new().unwrap()));
    let mut out = device.zeros::<u32>(1).unwrap();
    {
        let test = Test::on(device.clone(), 5);
        let stream = device.new_stream().unwrap();
        test.step(&stream, &mut out, Step::Add(4), 0).unwrap();
        test.step(&stream, &mut out, Step::Panic, 0).unwrap();
    }
    crate::module_cache().clear();
    assert!(matches!(device.synchronize().unwrap_err(), Error::KernelPanic(_)));
    assert_eq!(out.download().unwrap(), [4]);
}

#[test]
fn a_launch_that_is_given_up_takes_the_device_with_it() {
    let device = cpu::context::asynchronous_watched(LIMIT);
    let device = Device::of(Arc::new(Context::of(DriverContext::new(device).unwrap())));
    let test = Test::on(device, 6);
    let stream = test.device.new_stream().unwrap();
    let mut out = test.device.upload(&[1_u32]).unwrap();
    test.step(&stream, &mut out, Step::Add(1), 0).unwrap();
    assert_eq!(out.download().unwrap(), [2]);
    test.step(&stream, &mut out, Step::Add(1), 1).unwrap();
    for _ in 0..2 {
        let uses = [
            stream.synchronize(),
            out.download().map(drop),
            test.device.upload(&[1_u8]).map(drop),
            test.step(&stream, &mut out, Step::Double, 0),
        ];
        for result in uses {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::LaunchTimeout(_)), "{error}");
        }
    }
    drop((out, stream));
    test.open(1);
}

/// How long a launch may take where it is watched: more than one takes that ends, also on a busy machine and
/// under Miri.
const LIMIT: Duration = Duration::from_millis(200);

/// A device that gives a launch so long.
fn watched() -> DriverContext {
    let device = cpu::context::asynchronous_watched(LIMIT);
    DriverContext::new(device).unwrap()
}

/// The first element of a buffer, whatever its device says.
fn peek(buffer: &Buffer<u32>) -> u32 {
    let address = buffer.slice(..).memory().unwrap().address();
    let element = std::ptr::with_exposed_provenance_mut(address as usize);
    // SAFETY: the buffer is there, and launches that run use it in the same way, or not yet.
    unsafe { AtomicU32::from_ptr(element) }.load(Ordering::Relaxed)
}

#[test]
fn nothing_is_copied_after_a_launch_that_is_given_up() {
    let test = Test::on(Device::of(Arc::new(Context::of(watched()))), 8);
    let (stream, other) = (test.device.new_stream().unwrap(), test.device.new_stream().unwrap());
    let mut out = test.device.upload(&[7_u32]).unwrap();
    let mut copies = [(); 2].map(|()| test.device.zeros::<u32>(1).unwrap());
    test.device.synchronize().unwrap();
    test.step(&stream, &mut out, Step::Add(1), 1).unwrap();
    // The launch may write what is copied at any time.
    copies[0].copy_from_buffer(&stream, &out.slice(..)).unwrap();
    copies[1].copy_from_buffer(&other, &out.slice(..)).unwrap();
    for stream in [&stream, &other] {
        assert!(matches!(stream.synchronize().unwrap_err(), Error::LaunchTimeout(_)));
    }
    assert_eq!(copies.each_ref().map(peek), [0; 2]);
    test.open(1);
}

#[test]
fn memory_of_a_launch_that_is_given_up_later_is_not_freed() {
    let driver = watched();
    let in_use = Arc::clone(&driver.in_use);
    let test = Test::on(Device::of(Arc::new(Context::of(driver))), 9);
    let (stream, before) = (test.device.stream(), in_use.blocks());
    let mut out = test.device.zeros::<u32>(1).unwrap();
    let mut other = test.device.zeros::<u32>(1).unwrap();
    test.step(&stream, &mut out, Step::Add(1), 1).unwrap();
    test.step(&test.device.new_stream().unwrap(), &mut other, Step::Add(1), 1).unwrap();
    drop((out, other));
    assert!(matches!(stream.synchronize().unwrap_err(), Error::LaunchTimeout(_)));
    assert!(matches!(test.device.synchronize().unwrap_err(), Error::LaunchTimeout(_)));
    assert_eq!(in_use.blocks(), before + 2);
    test.open(1);
}

#[test]
fn several_threads_wait_for_the_device() {
    let test = Test::on(Device::of(Arc::new(Context::new().unwrap())), 10);
    let stream = test.device.new_stream().unwrap();
    let mut out = test.device.zeros::<u32>(1).unwrap();
    test.step(&stream, &mut out, Step::Add(1), 1).unwrap();
    let returned = AtomicU32::new(0);
    let early = thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                test.device.synchronize().unwrap();
                returned.fetch_add(1, Ordering::AcqRel);
            });
            thread::sleep(Duration::from_millis(10));
        }
        let early = returned.load(Ordering::Acquire);
        test.open(1);
        early
    });
    assert_eq!(early, 0, "the launch still ran");
}

/// What waits for an event waits for what was recorded then, also where it is recorded on another stream
/// since, and that is done.
#[test]
fn an_event_that_is_recorded_again_keeps_who_waits_waiting() {
    let driver = watched();
    let streams: [Arc<CpuStream>; 3] = [(); 3].map(|()| driver.new_stream().unwrap());
    let event = driver.create_event(EventUse::Order).unwrap();
    let passed = Arc::new(AtomicBool::new(false));
    streams[0].push(Box::new(|| {
        while GATES[11].load(Ordering::Acquire) == 0 {
            thread::sleep(Duration::from_micros(100));
        }
    }));
    // SAFETY: the event is there, and the streams are of its device.
    unsafe {
        DriverContext::record_event(event, &streams[0], EventUse::Order).unwrap();
        DriverContext::wait_event(event, &streams[1], EventUse::Order).unwrap();
        let passes = Arc::clone(&passed);
        streams[1].push(Box::new(move || passes.store(true, Ordering::Release)));
        DriverContext::record_event(event, &streams[2], EventUse::Order).unwrap();
        DriverContext::synchronize_event(event, EventUse::Order).unwrap();
        assert!(DriverContext::query_event(event, EventUse::Order).unwrap());
        DriverContext::destroy_event(event, EventUse::Order).unwrap();
    }
    thread::sleep(Duration::from_millis(5));
    let early = passed.load(Ordering::Acquire);
    GATES[11].store(1, Ordering::Release);
    assert!(!early, "the first stream had not come to it");
    streams[1].wait();
    assert!(passed.load(Ordering::Acquire));
}

/// Two pairs of threads, each with ten contexts of its own after another: [Halide's
/// `gpu_multi_context_threaded`](https://github.com/halide/Halide/blob/main/test/generator/gpu_multi_context_threaded_aottest.cpp).
///
/// Acceptance: C25.
#[test]
fn threads_have_contexts_of_their_own() {
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let test = Test::on(Device::of(Arc::new(Context::new().unwrap())), 7);
                    let mut out = test.device.upload(&[1_u32; 4]).unwrap();
                    test.step(&test.device.stream(), &mut out, Step::Add(2), 0).unwrap();
                    test.step(&test.device.stream(), &mut out, Step::Double, 0).unwrap();
                    results.lock().unwrap().push(out.download().unwrap());
                }
            });
        }
    });
    assert_eq!(results.into_inner().unwrap(), vec![vec![6; 4]; 40]);
}
