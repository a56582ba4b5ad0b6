//! Recursion of safe kernels on the CPU: as deep as the stack has room for it computes what it says, and
//! deeper it is an error, after which everything goes on.

use kernelmill::{Buffer, Device, Error, Launch, PanicKind, Result, Stream};
use safe_limits::Kernels;
use std::{
    env,
    process::{Command, Stdio},
    thread,
};

/// Deeper than any stack.
const DEEP: u32 = 20_000_000;

/// More than one block, and no multiple of a vector.
const THREADS: u32 = 64;

type Run = fn(&Kernels, &Stream, u32, &Buffer<u32>, &mut Buffer<u32>) -> Result<()>;

macro_rules! kernels {
    ($($name:ident in $function:literal),* $(,)?) => {
        &[$((stringify!($name), $function, |kernels, stream, depth, x, y| {
            kernels.$name(stream, Launch::grid([2], [THREADS]), depth, x, y)
        })),*]
    };
}

/// The kernels, with what the message names.
const KERNELS: &[(&str, &str, Run)] = kernels!(
    direct in "recursion::sum",
    one_thread in "recursion::sum",
    mutual in "recursion::",
    large_leaf in "recursion::to_leaf",
    through_traits in "recursion::",
    between_barriers in "recursion::sum",
    between_turns in "recursion::sum",
);

fn processors() -> [Device; 3] {
    [Device::cpu(), Device::cpu_sequential(), Device::cpu_async()].map(|device| device.unwrap())
}

fn sum(depth: u32, x: u32) -> u32 {
    (1..=depth).fold(1, |sum, level| sum.rotate_left(x) ^ level)
}

/// Launches a kernel; what it has written.
fn launch(device: &Device, run: Run, depth: u32, x: &[u32]) -> Result<Vec<u32>> {
    let kernels = Kernels::load(device)?;
    let (x, mut y) = (device.upload(x)?, device.zeros::<u32>(2 * THREADS as usize)?);
    run(&kernels, &device.stream(), depth, &x, &mut y)?;
    y.download()
}

#[track_caller]
fn assert_overflows(device: &Device, (name, function, run): (&str, &str, Run), x: &[u32]) {
    match launch(device, run, DEEP, x) {
        Err(Error::KernelPanic(panic)) => {
            assert_eq!(panic.kind, PanicKind::StackOverflow, "{name}: {panic}");
            let text = panic.to_string();
            assert!(text.contains("kernels/recursion.rs") && text.contains(name), "{name}: {text}");
            assert!(text.contains("stack overflow in `") && text.contains(function), "{text}");
            assert!(name != "one_thread" || panic.thread == [37, 0, 0], "{text}");
        }
        other => panic!("{name} on {device}: {other:?}"),
    }
}

/// Every kernel twice, and what is computed on the same threads afterwards.
fn all_overflow(device: &Device) {
    let x = [9, 5];
    for _ in 0..2 {
        KERNELS.iter().for_each(|kernel| assert_overflows(device, *kernel, &x));
    }
    let found = launch(device, KERNELS[0].2, 1000, &x).unwrap();
    assert!(found.iter().all(|found| *found == sum(1000, 9)));
}

/// Says that this is a process of its own.
const CHILD: &str = "KERNELMILL_TEST_RECURSION";

/// Runs a body in a process of its own for each vector width.
fn at_each_width(name: &str, body: fn()) {
    if env::var_os(CHILD).is_some() {
        return body();
    }
    for processor in ["baseline", "avx2", "avx512"] {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", name, "--nocapture"]).env(CHILD, "1");
        let output =
            command.env("KERNELMILL_CPU", processor).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{processor}: {}\n{text}", output.status);
    }
}

#[test]
fn recursion_that_is_too_deep_is_an_error() {
    at_each_width("recursion_that_is_too_deep_is_an_error", || {
        processors().iter().for_each(all_overflow);
    });
}

/// On threads whose stacks are not of the default size: the large one has room for what the small one has not.
#[test]
fn the_stack_of_the_thread_decides() {
    at_each_width("the_stack_of_the_thread_decides", || {
        let on_stack = |bytes: usize| {
            let run = || {
                let device = Device::cpu_sequential().unwrap();
                let found = launch(&device, KERNELS[0].2, 100_000, &[9, 5]);
                all_overflow(&device);
                found
            };
            thread::Builder::new().stack_size(bytes).spawn(run).unwrap().join().unwrap()
        };
        assert!(matches!(on_stack(1 << 20), Err(Error::KernelPanic(_))));
        let found = on_stack(64 << 20).unwrap();
        assert!(found.iter().all(|found| *found == sum(100_000, 9)));
    });
}

/// What the destructor of a long list needs, and the text of a panic.
#[test]
fn destructors_and_messages_are_checked() {
    at_each_width("destructors_and_messages_are_checked", || {
        for device in processors() {
            let dropped: Run = |kernels, stream, depth, x, y| {
                kernels.dropped(stream, Launch::linear(1), depth, x, y)
            };
            let error = launch(&device, dropped, 1_000_000, &[9, 5]).unwrap_err();
            let Error::KernelPanic(panic) = &error else { panic!("{error}") };
            assert_eq!(panic.kind, PanicKind::StackOverflow, "{panic}");
            assert!(panic.message.contains("kernel `dropped`"), "{panic}");
            assert_eq!(launch(&device, dropped, 100, &[9, 5]).unwrap()[0], {
                let mut values = [9, 0];
                (0..100).for_each(|level| values = [level ^ values[0], values[0]]);
                values[0] ^ values[1]
            });
            let in_messages: Run = |kernels, stream, depth, x, y| {
                kernels.in_messages(stream, Launch::linear(1), depth, x, y)
            };
            let error = launch(&device, in_messages, DEEP, &[3, 5]).unwrap_err();
            assert!(matches!(error, Error::KernelPanic(_)), "{error}");
            let error = launch(&device, in_messages, 3, &[3, 5]).unwrap_err();
            assert!(error.to_string().contains("(((0)))"), "{error}");
            assert_eq!(launch(&device, in_messages, DEEP, &[9, 5]).unwrap()[0], 5);
        }
    });
}

#[test]
fn recursion_within_the_stack_computes_what_it_says() {
    at_each_width("recursion_within_the_stack_computes_what_it_says", || {
        for device in processors() {
            let found = |name: &str, depth| {
                let (_, _, run) = KERNELS.iter().find(|(kernel, ..)| *kernel == name).unwrap();
                launch(&device, *run, depth, &[9, 5]).unwrap()
            };
            let all = |found: Vec<u32>, value: u32| {
                assert!(found.iter().all(|found| *found == value), "{found:?}");
            };
            for depth in [0, 1, 777] {
                all(found("direct", depth), sum(depth, 9));
                all(found("between_barriers", depth), sum(depth, 9).wrapping_add(9));
                for (thread, found) in (0..).zip(found("one_thread", depth)) {
                    let own = if thread == 37 { depth } else { thread % 5 };
                    assert_eq!(found, sum(own, 9), "thread {thread}");
                }
                for (thread, found) in (0..).zip(found("between_turns", depth)) {
                    let expected = if thread % 3 == 1 { sum(depth, 9) } else { 0 };
                    assert_eq!(found, expected, "thread {thread}");
                }
            }
        }
    });
}

/// A launch that the watchdog looks after has threads with stacks of their own.
#[test]
fn watched_launches_are_checked() {
    if env::var_os(CHILD).is_some() {
        return processors().iter().for_each(all_overflow);
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "watched_launches_are_checked", "--nocapture"]).env(CHILD, "1");
    let output = command.env("KERNELMILL_WATCHDOG", "120s").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
