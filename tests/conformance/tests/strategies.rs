//! The lowering strategy of every kernel on the CPU, on whatever toolchain runs the test: a kernel that
//! falls back to a slower one is a failure, not a slower program.
#![cfg(target_arch = "x86_64")]

mod common;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use common::{folder, lower};
use test_support::{root, snapshot};

/// The folders with kernels, from the root of the workspace.
const FOLDERS: [&str; 11] = [
    "benches/cpu-bench/kernels",
    "examples/autodiff/kernels",
    "examples/cudarc-interop/kernels",
    "examples/mandelbrot/kernels",
    "examples/matmul/kernels",
    "examples/nbody/kernels",
    "examples/photo/kernels",
    "examples/reduce/kernels",
    "examples/saxpy/kernels",
    "tests/conformance/kernels",
    "tests/cuda-cpp/kernels",
];

/// What is written where a source is not compiled by itself: it needs other files, or a plugin.
const PARTS: [&str; 3] = ["\nmod ", "#include \"", "autodiff!"];

/// The LLVM from which on it reads what the clang of the tests writes.
const CLANG: u32 = 22;

fn sources(workspace: &Path) -> Vec<PathBuf> {
    let all = FOLDERS.iter().flat_map(|folder| fs::read_dir(workspace.join(folder)).unwrap());
    let mut paths: Vec<_> = all.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "rs" || it == "cu"));
    paths.sort();
    paths
}

/// A line for each kernel of a file.
fn strategies(workspace: &Path, path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    if PARTS.iter().any(|part| text.contains(part)) {
        return Vec::new();
    }
    // Sources of equal names have folders of their own.
    let place = path.strip_prefix(workspace).unwrap().display().to_string();
    let name = place.replace(['/', '-'], "_");
    let source = lower(&name, &text).unwrap_or_else(|error| panic!("{place}: {error}"));
    let artifact = source.compile("cpu").unwrap_or_else(|error| panic!("{place}: {error}"));
    assert_eq!(artifact.warnings, [""; 0], "{place}");
    let of_kernel = source.signatures.iter().map(|it| (&*it.symbol, &*it.name));
    let names: std::collections::HashMap<_, _> = of_kernel.collect();
    let kernels = artifact.kernels.iter();
    kernels
        .map(|kernel| {
            let strategy = kernel.strategy.as_ref().unwrap();
            let mut line = serde_json::to_value(strategy).unwrap();
            // Which of several reasons against vectors is found first is no matter.
            line["scalar"] = strategy.scalar.is_some().into();
            format!("{place}, {}: {line}", names[&*kernel.name])
        })
        .collect()
}

#[test]
fn every_kernel_has_its_strategy_on_this_toolchain() {
    let workspace = root();
    let reads_clang = cuda_cpp::compiler().llvm().version().major >= CLANG;
    let mut found = BTreeSet::new();
    for path in sources(workspace) {
        let of_clang = path.extension().is_some_and(|it| it == "cu");
        if reads_clang || !of_clang {
            found.extend(strategies(workspace, &path));
        }
    }
    let is_compared = |line: &str| reads_clang || !line.contains(".cu, ");
    snapshot::check_lines(folder().join("strategies.txt"), &found, is_compared);
    assert!(found.len() > 100, "{} kernels", found.len());
}
