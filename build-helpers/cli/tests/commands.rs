//! Every command, on the example `saxpy`.

use std::{
    path::Path,
    process::{Command, Output},
};

fn kernelmill(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-kernelmill"))
        .arg("kernelmill")
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/saxpy"))
        .output()
        .expect("the program runs")
}

#[track_caller]
fn stdout(output: Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn list_shows_signature_place_and_binaries() {
    let text = stdout(kernelmill(&["list"]));
    assert!(text.starts_with("saxpy: 1 kernel\n"), "{text}");
    let kernel = "  fn saxpy(a: f32, x: &[f32], y: DisjointSlice<f32>)\n    kernels/saxpy.rs:4\n";
    assert!(text.contains(kernel), "{text}");
    assert!(text.contains(".compute_75.ptx"), "{text}");
}

#[test]
fn inspect_prints_the_ptx_of_one_kernel() {
    let text = stdout(kernelmill(&["inspect", "saxpy", "--target", "compute_80"]));
    assert!(text.starts_with(".visible .entry saxpy("), "{text}");
    assert_eq!(text.matches("fma.rn.f32").count(), 1, "{text}");
}

/// The second time everything comes from the store.
#[test]
fn inspect_says_how_a_kernel_runs_on_the_cpu() {
    for _ in 0..2 {
        let text = stdout(kernelmill(&["inspect", "saxpy", "--target", "cpu"]));
        assert!(text.starts_with("thread loop: no barriers, vector width"), "{text}");
    }
}

#[test]
fn inspect_lists_the_passes_of_the_cpu_in_their_order() {
    let text = stdout(kernelmill(&["inspect", "saxpy", "--target", "cpu", "--passes"]));
    let passes = ["simplification", "choice of lowering", "region formation", "vectorization"];
    let places: Vec<_> = passes.iter().map(|pass| text.find(&format!("  {pass} "))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    let output = kernelmill(&["inspect", "saxpy", "--passes"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("`--passes` is for the target `cpu`"));
}

#[test]
fn inspect_names_the_kernels_there_are() {
    let output = kernelmill(&["inspect", "saxpi"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(errors.contains("`saxpy` has no kernel `saxpi`, only: saxpy"), "{errors}");
}

#[test]
fn report_counts_what_a_kernel_takes() {
    let Some(_) = test_support::tool::wheels() else { return };
    let text = stdout(kernelmill(&["report", "--target", "sm_80"]));
    let line =
        text.lines().find(|line| line.ends_with("  saxpy")).unwrap_or_else(|| panic!("{text}"));
    let numbers: Vec<u32> = line.split_whitespace().filter_map(|it| it.parse().ok()).collect();
    let [registers, stores, loads, stack, shared, constant, threads, local, instructions] =
        numbers[..]
    else {
        panic!("{line}")
    };
    assert!((8..=40).contains(&registers), "{text}");
    assert_eq!((stores, loads, stack, shared, local), (0, 0, 0, 0, 0), "{text}");
    assert!(constant > 0 && threads == 1024, "{text}");
    assert!((8..=200).contains(&instructions), "{text}");
    let text = stdout(kernelmill(&["report", "--target", "compute_80"]));
    let driver = "saxpy.compute_80.ptx: PTX 7.0, which needs the driver of CUDA 11.0 or later";
    assert_eq!(text.lines().next(), Some(driver), "{text}");
    let text = stdout(kernelmill(&["report", "--target", "cpu"]));
    let is_saxpy = |line: &&str| line.contains("  saxpy: thread loop");
    assert!(text.lines().any(|line| is_saxpy(&line)), "{text}");
}

#[test]
fn doctor_finds_what_every_build_needs() {
    let text = stdout(kernelmill(&["doctor"]));
    for tool in ["rustc", "LLVM", "cc"] {
        let line = text.lines().find(|line| line.split_whitespace().nth(1) == Some(tool));
        assert!(line.is_some_and(|line| line.starts_with("ok")), "{tool}: {text}");
    }
}
