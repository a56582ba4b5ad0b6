//! Random programs of safe code: on the fake driver with its checks of races and leaks, on the fake HIP run time with
//! its checks of memory, order and leaks, and on the CPU beside guard pages.
//!
//! `SOUNDNESS_PROGRAMS` says how many programs each test runs, `SOUNDNESS_SEED` the seed of the first.

use std::env;

use kernelmill::Device;
use soundness::{Program, Statistics, kernels::Kernels};

/// Programs of a test.
const PROGRAMS: u64 = 60;
/// The most programs of one process.
const OF_A_PROCESS: u64 = 100;

/// The number that a variable has.
fn variable(name: &str, otherwise: u64) -> u64 {
    env::var(name).map_or(otherwise, |value| value.parse().expect("a number"))
}

/// Runs the programs of one process.
fn run_some(device: &Device) {
    let (first, count) = (variable("SOUNDNESS_FIRST", 0), variable("SOUNDNESS_COUNT", 0));
    let mut all = Statistics::default();
    for seed in first..first + count {
        println!("seed {seed}");
        let Statistics { launches, panics } = Program::run(device, seed);
        all.launches += launches;
        all.panics += panics;
    }
    println!("{count} programs, {} launches, {} panics", all.launches, all.panics);
    assert!(count < 30 || all.panics > 0, "some kernels panic");
}

/// Runs the programs of a test, in processes that `child` starts: it is given variables, and says what they printed.
fn run_processes(mut child: impl FnMut(&[(&str, &str)]) -> String) {
    let (start, programs) =
        (variable("SOUNDNESS_SEED", 1), variable("SOUNDNESS_PROGRAMS", PROGRAMS));
    for first in (start..start + programs).step_by(OF_A_PROCESS as usize) {
        let count = OF_A_PROCESS.min(start + programs - first);
        let [first, count] = [first, count].map(|number| number.to_string());
        let printed = child(&[("SOUNDNESS_FIRST", &*first), ("SOUNDNESS_COUNT", &*count)]);
        let done = printed.lines().filter(|line| line.contains(" launches, "));
        done.for_each(|line| println!("from seed {first} on: {line}"));
    }
}

/// Runs the programs of a test on a device of the processor or of the fake driver, with these variables set.
#[track_caller]
fn run_all(name: &str, variables: &[(&str, &str)], device: fn() -> kernelmill::Result<Device>) {
    run_processes(|programs| {
        let all = [programs, variables, &[("FAKE_CUDA_LEAK_CHECK", "1")]].concat();
        let child =
            cuda_backend::run_child(name, &all, || run_some(&device().expect("the device")));
        child.expect_success();
        child.stdout
    });
}

/// Runs the programs of a test on the fake HIP run time, with these variables set.
#[track_caller]
fn run_on_hip(name: &str, variables: &[(&str, &str)]) {
    run_processes(|programs| {
        let all = [programs, variables, &[("FAKE_HIP_LEAK_CHECK", "1")]].concat();
        let child = hip_backend::run_child(name, &all, || {
            hip_backend::register(Kernels::embedded(), Kernels::signatures());
            run_some(&Device::hip(0).expect("the device"));
        });
        child.expect_success();
        child.stdout
    });
}

#[test]
fn on_lazy_streams() {
    run_all("on_lazy_streams", &[("FAKE_CUDA_STREAMS", "lazy")], || Device::cuda(0));
}

#[test]
fn on_eager_streams_with_checks_of_races() {
    let name = "on_eager_streams_with_checks_of_races";
    let variables = [("FAKE_CUDA_RACES", "1")];
    run_all(name, &variables, || Device::cuda(0));
}

#[test]
fn on_hip_with_eager_streams() {
    run_on_hip("on_hip_with_eager_streams", &[("FAKE_HIP_STREAMS", "eager")]);
}

#[test]
fn on_hip_with_lazy_streams() {
    run_on_hip("on_hip_with_lazy_streams", &[("FAKE_HIP_STREAMS", "lazy")]);
}

#[test]
fn on_hip_with_streams_in_random_order() {
    run_on_hip("on_hip_with_streams_in_random_order", &[("FAKE_HIP_STREAMS", "random:11")]);
}

#[test]
fn on_the_cpu_before_guard_pages() {
    let name = "on_the_cpu_before_guard_pages";
    run_all(name, &[("KERNELMILL_GUARD_PAGES", "after")], Device::cpu);
}

#[test]
fn on_the_cpu_behind_guard_pages() {
    let name = "on_the_cpu_behind_guard_pages";
    run_all(name, &[("KERNELMILL_GUARD_PAGES", "before")], Device::cpu);
}

#[test]
fn on_the_cpu_with_avx2() {
    let variables = [("KERNELMILL_GUARD_PAGES", "after"), ("KERNELMILL_CPU", "avx2")];
    run_all("on_the_cpu_with_avx2", &variables, Device::cpu);
}

#[test]
fn on_the_cpu_without_vectors() {
    let variables = [("KERNELMILL_GUARD_PAGES", "after"), ("KERNELMILL_CPU", "baseline")];
    run_all("on_the_cpu_without_vectors", &variables, Device::cpu);
}

#[test]
fn on_one_thread() {
    let variables = [("KERNELMILL_GUARD_PAGES", "after")];
    run_all("on_one_thread", &variables, Device::cpu_sequential);
}

#[test]
fn on_the_asynchronous_cpu() {
    let variables = [("KERNELMILL_GUARD_PAGES", "after")];
    run_all("on_the_asynchronous_cpu", &variables, Device::cpu_async);
}

#[test]
fn under_the_watchdog() {
    let variables = [("KERNELMILL_GUARD_PAGES", "after"), ("KERNELMILL_WATCHDOG", "60min")];
    run_all("under_the_watchdog", &variables, Device::cpu);
}
