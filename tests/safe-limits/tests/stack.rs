//! Launches from threads with little stack, and on pools of such threads: they compute what they compute elsewhere.
//! Each runs in a process of its own, which a stack that is used up would end.

use kernelmill::{Buffer, Device, Launch, Result, Stream};
use safe_limits::Kernels;
use std::{
    env,
    process::{Command, Stdio},
    thread,
};

type Run = fn(&Kernels, &Stream, u32, &Buffer<u32>, &mut Buffer<u32>) -> Result<()>;

macro_rules! kernels {
    ($($name:ident),* $(,)?) => {
        &[$((stringify!($name), |kernels, stream, seed, x, y| {
            kernels.$name(stream, Launch::grid([2], [8]), seed, x, y)
        })),*]
    };
}

const KERNELS: &[(&str, Run)] =
    kernels!(large, large_through_a_trait, large_between_turns, without_stack, recursive,);

/// Says that this is a process of its own.
const CHILD: &str = "KERNELMILL_TEST_STACK";

/// Runs a body in a process of its own with these variables.
#[track_caller]
fn in_a_process(name: &str, variables: &[(&str, &str)], body: fn()) {
    if env::var_os(CHILD).is_some() {
        return body();
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture"]).env(CHILD, "1").stdin(Stdio::null());
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{variables:?}: {}\n{text}", output.status);
}

fn on_stack<T: Send>(bytes: usize, body: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(bytes).spawn_scoped(scope, body);
        thread.unwrap().join().unwrap()
    })
}

/// What a kernel computes, twice on the same device.
fn compute(device: &Device, run: Run) -> Vec<u32> {
    let kernels = Kernels::load(device).unwrap();
    let x = device.upload(&[9, 5, 7_u32]).unwrap();
    let mut y = device.zeros::<u32>(16).unwrap();
    let stream = device.stream();
    for seed in [100, 8] {
        run(&kernels, &stream, seed, &x, &mut y).unwrap();
    }
    y.download().unwrap()
}

/// Every kernel on every processor device, on threads with stacks of these sizes.
fn all_compute(sizes: &[usize]) {
    for (name, run) in KERNELS {
        let expected = on_stack(64 << 20, || compute(&Device::cpu_sequential().unwrap(), *run));
        assert!(expected.iter().any(|value| *value != 0), "{name}");
        for device in [Device::cpu(), Device::cpu_sequential(), Device::cpu_async()] {
            let device = device.unwrap();
            for size in sizes {
                let found = on_stack(*size, || compute(&device, *run));
                assert!(found == expected, "{name} on {device} from a stack of {size} bytes");
            }
        }
    }
}

/// Threads of musl have 128 KiB where nobody asks for more.
#[test]
fn launches_from_threads_with_little_stack() {
    let name = "launches_from_threads_with_little_stack";
    let sizes = || all_compute(&[16 << 10, 128 << 10, 2 << 20]);
    for processor in ["baseline", "avx2", "avx512"] {
        in_a_process(name, &[("KERNELMILL_CPU", processor)], sizes);
    }
}

/// rayon's threads, and those of the watchdog, have what `RUST_MIN_STACK` says.
#[test]
fn blocks_on_threads_with_little_stack() {
    let name = "blocks_on_threads_with_little_stack";
    let variables = [("RUST_MIN_STACK", "65536"), ("KERNELMILL_WATCHDOG", "10min")];
    for some in [&variables[..1], &variables] {
        in_a_process(name, some, || all_compute(&[64 << 10, 8 << 20]));
    }
}
