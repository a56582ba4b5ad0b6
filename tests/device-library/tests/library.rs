//! What a program sees of kernels that fail, print and allocate, on the CPU and on PTX that the
//! fake driver runs: the same.

use std::process::Command;
use test_support::{driver::fake_driver, snapshot};

/// Compares what the program prints with the file of this name below `snapshots/`.
#[track_caller]
fn check_snapshot(name: &str, printed: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots");
    snapshot::check(format!("{folder}/{name}.txt"), printed);
}

/// What the program prints on a device.
fn run(device: &str, what: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_device-library"));
    command.args([device, what]);
    if device == "cuda" {
        let folder = fake_driver();
        command.env("LD_LIBRARY_PATH", folder).env("FAKE_CUDA_LEAK_CHECK", "1");
    }
    let output = command.output().expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(
        output.status.success(),
        "{device} {what}: {}\n{text}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// exceptions.jl: the host gets an error with message, file, line, block, thread and the way there,
/// and the device works on.
/// Acceptance: S0.8, C21.
#[test]
fn check_21_device_errors_are_host_errors_on_the_cpu() {
    check_snapshot("failures", &run("cpu", "failures"));
}

/// Acceptance: S0.8, C21.
#[test]
fn check_21_device_errors_are_host_errors_on_the_fake_driver() {
    check_snapshot("failures", &run("cuda", "failures"));
}

/// A function that another calls through a pointer it was passed knows which thread it is of.
#[test]
fn a_function_called_through_a_pointer_panics_in_its_thread() {
    let expected = "passed: kernel panicked at kernels/failures.rs:158:9 (block 1,0,0 thread 5,0,0): nothing to take\n\
                    passed: the device works afterwards\n";
    for device in ["cpu", "cuda"] {
        assert_eq!(run(device, "passed"), expected, "{device}");
    }
}

/// The lines of both kernels, in the order of their threads.
fn printed(device: &str) -> Vec<String> {
    let text = run(device, "prints");
    text.lines().map(str::to_owned).collect()
}

fn check_printed(lines: &[String]) {
    let (first, many): (Vec<_>, Vec<_>) =
        lines.iter().cloned().partition(|line| !line.starts_with("thread"));
    let mut expected = Vec::new();
    for (i, x) in [0.1_f32, -2.5, 1e-7].into_iter().enumerate() {
        let (signed, wide) = (i as i32 - 2, u64::MAX - i as u64);
        expected.extend([
            format!(
                "{i} integers {signed} {:>5} {:<4}| {wide} {:#x} {:08b}",
                signed as i8,
                i as u8,
                i as u16 * 77,
                5 + i
            ),
            format!("{i} floats {} {:.3} {:>9.2} {:e}", x, x, f64::from(x) / 3.0, x * 1e10),
            format!(
                "{i} others {} {:?} text {:?} {}",
                i == 1,
                'ü',
                Some(i),
                i128::from(signed) << 70
            ),
        ]);
    }
    let mut sorted = first;
    sorted.sort();
    expected.sort();
    assert_eq!(sorted, expected);
    // No line is mixed with another, and those of a thread are in order.
    assert_eq!(many.len(), 3 * 256);
    for thread in 0..256_u32 {
        let start = format!("thread {thread} ");
        let own: Vec<_> = many.iter().filter(|line| line.starts_with(&start)).collect();
        let line = |round| {
            format!("thread {thread} round {round} value {} {}", thread * thread, "-".repeat(20))
        };
        assert_eq!(own, [&line(0), &line(1), &line(2)]);
    }
}

#[test]
fn kernels_print_on_the_cpu() {
    check_printed(&printed("cpu"));
}

#[test]
fn kernels_print_on_the_fake_driver() {
    check_printed(&printed("cuda"));
}

#[test]
fn kernels_allocate_on_the_cpu() {
    assert_eq!(run("cpu", "heap"), "lists: true\ntrees: true\n");
}

#[test]
fn kernels_allocate_on_the_fake_driver() {
    assert_eq!(run("cuda", "heap"), "lists: true\ntrees: true\n");
}

/// What the program prints of boxes of tensors on an NVIDIA processor.
fn boxes(arch: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_device-library"));
    command.args(["cuda", "boxes"]).env("LD_LIBRARY_PATH", fake_driver());
    command.env("FAKE_CUDA_ARCH", arch).env("FAKE_CUDA_LEAK_CHECK", "1");
    let output = command.env("FAKE_CUDA_RACES", "1").output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn boxes_of_tensors_are_copied_on_the_cpu() {
    check_snapshot("boxes", &run("cpu", "boxes"));
}

/// By plain loads on older processors, by the driver's descriptors on newer ones.
#[test]
fn boxes_of_tensors_are_copied_on_the_fake_driver() {
    for arch in ["75", "90a"] {
        check_snapshot("boxes", &boxes(arch));
    }
}
