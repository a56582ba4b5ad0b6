//! Kernels in HIP on the CPU, the fake CUDA driver, the fake HIP run time and pocl, and the code that they become.

use kernelmill_build::manifest::{Lowering, Manifest, Strategy};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};
use test_support::{
    checks::{self, Checked},
    tool,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_hip-cpp");

#[track_caller]
fn all_are_right(device: &str) {
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, device);
    assert_eq!((passed.len(), lacking), (23, Vec::new()), "{passed:?}");
}

#[test]
fn the_cpu_computes_what_plain_rust_does() {
    all_are_right("cpu");
}

#[test]
fn the_fake_driver_computes_what_plain_rust_does() {
    all_are_right("cuda");
}

/// The fake HIP run time runs the CPU's code of a kernel, with the arguments that the HIP back end gives it.
#[test]
fn the_fake_hip_run_time_computes_what_plain_rust_does() {
    all_are_right("hip");
}

/// pocl, with SPIR-V. Shuffles and votes need all threads of a block, which some kernels part.
#[test]
fn pocl_computes_what_plain_rust_does() {
    if tool::pocl().is_none() || tool::llvm_spirv().is_none() {
        return;
    }
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "opencl:spirv");
    assert_eq!((passed.len(), &*lacking), (21, &["block_sums", "apart"].map(str::to_owned)[..]));
}

/// Where it is installed.
#[test]
fn intels_run_time_computes_what_plain_rust_does() {
    if tool::intel_opencl().is_none() {
        return;
    }
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "opencl:intel");
    assert_eq!((passed.len(), &*lacking), (21, &["block_sums", "apart"].map(str::to_owned)[..]));
}

/// Vulkan, whose kernels have no pointers.
#[test]
fn lavapipe_computes_what_plain_rust_does() {
    if tool::lavapipe().is_none() {
        return;
    }
    let Checked { passed, lacking, .. } = checks::on(PROGRAM, "wgpu");
    assert_eq!((passed.len(), &*lacking), (21, &["block_sums", "apart"].map(str::to_owned)[..]));
}

fn manifest() -> Manifest {
    Manifest::read(Path::new(env!("OUT_DIR"))).unwrap()
}

#[test]
fn each_source_is_compiled_for_every_target() {
    let found: BTreeSet<_> =
        manifest().binaries.iter().map(|it| format!("{} for {}", it.source, it.target)).collect();
    let expected =
        ["blocks", "maps", "small_floats", "wavefronts"].into_iter().flat_map(|source| {
            let targets = ["cpu", "compute_80", "sm_80", "gfx90a", "gfx1100", "spirv64", "vulkan"];
            targets.map(|target| format!("kernels/{source}.hip for {target}"))
        });
    assert_eq!(found, expected.collect());
}

/// Shuffles and votes that all threads of a block come to together need no coroutine.
#[test]
fn wavefronts_that_stay_together_become_barrier_regions() {
    let kernels = manifest().binaries.into_iter().flat_map(|binary| binary.kernels);
    let strategies: BTreeMap<String, Strategy> =
        kernels.filter_map(|it| Some((it.symbol, it.strategy?))).collect();
    let of = |name: &str| {
        let mut symbols = strategies.keys();
        let symbol =
            symbols.find(|symbol| symbol.contains(name)).expect("it is compiled for the CPU");
        &strategies[symbol]
    };
    for name in ["positives", "shuffles", "masked"] {
        let strategy = of(name);
        assert!(matches!(strategy.lowering, Lowering::BarrierRegions { .. }), "{name}: {strategy}");
    }
    // Threads in different branches are absent from each other's.
    let apart = of("apart");
    assert!(matches!(apart.lowering, Lowering::BarrierRegions { joins: 2, .. }), "{apart}");
}
