//! What a program learns of kernels with faults, and that kernels without are left alone, on the CPU
//! and on PTX that the fake driver runs.

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
    run_with(device, what, &[])
}

/// As [`run`], with variables.
fn run_with(device: &str, what: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sanitized"));
    command.args([device, what]).envs(variables.iter().copied());
    if device == "cuda" {
        let folder = fake_driver();
        command.env("LD_LIBRARY_PATH", folder).env("FAKE_CUDA_LEAK_CHECK", "1");
    }
    let output = command.output().expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("text");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{device} {what}: {error}\n{text}");
    text
}

/// Which of two threads finds a race depends on their order.
fn without_threads(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let (name, rest) = line.split_once(": ").expect("a name");
        let place = rest.split(" (").next().expect("a place");
        if rest.contains("a race") { format!("{name}: a race") } else { format!("{name}: {place}") }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_fault_is_an_error_with_file_and_line_on_the_cpu() {
    check_snapshot("faults", &run("cpu", "faults"));
}

#[test]
fn every_fault_is_an_error_with_file_and_line_on_the_fake_driver() {
    let text = run("cuda", "faults");
    assert_eq!(text.lines().count(), 19, "{text}");
    assert!(!text.contains("nothing was reported"), "{text}");
    for line in text.lines() {
        assert!(line.contains("kernel panicked at kernels/"), "{line}");
        assert!(line.contains("out of bounds: ") || line.contains("data race: "), "{line}");
    }
    assert_eq!(without_threads(&text), without_threads(&run("cpu", "faults")));
}

#[test]
fn faults_are_found_in_any_order_of_the_threads() {
    let expected = without_threads(&run("cpu", "faults"));
    for order in ["reverse", "random:1", "random:2", "random:3"] {
        let text = run_with("cuda", "faults", &[("FAKE_CUDA_ORDER", order)]);
        let kinds = |text: &str| {
            let kind = |line: &str| {
                let (name, rest) = line.split_once(": ").expect("a name");
                format!("{name} {} {}", rest.contains("out of bounds"), rest.contains("a race"))
            };
            text.lines().map(kind).collect::<Vec<_>>()
        };
        assert_eq!(kinds(&text), kinds(&run("cpu", "faults")), "{order}: {text}");
        assert_eq!(text.lines().count(), expected.lines().count(), "{order}: {text}");
    }
}

/// LLVM computes with what is undefined where it throws the result away.
const LAX: [(&str, &str); 1] = [("FAKE_CUDA_UNWRITTEN", "1")];

#[test]
fn the_conformance_suite_passes_with_the_checks() {
    for (device, variables) in [("cpu", &[][..]), ("cuda", &LAX[..])] {
        let text = run_with(device, "conformance", variables);
        assert!(text.lines().count() > 50, "{device}: {text}");
        let other: Vec<_> = text.lines().filter(|line| !line.ends_with(": passed")).collect();
        assert!(other.is_empty(), "{device}: {text}");
    }
}

#[test]
fn correct_kernels_run_and_compute_the_same_on_both() {
    let cpu = run("cpu", "correct");
    for order in ["forward", "reverse", "random:4"] {
        let cuda = run_with("cuda", "correct", &[("FAKE_CUDA_ORDER", order)]);
        assert_eq!(cpu, cuda, "{order}");
    }
    let line = |name: &str| cpu.lines().find(|line| line.starts_with(name)).expect("a line");
    let x = |i: usize| (i * 7 % 23) as f32;
    let sum: f32 = (0..64).map(x).sum();
    assert!(line("sums").starts_with(&format!("sums: {sum} 0 ")), "{}", line("sums"));
    let rotated: Vec<String> = (0..64).map(|i| x((i + 1) % 64).to_string()).collect();
    assert_eq!(line("rotates"), format!("rotates: {}", rotated.join(" ")));
}
