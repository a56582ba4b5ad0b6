//! Programs with resource limits (`setrlimit`) that launch kernels on the CPU: each launch is right, or an error that says
//! what there is none of. No abort, no signal, no wait for ever.
#![cfg(target_os = "linux")]

use cuda_backend::run_child;
use kernelmill::{Device, Error, Launch, Result};
use safe_limits::Kernels;
use std::{
    env,
    fs::{self, File},
    path::PathBuf,
    thread,
};
use test_support::temporary_folder;

/// The variable with the limit of a child process.
const LIMIT: &str = "SAFE_LIMITS_LIMIT";

/// Elements of a launch that is worth several threads.
const LEN: u32 = 1 << 16;

fn launch(device: Result<Device>) -> Result<Vec<u32>> {
    let device = device?;
    let kernels = Kernels::load(&device)?;
    let (stream, mut y) = (device.new_stream()?, device.zeros::<u32>(LEN as usize)?);
    kernels.indices(&stream, Launch::linear(LEN as usize), &mut y)?;
    stream.synchronize()?;
    y.download()
}

/// Launches on every kind of device of the processor; an error has one of these words.
fn launch_everywhere(words: &[&str]) {
    for open in [Device::cpu, Device::cpu_sequential, Device::cpu_async] {
        for _ in 0..2 {
            match launch(open()) {
                Ok(numbers) => assert!((0..LEN).eq(numbers), "it is wrong"),
                Err(error) => {
                    let error = error.to_string();
                    assert!(words.iter().any(|word| error.contains(word)), "{error}");
                    println!("told: {error}");
                }
            }
        }
    }
}

/// Sets both limits of a resource of this process.
fn set(resource: libc::__rlimit_resource_t, limit: u64) {
    let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
    // SAFETY: the limit is this function's own.
    unsafe { assert_eq!(libc::setrlimit(resource, &raw const limit), 0) };
}

/// Runs a test's body in a process of its own for each limit, which it is given. How many were told.
#[track_caller]
fn for_limits(name: &str, limits: &[u64], body: fn(u64)) -> usize {
    let mut told = 0;
    for limit in limits {
        let child = run_child(name, &[(LIMIT, &limit.to_string())], || {
            body(env::var(LIMIT).unwrap().parse().unwrap());
        });
        assert_eq!(child.code, Some(0), "{limit}: {}\n{}", child.stdout, child.stderr);
        told += child.stdout.matches("told: ").count();
    }
    told
}

/// Bytes of addresses that the process has.
fn addresses() -> u64 {
    let sizes = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = sizes.split(' ').next().unwrap().parse().unwrap();
    4096 * pages
}

#[test]
fn programs_with_little_address_space() {
    let name = "programs_with_little_address_space";
    let more = [1 << 20, 3 << 19, 2 << 20, 3 << 20, 5 << 20, 9 << 20, 17 << 20, 70 << 20, 1 << 30];
    let told = for_limits(name, &more, |more| {
        set(libc::RLIMIT_AS, addresses() + more);
        launch_everywhere(&["thread", "memory"]);
    });
    assert!(told > 0, "no limit was reached");
}

/// Launches a kernel that needs 1 MiB of stack on a thread with so many bytes of it, where there is no room for the stack
/// of another thread, and then where there is.
fn launch_without_room(device: &Device, stack: usize) {
    let kernels = Kernels::load(device).unwrap();
    let x = device.upload(&[9, 5, 7_u32]).unwrap();
    let mut y = device.zeros::<u32>(16).unwrap();
    let mut on_thread = |is_limited: bool| {
        let run = || {
            let launch = Launch::grid([2], [8]);
            let before = soft_address_space();
            if is_limited {
                set_soft_address_space(addresses() + (1 << 20));
            }
            let launched = kernels.large(&device.stream(), launch, 3, &x, &mut y);
            let launched = launched.and_then(|()| device.stream().synchronize());
            set_soft_address_space(before);
            launched
        };
        thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(stack).spawn_scoped(scope, run);
            thread.unwrap().join().unwrap()
        })
    };
    for _ in 0..2 {
        match on_thread(true) {
            Err(Error::OutOfMemory { bytes, .. }) => assert!(bytes > 1_000_000, "{bytes} bytes"),
            Err(error) => panic!("{error}"),
            Ok(()) => panic!("there was room"),
        }
    }
    on_thread(false).unwrap();
    let found = y.download().unwrap();
    assert!(found[0] != 0 && found.iter().all(|value| *value == found[0]), "{found:?}");
}

fn soft_address_space() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is this function's own.
    unsafe { assert_eq!(libc::getrlimit(libc::RLIMIT_AS, &raw mut limit), 0) };
    limit.rlim_cur
}

fn set_soft_address_space(bytes: u64) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is this function's own.
    unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_AS, &raw mut limit), 0);
        limit.rlim_cur = bytes;
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const limit), 0);
    }
}

/// The thread that launches has too little stack for a launch at all, or for the kernel's blocks.
#[test]
fn launches_without_room_for_the_stack_of_a_thread() {
    let name = "launches_without_room_for_the_stack_of_a_thread";
    for stack in [16 << 10, 256 << 10] {
        let stack = (stack as u64).to_string();
        let child = run_child(name, &[(LIMIT, &*stack)], || {
            let stack = env::var(LIMIT).unwrap().parse().unwrap();
            launch_without_room(&Device::cpu_sequential().unwrap(), stack);
        });
        child.expect_success();
    }
}

/// rayon's threads have too little stack for the kernel's blocks, and so do those of a launch under the watchdog.
#[test]
fn launches_without_room_for_the_stacks_of_several_threads() {
    let name = "launches_without_room_for_the_stacks_of_several_threads";
    let variables = [("RUST_MIN_STACK", "131072"), ("KERNELMILL_WATCHDOG", "10min")];
    for some in [&variables[..1], &variables] {
        run_child(name, some, || {
            let device = Device::cpu().unwrap();
            // The threads are there before there is no room for them.
            assert!((0..LEN).eq(launch(Ok(device.clone())).unwrap()));
            launch_without_room(&device, 256 << 10);
        })
        .expect_success();
    }
}

#[test]
fn programs_with_few_threads() {
    let name = "programs_with_few_threads";
    let told = for_limits(name, &[0, 1, 2, 3, 4, 5, 100], |limit| {
        // Root has no such limit, and becomes a user who has no process but this one. Those of another user count
        // together.
        // SAFETY: the calls take and give numbers.
        unsafe { assert!(libc::geteuid() != 0 || libc::setuid(54_324) == 0) };
        set(libc::RLIMIT_NPROC, limit);
        launch_everywhere(&["thread"]);
    });
    assert!(told > 0, "no limit was reached");
}

#[test]
fn programs_with_few_files() {
    for_limits("programs_with_few_files", &[0, 1, 2, 3], |limit| {
        set(libc::RLIMIT_NOFILE, limit);
        let error = File::open("/dev/null").expect_err("the limit is reached");
        assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
        launch_everywhere(&[]);
    });
}

#[test]
fn programs_with_small_files() {
    // A child process leaves its folders behind.
    let folder = env::var_os(LIMIT).is_none().then(temporary_folder);
    let trace = folder.as_ref().map_or_else(PathBuf::new, |it| it.path().join("trace.json"));
    let mut wholes = 0;
    for limit in [0, 1, 20, 200, 300, 450, 700] {
        let limit = limit.to_string();
        let variables = [(LIMIT, limit.as_str()), ("KERNELMILL_TRACE", trace.to_str().unwrap())];
        let child = run_child("programs_with_small_files", &variables, || {
            // Its default ends the process, whatever writes.
            // SAFETY: no function is set, and no other thread runs that sets one.
            unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
            set(libc::RLIMIT_FSIZE, env::var(LIMIT).unwrap().parse().unwrap());
            launch_everywhere(&[]);
        });
        assert_eq!(child.code, Some(0), "{limit}: {}\n{}", child.stdout, child.stderr);
        // The first event names the process.
        let events = fs::read_to_string(&trace).unwrap();
        let why = if events.is_empty() {
            "which cannot be written: File too large (os error 27); nothing is traced"
        } else {
            let events: Vec<serde_json::Value> = serde_json::from_str(&events).unwrap();
            assert!(!events.is_empty(), "{limit}");
            wholes += 1;
            "an event cannot be written: File too large (os error 27); the trace lacks it"
        };
        assert_eq!(child.stderr.matches(why).count(), 1, "{limit}: {}", child.stderr);
        let _ = fs::remove_file(&trace);
    }
    assert!(wholes >= 3, "{wholes} files had room for an event");
}
