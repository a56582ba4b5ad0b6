//! Every kernel of `tests/conformance` and `tests/differential` on the CPU, with each buffer between guard pages,
//! in all vector widths.
#![cfg(target_os = "linux")]

use cuda_backend::run_child;
use kernelmill::{Buffer, Device, Launch};
use soundness::kernels::Kernels;

/// Runs `body` beside guard pages, for each vector width and on both sides; it must succeed.
#[track_caller]
fn run_all(name: &str, body: fn()) {
    for guard_pages in ["before", "after"] {
        for processor in ["baseline", "avx2", "avx512"] {
            let variables =
                [("KERNELMILL_GUARD_PAGES", guard_pages), ("KERNELMILL_CPU", processor)];
            run_child(name, &variables, body).expect_success();
        }
    }
}

/// Acceptance: S1.12.
#[test]
fn conformance() {
    run_all("conformance", || {
        let context = conformance::Context::new(Device::cpu().expect("a CPU")).expect("kernels");
        let checks = conformance::all();
        assert!(checks.len() > 80);
        for check in checks {
            println!("{}", check.name);
            check.run(&context).unwrap_or_else(|error| panic!("{}: {error}", check.name));
        }
    });
}

#[test]
fn random_kernels() {
    run_all("random_kernels", || {
        use differential::{CASES, CHECKED, STRIDES, TILES};
        let context = differential::Context::new(Device::cpu().expect("a CPU")).expect("kernels");
        let cases = CASES.iter().map(|case| context.check(case));
        let tiles = TILES.iter().map(|tile| context.check_tile(tile));
        let strides = STRIDES.iter().map(|stride| context.check_stride(stride));
        let checked = CHECKED.iter().map(|checked| context.check_checked(checked));
        for result in cases.chain(tiles).chain(strides).chain(checked) {
            result.unwrap_or_else(|error| panic!("{error}"));
        }
    });
}

/// Reads an element at a place relative to a buffer of three elements.
fn read_at(place: i64) {
    let device = Device::cpu().expect("a CPU");
    let kernels = Kernels::load(&device).expect("kernels");
    let x = device.upload(&[1_u32, 2, 3]).expect("memory");
    let mut y = device.zeros::<u32>(1).expect("memory");
    // SAFETY: a place beyond the buffer is in a guard page, where reading ends the process.
    let launched =
        unsafe { kernels.read_at(&device.stream(), Launch::linear(1), place, &x, &mut y) };
    launched.expect("the launch is within the limits");
    println!("read {}", y.download().expect("no panic")[0]);
}

/// Asserts that reading there ends the process, and that the last element on that side can be read.
#[track_caller]
fn ends(name: &str, guard_pages: &str, within: (i64, u32), beyond: i64) {
    let variables = [("KERNELMILL_GUARD_PAGES", guard_pages)];
    // The same test runs both: the child is told which.
    let place = std::env::var("SOUNDNESS_PLACE").ok();
    let place: Option<i64> = place.and_then(|place| place.parse().ok());
    let run = |at: i64| {
        let at = at.to_string();
        let variables: Vec<_> =
            variables.iter().copied().chain([("SOUNDNESS_PLACE", &*at)]).collect();
        run_child(name, &variables, || read_at(place.expect("a place")))
    };
    let child = run(within.0);
    child.expect_success();
    assert!(child.stdout.contains(&format!("read {}", within.1)), "{}", child.stdout);
    let child = run(beyond);
    assert_eq!(child.code, None, "ended by a signal: {}{}", child.stdout, child.stderr);
    assert!(!child.stdout.contains("read "), "{}", child.stdout);
}

#[test]
fn an_access_behind_a_buffer_ends_the_process() {
    ends("an_access_behind_a_buffer_ends_the_process", "after", (2, 3), 3);
}

#[test]
fn an_access_in_front_of_a_buffer_ends_the_process() {
    ends("an_access_in_front_of_a_buffer_ends_the_process", "before", (0, 1), -1);
}

/// Where a buffer begins.
fn address(kernels: &Kernels, device: &Device, x: &Buffer<u32>) -> i64 {
    let mut y = device.zeros::<u64>(1).expect("memory");
    kernels.address(&device.stream(), Launch::linear(1), x, &mut y).expect("a launch");
    y.download().expect("no panic")[0] as i64
}

/// Reads memory of a buffer that was dropped.
#[test]
fn an_access_to_a_freed_buffer_ends_the_process() {
    let name = "an_access_to_a_freed_buffer_ends_the_process";
    let child = run_child(name, &[("KERNELMILL_GUARD_PAGES", "after")], || {
        let device = Device::cpu().expect("a CPU");
        let kernels = Kernels::load(&device).expect("kernels");
        let mut y = device.upload(&[1_u32]).expect("memory");
        // SAFETY: it reads where `y` itself is, and then where a buffer was that is dropped, which ends
        // the process.
        unsafe {
            let x = device.upload(&[2_u32]).expect("memory");
            let stream = device.stream();
            kernels.read_at(&stream, Launch::linear(1), 0, &x, &mut y).expect("a launch");
            println!("read {}", y.download().expect("no panic")[0]);
            let other = device.upload(&[3_u32]).expect("memory");
            // Both lie at the end of a region of the same size, in some distance.
            let distance = address(&kernels, &device, &x) - address(&kernels, &device, &other);
            drop(x);
            let place = distance / size_of::<u32>() as i64;
            kernels.read_at(&stream, Launch::linear(1), place, &other, &mut y).expect("a launch");
            println!("read a freed buffer: {}", y.download().expect("no panic")[0]);
        }
    });
    assert!(child.stdout.contains("read 2"), "{}{}", child.stdout, child.stderr);
    assert!(!child.stdout.contains("read a freed buffer"), "{}", child.stdout);
    assert_eq!(child.code, None, "ended by a signal: {}{}", child.stdout, child.stderr);
}
