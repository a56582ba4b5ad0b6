//! The program on the CPU and on PTX that the fake driver runs, whose first steps it compares with the CPU's itself.

use std::process::Command;
use test_support::{driver::fake_driver, temporary_folder};

/// What a few steps print on a device, and the losses among it.
fn run(device: &str) -> (String, Vec<f32>) {
    let folder = temporary_folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_transformer"));
    command.args(["--steps", "3", "--batch", "1", "--sample", "2"]).current_dir(folder.path());
    command.env("KERNELMILL_DEVICE", device);
    if device == "cuda:0" {
        command.env("LD_LIBRARY_PATH", fake_driver()).env("FAKE_CUDA_LEAK_CHECK", "1");
        command.env("FAKE_CUDA_RACES", "1");
    }
    let output = command.output().expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("text");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{device}: {errors}\n{text}");
    let chart = std::fs::read_to_string(folder.path().join("loss.svg")).expect("a chart");
    assert!(chart.contains("<polyline") && chart.ends_with("</svg>\n"), "{chart}");
    let losses = text.lines().filter(|line| line.contains("step ")).map(|line| {
        let (_, loss) = line.rsplit_once("loss ").expect("a loss");
        loss.parse().expect("a number")
    });
    let losses = losses.collect();
    (text, losses)
}

#[test]
fn ptx_trains_as_the_cpu_does() {
    let ((on_cpu, expected), (on_driver, found)) = (run("cpu"), run("cuda:0"));
    assert!(on_driver.contains("PTX emulator") && !on_cpu.contains("PTX emulator"), "{on_cpu}");
    assert!(on_driver.contains("the first 3 steps are as on the CPU"), "{on_driver}");
    assert_eq!((expected.len(), found.len()), (3, 3), "{on_cpu}{on_driver}");
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 2e-3, "{on_cpu}{on_driver}");
    }
}
