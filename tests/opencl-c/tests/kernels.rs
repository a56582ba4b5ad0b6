//! Kernels in OpenCL C, on the CPU and on the fake driver, and the code that they become.

use kernelmill_build::manifest::{Lowering, Manifest, Strategy};
use std::{collections::BTreeMap, path::Path, process::Command};
use test_support::{
    checks::{self, Checked},
    has_path_of_the_machine, snapshot, tool,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_opencl-c");

/// The strategy of every kernel on the CPU.
fn strategies() -> BTreeMap<String, Strategy> {
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    let kernels = manifest.binaries.into_iter().flat_map(|binary| binary.kernels);
    kernels.filter_map(|it| Some((it.symbol, it.strategy?))).collect()
}

#[test]
fn the_cpu_computes_what_plain_rust_does() {
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "cpu");
    assert_eq!((passed.len(), lacking), (34, Vec::new()));
}

/// What pocl 3.1 lacks of OpenCL C 3.0's optional features is not compiled for it. It says that a group has no
/// work-items along an axis that there is not, `get_local_size(7)`, where OpenCL says one.
///
/// Acceptance: S0.6.
#[test]
fn pocl_computes_what_plain_rust_does() {
    if tool::pocl().is_none() {
        return;
    }
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "opencl");
    assert_eq!(passed.len(), 30, "{passed:?}");
    assert_eq!(lacking, ["groups", "sub_groups", "new_atomics", "variables"]);
}

/// Vulkan, by LLVM and without pointers.
#[test]
fn lavapipe_computes_what_plain_rust_does() {
    if tool::lavapipe().is_none() {
        return;
    }
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "wgpu");
    assert_eq!(passed.len(), 30, "{passed:?}");
    assert_eq!(lacking, ["groups", "sub_groups", "new_atomics", "variables"]);
}

#[test]
fn the_fake_driver_computes_what_plain_rust_does() {
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "cuda");
    assert_eq!((passed.len(), lacking), (34, Vec::new()));
}

/// Work-item functions and barriers are those that the work-group generator knows.
#[test]
fn no_kernel_is_a_coroutine_and_those_of_scalars_are_vectorised() {
    let strategies = strategies();
    assert_eq!(strategies.len(), 34, "{strategies:?}");
    for (name, strategy) in &strategies {
        let is_coroutine = matches!(strategy.lowering, Lowering::Coroutine(_));
        assert!(!is_coroutine, "{name}: {strategy}");
    }
    let barriers = |name: &str| match strategies[name].lowering {
        Lowering::BarrierRegions { barriers, warp_collectives, .. } => (barriers, warp_collectives),
        _ => (0, 0),
    };
    for (name, expected) in [
        ("group_sums", (2, 0)),
        ("least", (1, 0)),
        ("hillis_steele", (2, 0)),
        ("blelloch", (3, 0)),
        ("five_points", (1, 0)),
        ("transpose", (1, 0)),
        ("product", (2, 0)),
        ("histogram", (2, 0)),
        ("compact", (3, 0)),
        ("sub_groups", (0, 18)),
        ("saxpy", (0, 0)),
        ("convolve", (0, 0)),
        ("elementary", (0, 0)),
        ("integers", (0, 0)),
    ] {
        assert_eq!(barriers(name), expected, "{name}");
        assert!(!strategies[name].widths.is_empty(), "{name}: {}", strategies[name]);
    }
    // `reqd_work_group_size` is the size that the function is compiled for.
    assert_eq!(strategies["least"].block, Some([64, 1, 1]));
    assert_eq!(strategies["squares"].interchanged_loops, 1);
}

#[test]
fn every_kernel_has_code_for_every_target() {
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    let mut kernels: BTreeMap<String, usize> = BTreeMap::new();
    for binary in &manifest.binaries {
        *kernels.entry(binary.target.clone()).or_default() += binary.kernels.len();
    }
    let targets = ["compute_80", "cpu", "gfx1100", "gfx90a", "sm_80", "spirv64"];
    let mut expected = BTreeMap::from(targets.map(|target| (target.to_owned(), 34)));
    // Four are not for these.
    expected.extend(["opencl-c", "vulkan"].map(|target| (target.to_owned(), 30)));
    assert_eq!(kernels, expected);
}

/// The oldest version that has what a source needs.
#[test]
fn spirv_is_valid() {
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    let of_target = manifest.binaries.iter().filter(|it| it.target == "spirv64");
    let mut versions = BTreeMap::new();
    for binary in of_target {
        let path = Path::new(env!("OUT_DIR")).join(&binary.file);
        assert!(binary.file.ends_with(".spv"), "{}", binary.file);
        let bytes = std::fs::read(&path).unwrap();
        *versions.entry((bytes[6], bytes[5])).or_insert(0) += 1;
        let Some(validator) = tool::spirv_val() else { return };
        let output = Command::new(validator).arg(&path).output().expect("it can be started");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {errors}", binary.source);
    }
    assert_eq!(versions, BTreeMap::from([((1, 2), 7), ((1, 3), 1)]));
}

/// The capabilities that a module in SPIR-V declares, by their numbers.
fn capabilities(module: &[u8]) -> Vec<u32> {
    const CAPABILITY: u32 = 17;
    let words: Vec<_> = module.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let (mut found, mut rest) = (Vec::new(), &words[5..]);
    while let Some(first) = rest.first() {
        let length = (first >> 16) as usize;
        if first & 0xffff == CAPABILITY {
            found.push(rest[1]);
        }
        rest = &rest[length.max(1)..];
    }
    found
}

/// A device that lacks a type refuses a module which declares it, so a module declares those alone that its source has.
///
/// Acceptance: S0.11, C19.
#[test]
fn spirv_declares_the_types_that_a_source_uses() {
    const FLOAT64: u32 = 10;
    const KERNEL: u32 = 6;
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    let of_target = manifest.binaries.iter().filter(|it| it.target == "spirv64");
    let mut doubles = Vec::new();
    for binary in of_target {
        let module = std::fs::read(Path::new(env!("OUT_DIR")).join(&binary.file)).unwrap();
        let found = capabilities(&module);
        assert!(found.contains(&KERNEL), "{}: {found:?}", binary.source);
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(root.join(&binary.source)).unwrap();
        assert_eq!(found.contains(&FLOAT64), text.contains("double"), "{}", binary.source);
        doubles.extend(found.contains(&FLOAT64).then_some(&*binary.source));
    }
    assert_eq!(doubles, ["kernels/maths.cl"]);
}

/// Text for a device has no include, no path of the machine, and the lines of its files.
#[test]
fn text_for_devices_stands_alone() {
    let text = std::fs::read_to_string(concat!(env!("OUT_DIR"), "/tiles.opencl-c.cl")).unwrap();
    assert!(!has_path_of_the_machine(text.as_bytes()), "{text}");
    assert!(text.contains("#line 1 \"kernels/tiles.clh\"\n#define TILE 8\n"), "{text}");
    assert!(text.starts_with("// kernelmill:\n#define __KERNELMILL__ 1\n"), "{text}");
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

/// Kernels whose parameters in local memory need a shim have source lines too.
#[test]
fn code_has_source_lines() {
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    let ptx = manifest
        .binaries
        .iter()
        .find(|it| it.target == "compute_80" && it.source == "kernels/reductions.cl");
    let path = Path::new(env!("OUT_DIR")).join(&ptx.expect("a binary").file);
    let ptx = std::fs::read_to_string(path).unwrap();
    let entry = ptx.split(".entry group_sums(").nth(1).unwrap().split(".entry").next().unwrap();
    assert!(entry.matches(".loc").count() > 5 && ptx.contains("kernels/reductions.cl"), "{entry}");
}
