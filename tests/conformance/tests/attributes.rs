//! What is said of launches: in PTX, in the metadata of code objects, and in cubins' registers.

mod common;

use common::{assembly, lower};
use test_support::{temporary_folder, write_file};

const KERNELS: &str = "
use kernelmill_device::prelude::*;

fn work(x: f32) -> f32 {
    let mut values = [x; 48];
    for round in 0..48 {
        for i in 0..48 {
            values[i] = values[i].mul_add(values[(i + round) % 48], round as f32);
        }
    }
    values.iter().sum()
}

#[kernel(launch_bounds = 42, min_blocks = 3, max_registers = 40)]
pub fn bounded(mut y: DisjointSlice<f32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = work(*out);
    }
}

#[kernel(block_size = [42, 1, 1], min_blocks = 1)]
pub fn exact(mut y: DisjointSlice<f32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = work(*out);
    }
}
";

/// Check 13 of the seeds.
/// Acceptance: C13.
#[test]
fn check_13_property_annotations() {
    for target in ["compute_75", "compute_100"] {
        let ptx = assembly("annotated", KERNELS, target);
        for directive in [
            ".maxntid 42",
            ".minnctapersm 3",
            ".maxnreg 40",
            ".reqntid 42, 1, 1",
            ".minnctapersm 1",
        ] {
            assert!(ptx.contains(directive), "{target}: no {directive} in\n{ptx}");
        }
    }
}

#[test]
fn code_objects_have_the_size_of_a_block_in_their_metadata() {
    for target in ["gfx90a", "gfx942", "gfx1100"] {
        let text = assembly("annotated", KERNELS, target);
        let metadata = text.split(".amdgpu_metadata").nth(1).unwrap();
        let sizes: Vec<_> = metadata
            .lines()
            .filter_map(|line| line.trim().strip_prefix(".max_flat_workgroup_size: "))
            .collect();
        assert_eq!(sizes, ["42", "42"], "{target}");
        let registers = |name: &str| -> Vec<u32> {
            let lines = metadata.lines().map(str::trim);
            lines.filter_map(|line| line.strip_prefix(name)?.trim().parse().ok()).collect()
        };
        let used = registers(".vgpr_count:");
        assert!(used[0] <= 40, "{target}: {used:?}");
    }
}

/// Blocks that a compute unit is to hold leave each thread fewer registers: with eight blocks of 256
/// threads each of its four processors holds eight waves, and a wave a 64th of 512 registers.
#[test]
fn code_objects_leave_room_for_the_blocks_that_are_asked_for() {
    let kernel = |name: &str, how: &str| {
        let body = "if let Some(out) = y.get_mut(thread::index_1d()) { *out = work(*out); }";
        format!("#[kernel({how})]\npub fn {name}(mut y: DisjointSlice<f32>) {{ {body} }}\n")
    };
    let work = KERNELS.split("#[kernel").next().unwrap();
    let alone = kernel("alone", "launch_bounds = 256");
    let many = kernel("many", "launch_bounds = 256, min_blocks = 8");
    for target in ["gfx90a", "gfx942"] {
        let used = |name: &str, kernel: &str| -> u32 {
            let text = assembly(name, &format!("{work}{kernel}"), target);
            let line = text.lines().find_map(|line| line.trim().strip_prefix(".vgpr_count:"));
            line.unwrap().trim().parse().unwrap()
        };
        let (alone, many) = (used("alone", &alone), used("many", &many));
        assert!(many <= 64 && many < alone, "{target}: {many} registers, {alone} without");
    }
}

/// What ptxas makes of the limits.
/// Acceptance: S3.4.
#[test]
fn registers_are_kept_within_what_is_said() {
    let Some(ptxas) = cuda_cpp::ptxas() else { return };
    let ptx = lower("annotated_ptx.rs", KERNELS).unwrap().assembly("compute_90").unwrap();
    let folder = temporary_folder();
    let path = write_file(&folder, "annotated.ptx", ptx);
    let output = std::process::Command::new(ptxas)
        .args(["-arch=sm_90", "-v", "-o", "/dev/null"])
        .arg(&path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let registers = |kernel: &str| -> u32 {
        let rest = text.split(&format!("entry function '{kernel}'")).nth(1).unwrap();
        let (before, _) = rest.split_once(" registers").unwrap();
        before.split_whitespace().last().unwrap().parse().unwrap()
    };
    assert!(registers("bounded") <= 40 && registers("exact") > 40, "{text}");
}
