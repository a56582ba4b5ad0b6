//! Programs of which every call of the driver fails once, at every number: the call that failed is
//! named or its failure has no effect, no panic of a kernel is lost, nothing leaks, and the same
//! program, run again in the same process, does what it should.

use std::{fmt::Write as _, thread};

use cuda_backend::{
    Kernels, LEAKS, adopt, block_on, cudarc, is_driver_real, is_left_out, run_child,
};
use cudarc::driver::{CudaContext, sys};
use kernelmill::{Device, Error, Launch, Result};

const LEN: usize = 8;

/// The call behind a program.
const MARK: &str = "cuProfilerStop";

/// Calls that give something back. One that fails is not made again, because it may have done its
/// work: calls report errors of launches too.
const RELEASES: [&str; 9] = [
    "cuDevicePrimaryCtxRelease",
    "cuEventDestroy",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuMemFreeAsync",
    "cuMemFree",
    "cuMemFreeHost",
    "cuModuleUnload",
    "cuStreamDestroy",
];

/// Functions of cudarc's that make several calls, and these.
const OF_CUDARC: [(&str, &[&str]); 3] = [
    (
        "CudaContext::new",
        &[
            "cuInit",
            "cuDeviceGet",
            "cuDevicePrimaryCtxRetain",
            "cuDeviceGetAttribute",
            "cuCtxGetCurrent",
            "cuCtxSetCurrent",
        ],
    ),
    (
        "CudaContext::new_stream",
        &["cuCtxGetCurrent", "cuCtxSetCurrent", "cuCtxSynchronize", "cuStreamCreate"],
    ),
    ("CudaContext::bind_to_thread", &["cuCtxGetCurrent", "cuCtxSetCurrent"]),
];

/// What became of a program's calls.
#[derive(Default)]
struct Findings {
    /// What was wrong.
    faults: String,
    /// Calls with which something was wrong.
    failed: usize,
    /// Failed calls after which something leaked that nobody can give back, or that cudarc keeps.
    leaks: usize,
}

/// What a program computes: the elements of a buffer, and the panics that it was told of.
type Outcome = (Vec<f32>, usize);

/// A program, and what it computes.
struct Program {
    name: &'static str,
    run: fn() -> Result<Outcome>,
    /// How many devices there are.
    devices: &'static str,
    expected: ([f32; LEN], usize),
}

/// Everything on the default stream.
fn copies_and_launches() -> Result<Outcome> {
    let device = Device::cuda(0)?;
    let kernels = Kernels::load(&device)?;
    let (mut x, mut y) = (device.upload(&[1.0f32; LEN])?, device.zeros::<f32>(LEN)?);
    kernels.saxpy(&device.stream(), Launch::linear(LEN), 2.0, &x, &mut y)?;
    x.slice_mut(..4).copy_from(&[3.0; 4])?;
    kernels.saxpy(&device.stream(), Launch::linear(LEN), 1.0, &x, &mut y)?;
    device.stream().synchronize()?;
    Ok((y.download()?, 0))
}

/// Readers and writers on several streams, and memory that is freed while it is used.
fn several_streams() -> Result<Outcome> {
    let device = Device::cuda(0)?;
    let kernels = Kernels::load(&device)?;
    let streams = [device.new_stream()?, device.new_stream()?];
    let (mut x, mut y) = (device.upload(&[1.0f32; LEN])?, device.zeros::<f32>(LEN)?);
    for stream in &streams {
        let mut own = device.zeros::<f32>(LEN)?;
        kernels.saxpy(stream, Launch::linear(LEN), 1.0, &x, &mut own)?;
        kernels.saxpy(&streams[0], Launch::linear(LEN), 1.0, &own, &mut y)?;
    }
    x.copy_from(&[5.0; LEN])?;
    kernels.saxpy(&device.stream(), Launch::linear(LEN), 1.0, &x, &mut y)?;
    drop(streams);
    let elements = y.download()?;
    device.synchronize()?;
    Ok((elements, 0))
}

/// A copy from one device to another, whose memories are in use on other streams.
fn two_devices() -> Result<Outcome> {
    let devices = [Device::cuda(0)?, Device::cuda(1)?];
    let (kernels, stream) = (Kernels::load(&devices[0])?, devices[0].new_stream()?);
    let (x, mut y) = (devices[0].upload(&[1.0f32; LEN])?, devices[0].zeros::<f32>(LEN)?);
    kernels.saxpy(&stream, Launch::linear(LEN), 3.0, &x, &mut y)?;
    let mut other = devices[1].upload(&[9.0f32; LEN])?;
    other.slice_mut(..4).copy_from_buffer(&devices[1].stream(), &y.slice(..4))?;
    Ok((other.download()?, 0))
}

/// Counts a panic. A failure to read it is told once, and the panic stays to be told.
fn count(result: Result<()>, again: impl FnOnce() -> Result<()>) -> Result<usize> {
    match result {
        Err(Error::KernelPanic(_)) => Ok(1),
        Err(error) => match again() {
            Err(Error::KernelPanic(_)) => Err(error),
            other => panic!("the panic is lost: {error}, then {other:?}"),
        },
        Ok(()) => Ok(0),
    }
}

/// Kernels that panic: waited for by stream, by download, by device, and after they are unloaded.
fn panics() -> Result<Outcome> {
    let device = Device::cuda(0)?;
    let kernels = Kernels::load(&device)?;
    let stream = device.new_stream()?;
    let (x, mut y) = (device.upload(&[1.0f32; LEN])?, device.zeros::<f32>(LEN)?);
    let short = x.slice(..LEN - 1);
    let launch = Launch::grid([1], [LEN as u32]);
    let mut panics = 0;
    kernels.saxpy(&stream, launch, 1.0, &short, &mut y)?;
    panics += count(stream.synchronize(), || stream.synchronize())?;
    kernels.saxpy(&device.stream(), launch, 1.0, &short, &mut y)?;
    let mut elements = Vec::new();
    let mut download = || y.download().map(|it| elements = it);
    panics += count(download(), &mut download)?;
    kernels.saxpy(&stream, launch, 1.0, &short, &mut y)?;
    panics += count(device.synchronize(), || device.synchronize())?;
    kernels.saxpy(&stream, launch, 1.0, &short, &mut y)?;
    drop(kernels);
    kernelmill::module_cache().release_unused();
    panics += count(stream.synchronize(), || stream.synchronize())?;
    Ok((y.download()?, panics))
}

/// A graph that is launched on two streams.
fn graphs() -> Result<Outcome> {
    let device = Device::cuda(0)?;
    let kernels = Kernels::load(&device)?;
    let builder = device.graph();
    let x = builder.add(device.upload(&[1.0f32; LEN])?)?;
    let mut y = builder.add(device.zeros::<f32>(LEN)?)?;
    kernels.saxpy(&builder, Launch::linear(LEN), 1.0, &x, &mut y)?;
    kernels.saxpy(&builder, Launch::linear(LEN), 2.0, &x, &mut y)?;
    let mut graph = builder.instantiate()?;
    let streams = [device.stream(), device.new_stream()?];
    for stream in &streams {
        graph.launch(stream)?;
        stream.synchronize()?;
    }
    Ok((graph.slice(&y)?.download()?, 0))
}

/// Asks once more where the answer is that something is not ready: a driver may say so once, and it is no failure.
fn once_not_ready(ask: impl Fn() -> Result<bool>) -> Result<bool> {
    if ask()? { Ok(true) } else { ask() }
}

/// Events that streams, the host and tasks wait for, with their times.
fn events() -> Result<Outcome> {
    let device = Device::cuda(0)?;
    let kernels = Kernels::load(&device)?;
    let streams = [device.new_stream()?, device.stream()];
    let (x, mut y) = (device.upload(&[1.0f32; LEN])?, device.zeros::<f32>(LEN)?);
    let start = streams[0].record()?;
    kernels.saxpy(&streams[0], Launch::linear(LEN), 2.0, &x, &mut y)?;
    let end = streams[0].record()?;
    streams[1].wait(&end)?;
    // A driver that is lazy has not begun.
    match end.elapsed_since(&start) {
        Err(Error::EventPending { .. }) => {}
        other => assert!(is_driver_real(), "the event is pending: {:?}", other?),
    }
    assert!(!end.is_complete()? || is_driver_real());
    end.synchronize()?;
    assert!(once_not_ready(|| start.is_complete())?);
    once_not_ready(|| match end.elapsed_since(&start) {
        Err(Error::EventPending { .. }) => Ok(false),
        asked => asked.map(|_| true),
    })?;
    kernels.saxpy(&streams[0], Launch::linear(LEN), 1.0, &x, &mut y)?;
    // One wait on another thread: a second one may have the same thread, and other calls then.
    block_on(&streams[0])?;
    drop((start, end, streams));
    Ok((y.download()?, 0))
}

/// Copies between pinned memory and the device, on several streams.
fn pinned_copies() -> Result<Outcome> {
    let device = Device::cuda(0)?;
    let mut y = device.zeros::<f32>(LEN)?;
    let (mut source, mut target) =
        (device.pinned_from(&[1.0f32; LEN])?, device.pinned_zeros::<f32>(LEN)?);
    y.copy_from_async(&device.stream(), &source)?;
    source.as_mut_slice()?.fill(2.0);
    let streams = [device.new_stream()?, device.new_stream()?];
    y.slice_mut(..4).copy_from_async(&streams[0], &device.pinned_from(&[3.0; 4])?)?;
    y.copy_to_async(&streams[1], &mut target)?;
    assert_eq!(target.as_slice()?[2..6], [3.0, 3.0, 1.0, 1.0]);
    y.copy_from_async(&streams[1], &source)?;
    y.copy_to_async(&streams[0], &mut source)?;
    let mut copy = device.zeros::<f32>(LEN)?;
    copy.copy_from_buffer(&streams[0], &y.slice(..))?;
    y.copy_from_buffer(&streams[1], &copy.slice(..))?;
    // One wait on another thread, as above.
    assert_eq!(block_on(y.slice(..2).download_async(&streams[1])?)?, [2.0; 2]);
    drop((source, streams));
    Ok((y.download()?, 0))
}

/// Launches that were prepared once, on several streams, of which one reads what another has written.
fn prepared_launches() -> Result<Outcome> {
    let device = Device::cuda(0)?;
    let kernels = Kernels::load(&device)?;
    let streams = [device.new_stream()?, device.new_stream()?, device.stream()];
    let x = device.upload(&[1.0f32; LEN])?;
    let (mut y, mut z) = (device.zeros::<f32>(LEN)?, device.zeros::<f32>(LEN)?);
    let mut first = kernels.prepare(Launch::linear(LEN), 2.0, &x, &mut y)?;
    for stream in &streams {
        first.launch(stream)?;
    }
    drop(first);
    let mut second = kernels.prepare(Launch::linear(LEN), 0.5, &y, &mut z)?;
    for stream in &streams {
        second.launch(stream)?;
    }
    drop((second, kernels));
    kernelmill::module_cache().release_unused();
    drop(streams);
    Ok((z.download()?, 0))
}

/// Streams and slices of cudarc's in a context that the program has.
fn with_cudarc() -> Result<Outcome> {
    // What fails in cudarc itself is not looked at.
    let Ok(context) = CudaContext::new(0) else { return ignored() };
    let device = Device::from_cuda_context(&context)?;
    let kernels = Kernels::load(&device)?;
    let Ok(stream) = context.new_stream() else { return ignored() };
    let Ok(x) = stream.clone_htod(&[1.0f32; LEN]) else { return ignored() };
    let mut y = device.zeros::<f32>(LEN)?;
    let stream = adopt(&device, &stream)?;
    kernels.saxpy(&stream, Launch::linear(LEN), 2.0, cudarc(&x), &mut y)?;
    kernels.saxpy(&device.stream(), Launch::linear(LEN), 1.0, cudarc(&x), &mut y)?;
    stream.synchronize()?;
    Ok((y.download()?, 0))
}

/// A device, kernels and copies of slices, each used by a thread that has just begun, and kernels that are loaded
/// again after they were released.
fn other_threads() -> Result<Outcome> {
    let device = in_a_thread(|| Device::cuda(0))?;
    let (x, mut y) = in_a_thread(|| {
        let (x, y) = (device.upload(&[1.0f32; LEN])?, device.upload(&[2.0f32; LEN])?);
        Ok((x, y))
    })?;
    for _ in 0..2 {
        let kernels = in_a_thread(|| Kernels::load(&device))?;
        let stream = in_a_thread(|| device.new_stream())?;
        in_a_thread(|| kernels.saxpy(&stream, Launch::linear(LEN), 2.0, &x, &mut y))?;
        in_a_thread(|| stream.synchronize())?;
        in_a_thread(|| {
            drop((kernels, stream));
            kernelmill::module_cache().release_unused();
            Ok(())
        })?;
    }
    let mut half = [0.0; LEN / 2];
    in_a_thread(|| y.slice(..LEN / 2).copy_to(&mut half))?;
    in_a_thread(|| y.slice_mut(LEN / 2..).copy_from(&half.map(|element| element + 1.0)))?;
    in_a_thread(|| device.synchronize())?;
    let elements = in_a_thread(|| y.download())?;
    in_a_thread(move || {
        drop((x, y));
        Ok(())
    })?;
    Ok((elements, 0))
}

fn in_a_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    thread::scope(|scope| scope.spawn(work).join().expect("no panic on the host"))
}

fn ignored() -> Result<Outcome> {
    println!("ignored");
    Ok((WITH_CUDARC.expected.0.to_vec(), 0))
}

const COPIES_AND_LAUNCHES: Program = Program {
    name: "every_call_of_copies_and_launches_fails_once",
    run: copies_and_launches,
    devices: "1",
    expected: ([5.0, 5.0, 5.0, 5.0, 3.0, 3.0, 3.0, 3.0], 0),
};
const SEVERAL_STREAMS: Program = Program {
    name: "every_call_of_several_streams_fails_once",
    run: several_streams,
    devices: "1",
    expected: ([7.0; LEN], 0),
};
const GRAPHS: Program = Program {
    name: "every_call_of_graphs_fails_once",
    run: graphs,
    devices: "1",
    expected: ([6.0; LEN], 0),
};
const EVENTS: Program = Program {
    name: "every_call_of_events_fails_once",
    run: events,
    devices: "1",
    expected: ([3.0; LEN], 0),
};
const PINNED_COPIES: Program = Program {
    name: "every_call_of_pinned_copies_fails_once",
    run: pinned_copies,
    devices: "1",
    expected: ([2.0; LEN], 0),
};
const PREPARED_LAUNCHES: Program = Program {
    name: "every_call_of_prepared_launches_fails_once",
    run: prepared_launches,
    devices: "1",
    expected: ([9.0; LEN], 0),
};
const PANICS: Program = Program {
    name: "every_call_of_kernels_that_panic_fails_once",
    run: panics,
    devices: "1",
    expected: ([4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 0.0], 4),
};
const OTHER_THREADS: Program = Program {
    name: "every_call_of_other_threads_fails_once",
    run: other_threads,
    devices: "1",
    expected: ([6.0, 6.0, 6.0, 6.0, 7.0, 7.0, 7.0, 7.0], 0),
};
const TWO_DEVICES: Program = Program {
    name: "every_call_of_copies_between_devices_fails_once",
    run: two_devices,
    devices: "2",
    expected: ([3.0, 3.0, 3.0, 3.0, 9.0, 9.0, 9.0, 9.0], 0),
};
const WITH_CUDARC: Program = Program {
    name: "every_call_with_slices_of_cudarc_fails_once",
    run: with_cudarc,
    devices: "1",
    expected: ([3.0; LEN], 0),
};

impl Program {
    /// The child: runs the program while a call fails, and again.
    fn body(&self) {
        match (self.run)() {
            Ok(outcome) => self.check(&outcome),
            Err(error) => println!("error: {error}"),
        }
        mark_the_end();
        // The driver's other calls work.
        self.check(&(self.run)().expect("the failure is over"));
    }

    #[track_caller]
    fn check(&self, (elements, panics): &Outcome) {
        let (expected, expected_panics) = self.expected;
        assert_eq!((&elements[..], *panics), (&expected[..], expected_panics));
    }

    /// Lets each call fail once. On the machine's driver, where none can be made to, the program runs as it is.
    fn sweep(&self, errors: &[&str]) {
        if is_driver_real() {
            if self.devices == "1" || !is_left_out(self.name) {
                run_child(self.name, &[], || self.body()).expect_success();
            }
            return;
        }
        for error in errors {
            let mut found = Findings::default();
            let calls = (1..).take_while(|call| self.fail(*call, error, &mut found)).count();
            let Findings { faults, failed, leaks } = found;
            println!(
                "counted: {} with {error}, {leaks} leaks that are not ours: {calls} tried, {failed} failed",
                self.name
            );
            assert!(faults.is_empty(), "{faults}");
            assert!(calls > 40, "only {calls} calls of {}", self.name);
        }
    }

    /// Lets a call fail, and adds what is wrong then; whether there was such a call.
    fn fail(&self, call: usize, error: &str, found: &mut Findings) -> bool {
        let rule = format!("any at call {call} with {error}");
        let variables = [
            ("FAKE_CUDA_FAIL", &*rule),
            ("FAKE_CUDA_LEAK_CHECK", "1"),
            ("FAKE_CUDA_STREAMS", "lazy"),
            ("FAKE_CUDA_DEVICES", self.devices),
        ];
        let child = run_child(self.name, &variables, || self.body());
        let said = format!("fake-cuda: call {call} fails, of ");
        let failed = child.stderr.lines().find_map(|line| line.strip_prefix(&said));
        let failed = failed.expect("the end is marked by a call");
        if failed == MARK {
            child.expect_success();
            return false;
        }
        let before = found.faults.len();
        let may_leak = RELEASES.contains(&failed) || is_leak_of_cudarc(failed, &child.stdout);
        if child.code != Some(0) && (child.code != Some(LEAKS) || !may_leak) {
            let (printed, said) = (&child.stdout, &child.stderr);
            writeln!(found.faults, "call {call}, {failed}:\n{printed}\n{said}").unwrap();
        }
        found.leaks += usize::from(may_leak && child.code == Some(LEAKS));
        let told = child.stdout.lines().find_map(|line| line.split_once("error: "));
        if let Some((_, error)) = told.filter(|(_, told)| {
            // That is what this answer means there.
            let may_be_missing = failed == "cuModuleGetFunction" && error == "NOT_FOUND";
            let is_missing = may_be_missing && told.contains("has no kernel `");
            !is_missing && !names(told, failed)
        }) {
            writeln!(found.faults, "call {call}, {failed}, is named: {error}").unwrap();
        }
        found.failed += usize::from(found.faults.len() > before);
        true
    }
}

/// Makes a call that no program makes.
fn mark_the_end() {
    // SAFETY: the driver is there, and there is no profiler.
    let _ = unsafe { sys::cuProfilerStop() };
}

/// cudarc's `CudaContext::new` keeps the primary context where it cannot ask for an attribute.
fn is_leak_of_cudarc(failed: &str, printed: &str) -> bool {
    let in_new = printed.contains("error: CudaContext::new failed");
    (failed == "cuDeviceGetAttribute" && in_new) || printed.contains("ignored")
}

/// Whether an error names the function that failed.
fn names(error: &str, failed: &str) -> bool {
    let named = error.split(" failed").next().unwrap_or_default();
    let function = named.split(' ').next().unwrap_or_default();
    let of_cudarc = OF_CUDARC.iter().find(|(known, _)| *known == function);
    let out_of_memory = failed.starts_with("cuMemAlloc") && error.starts_with("out of memory");
    let later = failed == "cuDeviceGetCount" && error.contains("is not available");
    named == failed
        || of_cudarc.is_some_and(|(_, calls)| calls.contains(&failed))
        || out_of_memory
        || later
        || (error.contains("an earlier call of cudarc's") && WITH_CUDARC.name.contains("cudarc"))
}

/// Acceptance: S4.12.
#[test]
fn every_call_of_copies_and_launches_fails_once() {
    COPIES_AND_LAUNCHES.sweep(&["UNKNOWN", "OUT_OF_MEMORY", "LAUNCH_FAILED", "NOT_READY"]);
}

#[test]
fn every_call_of_several_streams_fails_once() {
    SEVERAL_STREAMS.sweep(&["UNKNOWN", "OUT_OF_MEMORY", "LAUNCH_FAILED", "NOT_READY"]);
}

#[test]
fn every_call_of_graphs_fails_once() {
    GRAPHS.sweep(&["UNKNOWN", "OUT_OF_MEMORY", "LAUNCH_FAILED", "NOT_READY"]);
}

#[test]
fn every_call_of_events_fails_once() {
    EVENTS.sweep(&["UNKNOWN", "OUT_OF_MEMORY", "LAUNCH_FAILED", "NOT_READY"]);
}

#[test]
fn every_call_of_pinned_copies_fails_once() {
    PINNED_COPIES.sweep(&["UNKNOWN", "OUT_OF_MEMORY", "LAUNCH_FAILED", "NOT_READY"]);
}

#[test]
fn every_call_of_prepared_launches_fails_once() {
    PREPARED_LAUNCHES.sweep(&["UNKNOWN", "OUT_OF_MEMORY", "LAUNCH_FAILED", "NOT_READY"]);
}

#[test]
fn every_call_of_kernels_that_panic_fails_once() {
    PANICS.sweep(&["UNKNOWN", "OUT_OF_MEMORY", "LAUNCH_FAILED", "NOT_READY", "NOT_FOUND"]);
}

#[test]
fn every_call_of_copies_between_devices_fails_once() {
    TWO_DEVICES.sweep(&["UNKNOWN", "OUT_OF_MEMORY", "LAUNCH_FAILED", "NOT_READY"]);
}

#[test]
fn every_call_with_slices_of_cudarc_fails_once() {
    WITH_CUDARC.sweep(&["UNKNOWN"]);
}

#[test]
fn every_call_of_other_threads_fails_once() {
    OTHER_THREADS.sweep(&["UNKNOWN", "OUT_OF_MEMORY", "LAUNCH_FAILED", "NOT_READY"]);
}
