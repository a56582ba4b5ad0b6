//! The lowering strategy of every kernel on the CPU, on whatever toolchain runs the test: a kernel that
//! falls back to a slower one is a failure, not a slower program.
//!
//! This package's own kernels have theirs in the manifest of its build; those of others are compiled here.
#![cfg(target_arch = "x86_64")]

mod common;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use common::{each, folder, lower};
use kernelmill_artifact::Signature;
use kernelmill_compiler::{Artifact, Error};
use serde_json::{Value, json};
use test_support::{root, snapshot};

/// The folders with kernels, from the root of the workspace.
const FOLDERS: [&str; 12] = [
    "benches/cpu-bench/kernels",
    "examples/autodiff/kernels",
    "examples/cudarc-interop/kernels",
    "examples/fluid/kernels",
    "examples/mandelbrot/kernels",
    "examples/matmul/kernels",
    "examples/nbody/kernels",
    "examples/photo/kernels",
    "examples/reduce/kernels",
    "examples/saxpy/kernels",
    "tests/conformance/targets",
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
    let (signatures, artifact) =
        compiled(&place, &text).unwrap_or_else(|error| panic!("{place}: {error}"));
    assert_eq!(artifact.warnings, [""; 0], "{place}");
    let of_kernel = signatures.iter().map(|it| (&*it.symbol, &*it.name));
    let names: std::collections::HashMap<_, _> = of_kernel.collect();
    let kernels = artifact.kernels.iter();
    kernels.map(|it| line(&place, names[&*it.name], json!(it.strategy))).collect()
}

/// What is in a file, and what it becomes for the CPU. Those of `tests/cuda-cpp` are read as its own tests read them, so that
/// the store has them.
fn compiled(place: &str, text: &str) -> Result<(Vec<Signature>, Artifact), Error> {
    let stem = place.strip_prefix("tests/cuda-cpp/kernels/").and_then(|it| it.strip_suffix(".cu"));
    if let Some(stem) = stem {
        let source = cuda_cpp::lower(&cuda_cpp::source(stem))?;
        return Ok((source.signatures("cpu"), source.compile("cpu")?));
    }
    let source = lower(&place.replace(['/', '-'], "_"), text)?;
    let artifact = source.compile("cpu")?;
    Ok((source.signatures, artifact))
}

/// What is said of a kernel.
fn line(place: &str, kernel: &str, mut strategy: Value) -> String {
    // Which of several reasons against vectors is found first is no matter.
    assert!(strategy.is_object(), "{place}, {kernel}: no strategy");
    strategy["scalar"] = (!strategy["scalar"].is_null()).into();
    format!("{place}, {kernel}: {strategy}")
}

/// A line for each kernel of this package, from the manifest of its build.
fn own_strategies() -> Vec<String> {
    let built = include_str!(concat!(env!("OUT_DIR"), "/kernelmill.json"));
    let built: Value = serde_json::from_str(built).unwrap();
    let list = |value: &Value| value.as_array().unwrap().clone();
    let said = list(&built["diagnostics"]);
    let warnings: Vec<_> = said.iter().filter(|it| it["target"] == "cpu").collect();
    assert!(warnings.is_empty(), "{warnings:?}");
    let signatures = list(&built["kernels"]);
    let name = |symbol: &Value| {
        let signature = signatures.iter().find(|it| it["symbol"] == *symbol).unwrap();
        signature["name"].as_str().unwrap().to_owned()
    };
    let of_binary = |binary: &Value| {
        let place = format!("tests/conformance/{}", binary["source"].as_str().unwrap());
        let of_kernel = |it: &Value| line(&place, &name(&it["symbol"]), it["strategy"].clone());
        list(&binary["kernels"]).iter().map(of_kernel).collect::<Vec<_>>()
    };
    // What rustc makes of a kernel package with its dependencies is another thing from version to version.
    let is_file = |it: &&Value| it["source"].as_str().unwrap().ends_with(".rs");
    let on_cpu = |it: &&Value| it["target"] == "cpu";
    list(&built["binaries"]).iter().filter(on_cpu).filter(is_file).flat_map(of_binary).collect()
}

/// Compares the kernels of files with this extension, and others that are known, with a table.
fn compare(table: &str, extension: &str, known: Vec<String>) {
    let workspace = root();
    let mut sources = sources(workspace);
    sources.retain(|path| path.extension().is_some_and(|it| it == extension));
    let mut found: BTreeSet<_> = known.into_iter().collect();
    found.extend(each(&sources, |path| strategies(workspace, path)));
    let text = found.iter().flat_map(|line| [line, "\n"]).collect::<String>();
    snapshot::check(folder().join(table), &text);
    assert!(found.len() > 100, "{} kernels", found.len());
}

#[test]
fn kernels_in_rust_have_their_strategies_on_this_toolchain() {
    compare("strategies.txt", "rs", own_strategies());
}

#[test]
fn kernels_in_cpp_have_their_strategies_with_this_llvm() {
    if cuda_cpp::compiler().llvm().version().major >= CLANG {
        compare("strategies-cpp.txt", "cu", Vec::new());
    }
}
