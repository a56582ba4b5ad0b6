//! Builds of packages with a file of tuned launches.

use crate::test_support::{Project, SAXPY};
use std::fs;

#[test]
fn tuned_launches_are_embedded_and_stale_ones_are_warnings() {
    let settings = "targets = [\"cpu\", \"sm_90\"]\n[package.metadata.kernelmill.kernels.saxpy]\n\
                    launch-bounds = 256\nvariants = [{ max-registers = 32 }]\n";
    let choice = |kernel: &str, class: u32, rest: &str| {
        format!(
            "[[choice]]\nkernel = {kernel:?}\ndevice = \"a \\\"b\\\"\"\nsize-class = {class}\n{rest}\n"
        )
    };
    let text = [
        choice("saxpy", 10, "block = 256"),
        choice("saxpy", 20, "block = 64\nmax-registers = 32"),
        choice("saxpy", 21, "block = 257"),
        choice("saxpy", 22, "block = 64\nmax-registers = 31"),
        choice("gone", 10, "block = 64"),
        choice("flat", 10, "block = 64"),
        choice("flat", 0, "block = [32, 8]").replace("class = 0", "class = [10, 9]"),
        choice("flat", 0, "block = [32, 16]").replace("class = 0", "class = [12, 9]"),
    ];
    let group = |kernel: &str| {
        format!(
            "[[choice]]\ngroup = \"either\"\nkernel = {kernel:?}\ndevice = \"d\"\nsize-class = 9\n"
        )
    };
    let text = text.concat() + &group("saxpy") + &group("lost").replace("= 9", "= 8");
    let settings =
        format!("{settings}[package.metadata.kernelmill.kernels.flat]\nlaunch-bounds = 256\n");
    let flat = "#[kernel(dim = 2)] pub fn flat() {}";
    let files = [("kernels/saxpy.rs", SAXPY), ("kernels/flat.rs", flat)];
    let project = Project::new(&settings, &files);
    project.write("app/kernelmill-tuning.toml", &text);
    let outcome = project.build();
    outcome.result.unwrap_or_else(|error| panic!("{error}"));
    let bindings = fs::read_to_string(project.out().join("kernels.rs")).unwrap();
    let (_, tuned) = bindings.split_once("tuned: &[").unwrap();
    let (tuned, _) = tuned.split_once("artifacts: ").unwrap();
    let tuned: String = tuned.split_whitespace().collect();
    let launch = |kernel: usize, class: &str, block: &str, registers: u8| {
        format!(
            "cg::TunedLaunch{{group:\"\",signature:{kernel},device:\"a\\\"b\\\"\",size_class:&[{class}],block:&[{block}],\
             max_registers:{registers},}},"
        )
    };
    let expected =
        [launch(1, "10", "256", 0), launch(1, "20", "64", 32), launch(0, "10,9", "32,8", 0)];
    let group = "cg::TunedLaunch{group:\"either\",signature:1,device:\"d\",size_class:&[9],block:&[],max_registers:0,},],";
    assert_eq!(tuned, expected.concat() + group);
    let left_out = |line: usize, why: &str, kernel: &str| {
        format!(
            "cargo::warning=kernelmill-tuning.toml:{line}: {why}; this choice is not used: run `cargo kernelmill tune {kernel}`, \
             or remove the choice"
        )
    };
    let expected = [
        left_out(12, "`saxpy` has no build for blocks of 257 threads", "saxpy"),
        left_out(
            17,
            "`saxpy` has no build for blocks of 64 threads and at most 31 registers",
            "saxpy",
        ),
        left_out(23, "the package has no kernel `gone`", "gone"),
        left_out(28, "launches of `flat` have 2 dimensions, and `block` has 1", "flat"),
        left_out(38, "`flat` has no build for blocks of 32x16 threads", "flat"),
        left_out(48, "the package has no kernel `lost`", "either"),
    ];
    let said = outcome.lines.iter().filter(|it| it.starts_with("cargo::warning"));
    assert_eq!(said.collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
    let watched = "cargo::rerun-if-changed=kernelmill-tuning.toml";
    assert!(outcome.lines.iter().any(|line| line == watched), "{:?}", outcome.lines);
    project.write("app/kernelmill-tuning.toml", "[[choice]]\nblock = 0\n");
    let error = project.build().result.unwrap_err().to_string();
    assert_eq!(error.matches("error[KM0015]: kernelmill-tuning.toml:").count(), 4, "{error}");
}
