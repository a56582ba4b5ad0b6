//! Kernels in LLVM IR, on the CPU and on the fake driver, and the code that they become.

use kernelmill_build::manifest::{Lowering, Manifest};
use std::{collections::BTreeMap, path::Path};
use test_support::{
    checks::{self, Checked},
    snapshot, tool,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_llvm-ir");

/// What only one vendor has keeps a kernel from the other targets.
#[test]
fn the_cpu_computes_what_plain_rust_does() {
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "cpu");
    assert_eq!((passed.len(), &*lacking), (11, &["lanes".to_owned()][..]));
}

#[test]
fn the_fake_driver_computes_what_plain_rust_does() {
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "cuda");
    assert_eq!((passed.len(), lacking), (12, Vec::new()));
}

/// pocl, with SPIR-V.
#[test]
fn pocl_computes_what_plain_rust_does() {
    if tool::pocl().is_none() || tool::llvm_spirv().is_none() {
        return;
    }
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "opencl:spirv");
    assert_eq!((passed.len(), &*lacking), (11, &["lanes".to_owned()][..]));
}

/// Vulkan, whose kernels have no pointers.
#[test]
fn lavapipe_computes_what_plain_rust_does() {
    if tool::lavapipe().is_none() {
        return;
    }
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "wgpu");
    assert_eq!((passed.len(), &*lacking), (11, &["lanes".to_owned()][..]));
}

/// Where it is installed.
#[test]
fn intels_run_time_computes_what_plain_rust_does() {
    if tool::intel_opencl().is_none() {
        return;
    }
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "opencl:intel");
    assert_eq!((passed.len(), &*lacking), (11, &["lanes".to_owned()][..]));
}

/// Indices and barriers of every vendor are those that the work-group generator knows.
#[test]
fn no_kernel_is_a_coroutine() {
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    let kernels = manifest.binaries.into_iter().flat_map(|binary| binary.kernels);
    let strategies: BTreeMap<_, _> =
        kernels.filter_map(|it| Some((it.symbol, it.strategy?))).collect();
    assert_eq!(strategies.len(), 11);
    for (name, strategy) in &strategies {
        assert!(!matches!(strategy.lowering, Lowering::Coroutine(_)), "{name}: {strategy}");
        // Two compute with vectors themselves.
        let has_vectors = matches!(&**name, "by_value" | "cl_pairs");
        assert_eq!(strategy.widths.is_empty(), has_vectors, "{name}: {strategy}");
    }
    // `reqntid` is the size that the function is compiled for.
    assert_eq!(strategies["block_sums"].block, Some([128, 1, 1]));
}

#[test]
fn every_kernel_has_code_for_every_target() {
    let manifest = Manifest::read(Path::new(env!("OUT_DIR"))).unwrap();
    let mut kernels: BTreeMap<String, usize> = BTreeMap::new();
    for binary in &manifest.binaries {
        *kernels.entry(binary.target.clone()).or_default() += binary.kernels.len();
    }
    let expected = ["cpu", "gfx1100", "spirv64", "vulkan"].map(|target| (target, 11)).into_iter();
    let expected = expected.chain([("compute_80", 12), ("sm_80", 12)]);
    assert_eq!(kernels, expected.map(|(target, count)| (target.to_owned(), count)).collect());
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
