//! Kernels in several languages, each on the devices that suit it.

use kernelmill_build::manifest::Manifest;
use std::{collections::BTreeSet, path::Path};
use test_support::{
    checks::{self, Checked},
    snapshot, tool,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mixed-sources");

#[test]
fn each_source_is_compiled_for_the_targets_that_suit_it() {
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    let found: BTreeSet<_> =
        manifest.binaries.iter().map(|it| format!("{} for {}", it.source, it.target)).collect();
    let expected = [
        ("scaled.rs", &["cpu", "compute_80", "sm_80", "spirv64", "vulkan"][..]),
        ("halves.rs", &["cpu", "compute_80", "sm_80", "spirv64", "vulkan"]),
        ("suite.rs", &["cpu", "compute_80", "sm_80", "spirv64", "vulkan"]),
        ("shifted.cu", &["cpu", "compute_80", "sm_80", "spirv64", "vulkan"]),
        ("blocks.cu", &["cpu", "compute_80", "sm_80", "spirv64", "vulkan"]),
        ("variables.cu", &["cpu", "compute_80", "sm_80", "spirv64", "vulkan"]),
        ("templates.cu", &["cpu", "compute_80", "sm_80", "spirv64", "vulkan"]),
        ("whole_numbers.cu", &["cpu", "compute_80", "sm_80", "spirv64", "vulkan"]),
        ("doubled.cl", &["cpu", "compute_80", "sm_80", "spirv64", "opencl-c", "vulkan"]),
        // For the devices that the file says, and as a cubin.
        ("by_hand.ptx", &["compute_75", "sm_80"]),
    ];
    let expected = expected.into_iter().flat_map(|(source, targets)| {
        targets.iter().map(move |target| format!("kernels/{source} for {target}"))
    });
    assert_eq!(found, expected.collect());
}

const PTX: [&str; 4] = ["affine", "backwards", "series", "bytes"];
const BLOCKS: [&str; 7] =
    ["block_sums", "reversed", "counted_together", "together", "filtered", "positive", "rounds"];

const WHOLE_NUMBERS: [&str; 3] = ["rounded", "mirrored", "looked_through"];
const HALVES: [&str; 2] = ["halves", "narrowed"];

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn the_cpu_computes_what_plain_rust_does() {
    for device in ["cpu", "cpu:async"] {
        let Checked { passed, lacking, .. } = checks::on(PROGRAM, device);
        assert_eq!((passed.len(), lacking), (18, PTX.map(str::to_owned).to_vec()), "{device}");
    }
}

#[test]
fn the_fake_driver_computes_what_plain_rust_does() {
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "cuda");
    assert_eq!((passed.len(), lacking), (22, Vec::new()));
}

/// The kernels are loaded, and a launch of one that has no binary for the device says so.
#[test]
fn pocl_runs_what_suits_it() {
    if tool::pocl().is_none() {
        return;
    }
    let Checked { passed, lacking, errors } = checks::on(PROGRAM, "opencl");
    assert_eq!(
        (passed, lacking),
        (
            vec!["doubled".to_owned()],
            ["scaled", "shifted"]
                .into_iter()
                .chain(PTX)
                .chain(["variables", "templates", "template variables"])
                .chain(WHOLE_NUMBERS)
                .chain(BLOCKS)
                .chain(HALVES)
                .map(str::to_owned)
                .collect()
        )
    );
    // The version of pocl and the name of the processor are the machine's.
    let errors: Vec<_> = errors
        .lines()
        .map(|line| {
            line.split_once(" runs on ")
                .map_or(line.to_owned(), |(it, _)| it.to_owned() + " runs on ..")
                + "\n"
        })
        .collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/lacking.txt");
    snapshot::check(path, &errors.concat());
}

/// All but kernels in PTX, which has no SPIR-V.
#[test]
fn pocl_runs_spirv_of_every_language() {
    if tool::pocl().is_none() || tool::llvm_spirv().is_none() {
        return;
    }
    every_language_runs_as_spirv("opencl:spirv");
}

/// Where it is installed.
#[test]
fn intels_run_time_runs_spirv_of_every_language() {
    if tool::intel_opencl().is_some() {
        every_language_runs_as_spirv("opencl:intel");
    }
}

/// Vulkan, whose kernels have no pointers.
#[test]
fn lavapipe_runs_every_language() {
    if tool::lavapipe().is_some() {
        every_language_runs_as_spirv("wgpu");
    }
}

#[track_caller]
fn every_language_runs_as_spirv(device: &str) {
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, device);
    let first = ["scaled", "shifted", "doubled", "variables", "templates", "template variables"];
    let expected: Vec<_> =
        first.into_iter().chain(WHOLE_NUMBERS).chain(BLOCKS).chain(HALVES).collect();
    assert_eq!((passed, lacking), (owned(&expected), owned(&PTX)));
}

/// The text is embedded as it stands in the file, and the cubin has what ptxas says of it.
#[test]
fn ptx_is_embedded_as_it_is_and_assembled() {
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    let of_ptx: Vec<_> =
        manifest.binaries.iter().filter(|it| it.source == "kernels/by_hand.ptx").collect();
    for binary in &of_ptx {
        let bytes = std::fs::read(Path::new(env!("OUT_DIR")).join(&binary.file)).unwrap();
        let kernel = binary.kernels.iter().find(|it| it.symbol == "backwards").unwrap();
        assert_eq!(kernel.static_shared_bytes, 256, "{}", binary.target);
        let is_text = bytes == include_bytes!("../kernels/by_hand.ptx");
        assert_eq!(is_text, binary.target.starts_with("compute_"), "{}", binary.target);
        assert_eq!(bytes.starts_with(b"\x7fELF"), binary.target == "sm_80", "{}", binary.target);
        assert_eq!(kernel.resources.registers.is_some(), binary.target == "sm_80");
    }
    assert_eq!(of_ptx.len(), 2);
}

/// The wrappers' parameters, as `cargo kernelmill list` shows them.
#[test]
fn signatures_say_what_crosses() {
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    let lines =
        manifest.kernels.iter().map(|it| format!("{}:{} {}\n", it.file, it.line, it.signature));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/signatures.txt");
    snapshot::check(path, &lines.collect::<String>());
}
