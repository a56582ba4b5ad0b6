//! Each call of the HIP run time fails once: the error names it, or nothing is lost by it; nothing leaks, and the
//! next attempt works.

use hip_backend::{Child, Kernels, register_own, run_child};
use kernelmill::{Device, Error, Launch, Result, Rows};

const LEN: usize = 64;

/// Functions whose failure is made up for: waits and records that are tried in another way, questions whose answer is
/// assumed, and memory that is asked for again, after a wait; and those that give something back, whose error the next call reports if there is one.
const MADE_UP_FOR: [&str; 18] = [
    "hipDeviceSynchronize",
    "hipEventCreateWithFlags",
    "hipEventDestroy",
    "hipEventQuery",
    "hipEventRecord",
    "hipFree",
    "hipFreeAsync",
    "hipGetDevice",
    "hipGraphDestroy",
    "hipGraphExecDestroy",
    "hipHostFree",
    "hipMallocAsync",
    "hipModuleUnload",
    "hipSetDevice",
    "hipStreamDestroy",
    "hipStreamQuery",
    "hipStreamSynchronize",
    "hipStreamWaitEvent",
];

/// Copies, launches on two streams, events, pinned memory: what the back end calls but for graphs.
fn program() -> Result<Vec<f32>> {
    let device = Device::hip(0)?;
    let kernels = Kernels::load(&device)?;
    let streams = [device.stream(), device.new_stream()?];
    let mut x = device.upload(&[1.0f32; LEN])?;
    let mut y = device.zeros::<f32>(LEN)?;
    for stream in &streams {
        kernels.saxpy(stream, Launch::linear(LEN), 2.0, &x, &mut y)?;
    }
    x.copy_from(&[3.0; LEN])?;
    let event = streams[1].record()?;
    streams[0].wait(&event)?;
    event.synchronize()?;
    event.is_complete()?;
    event.elapsed_since(&event)?;
    let mut pinned = device.pinned_from(&[5.0f32; LEN])?;
    x.copy_from_async(&streams[1], &pinned)?;
    kernels.saxpy(&streams[0], Launch::linear(LEN), 1.0, &x, &mut y)?;
    y.copy_to_async(&streams[1], &mut pinned)?;
    assert_eq!(pinned.as_slice()?, [9.0; LEN]);
    let mut copy = device.zeros::<f32>(LEN)?;
    copy.copy_from_buffer(&streams[0], &y.slice(..))?;
    let rows = Rows { count: 2, width: 8 };
    copy.copy_rows_from(16, &[9.0; 16], 8, rows)?;
    copy.copy_rows_from_buffer(&streams[0], 16, &y.slice(..), 16, rows)?;
    copy.copy_rows_to(16, &mut [0.0; 16], 8, rows)?;
    for stream in &streams {
        stream.synchronize()?;
    }
    // To another device, and back.
    let mut other = Device::hip(1)?.zeros::<f32>(LEN)?;
    other.copy_from_buffer(&other.device().stream(), &copy.slice(..))?;
    copy.copy_from_buffer(&streams[0], &other.slice(..))?;
    // A panic, which must not be lost either.
    let short = x.slice(..LEN - 1);
    kernels.saxpy(&streams[1], Launch::grid([1], [LEN as u32]), 0.0, &short, &mut y)?;
    drop(kernels);
    kernelmill::module_cache().release_unused();
    match streams[1].synchronize() {
        Err(Error::KernelPanic(_)) => {}
        Err(error) => return Err(error),
        Ok(()) => panic!("the panic is lost"),
    }
    let elements = copy.download()?;
    device.synchronize()?;
    Ok(elements)
}

/// A graph that is launched on two streams, and one that panics in each launch.
fn graphs() -> Result<Vec<f32>> {
    let device = Device::hip(0)?;
    let kernels = Kernels::load(&device)?;
    let streams = [device.stream(), device.new_stream()?];
    let builder = device.graph();
    let x = builder.add(device.upload(&[1.0f32; LEN])?)?;
    let mut y = builder.add(device.zeros::<f32>(LEN)?)?;
    kernels.saxpy(&builder, Launch::linear(LEN), 1.0, &x, &mut y)?;
    kernels.saxpy(&builder, Launch::linear(LEN), 2.0, &x, &mut y)?;
    let mut graph = builder.instantiate()?;
    for stream in [&streams[0], &streams[1], &streams[0]] {
        graph.launch(stream)?;
    }
    let builder = device.graph();
    let short = builder.add(device.upload(&[1.0f32; LEN - 1])?)?;
    let mut sums = builder.add(device.zeros::<f32>(LEN)?)?;
    kernels.saxpy(&builder, Launch::grid([1], [LEN as u32]), 1.0, &short, &mut sums)?;
    let mut panicking = builder.instantiate()?;
    for _ in 0..2 {
        panicking.launch(&streams[1])?;
        match streams[1].synchronize() {
            Err(Error::KernelPanic(_)) => {}
            Err(error) => return Err(error),
            Ok(()) => panic!("the panic is lost"),
        }
    }
    let elements = graph.slice(&y)?.download()?;
    drop((graph, panicking, kernels));
    kernelmill::module_cache().release_unused();
    device.synchronize()?;
    Ok(elements)
}

/// Runs a program until an attempt succeeds, and prints what the others reported.
fn attempts(program: fn() -> Result<Vec<f32>>) {
    register_own();
    for attempt in 0..4 {
        match program() {
            Ok(elements) => {
                assert_eq!(elements, [9.0; LEN]);
                println!("attempt {attempt} is right");
                if attempt > 0 {
                    break;
                }
            }
            Err(error) => println!("reported: {error}"),
        }
        kernelmill::module_cache().release_unused();
    }
}

/// What is wrong with a process in which a call has failed; `None` where it made fewer calls.
fn judge(child: &Child) -> Option<Vec<String>> {
    let function = child.stderr.split("fails, of ").nth(1)?.lines().next()?.trim();
    let reported: Vec<_> =
        child.stdout.lines().filter_map(|line| line.split("reported: ").nth(1)).collect();
    let mut faults = Vec::new();
    if child.code != Some(0) {
        faults.push(format!("{function}: code {:?}: {}", child.code, child.stderr));
    }
    let names_it = |error: &&str| {
        error.starts_with(&format!("{function} failed"))
            || (function == "hipMalloc" && error.starts_with("out of memory"))
    };
    if !reported.iter().all(names_it) || reported.len() > 1 {
        faults.push(format!("{function}: reported as {reported:?}"));
    }
    if reported.is_empty() && !MADE_UP_FOR.contains(&function) {
        faults.push(format!("{function}: not reported"));
    }
    if !child.stdout.contains("is right") {
        faults.push(format!("{function}: no attempt succeeded: {}", child.stdout));
    }
    Some(faults)
}

fn fail_each_call(name: &str, mode: &str, pools: &str, program: fn() -> Result<Vec<f32>>) {
    let (mut faults, mut calls) = (Vec::new(), 0);
    loop {
        let fail = format!("any at call {}", calls + 1);
        let variables = [
            ("FAKE_HIP_FAIL", &*fail),
            ("FAKE_HIP_LEAK_CHECK", "1"),
            ("FAKE_HIP_STREAMS", mode),
            ("FAKE_HIP_DEVICES", "2"),
            ("FAKE_HIP_POOLS", pools),
        ];
        let child = run_child(name, &variables, || attempts(program));
        let Some(found) = judge(&child) else { break };
        faults.extend(found.into_iter().map(|fault| format!("call {}: {fault}", calls + 1)));
        calls += 1;
        // The second attempt of a program that has not failed makes these calls again.
        if calls == 400 {
            break;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(calls > 60, "{calls} calls");
}

/// Acceptance: S4.12.
#[test]
fn each_call_fails_once_on_lazy_streams() {
    fail_each_call("each_call_fails_once_on_lazy_streams", "lazy", "1", program);
}

#[test]
fn each_call_fails_once_on_eager_streams() {
    fail_each_call("each_call_fails_once_on_eager_streams", "eager", "1", program);
}

/// On devices without stream-ordered allocation.
#[test]
fn each_call_fails_once_without_pools() {
    fail_each_call("each_call_fails_once_without_pools", "lazy", "0", program);
}

#[test]
fn each_call_of_graphs_fails_once() {
    fail_each_call("each_call_of_graphs_fails_once", "lazy", "1", graphs);
}
