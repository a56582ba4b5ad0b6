//! Whole compilations of kernels near to right ones, from the source to binaries of every kind: each ends in time, with
//! binaries or with errors that a user can read.
//!
//! What fails here are panics, internal errors, signals in LLVM, and compilers that run without end. Whether results
//! are right is for `tests/differential` and `tests/random-cuda` to say.

use faults::{Fixture, Language, Mutants, count, for_seeds};
use std::{
    fs,
    path::{Path, PathBuf},
};
use test_support::{Random, root, tool};

/// Compilations in CI.
const CASES: u64 = 16;

/// The targets of each: the processor, PTX of the oldest and the newest, an AMD GPU.
const TARGETS: [&str; 4] = ["cpu", "compute_75", "compute_100", "gfx1100"];

/// Sources whose kernels need nothing outside their file.
fn sources(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = root().join(folder);
    let entries = fs::read_dir(&folder).expect("a folder").filter_map(Result::ok);
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| {
        let has_extension = path.extension().is_some_and(|it| it == extension);
        let is_alone = |text: String| {
            !text.contains("\nmod ") && !text.contains("#include \"") && !text.contains("<<<")
        };
        has_extension && fs::read_to_string(path).is_ok_and(is_alone)
    });
    paths.sort();
    assert!(!paths.is_empty(), "{} has sources", folder.display());
    paths
}

#[test]
fn every_mutant_becomes_binaries_or_a_plain_error() {
    if tool::clang().is_none() {
        return;
    }
    let folders = [
        (Language::Rust, "tests/conformance/kernels", "rs"),
        (Language::CudaCpp, "tests/cuda-cpp/kernels", "cu"),
        (Language::OpenClC, "tests/opencl-c/kernels", "cl"),
    ];
    let files: Vec<(Language, PathBuf)> = folders
        .iter()
        .flat_map(|(language, folder, extension)| {
            sources(folder, extension).into_iter().map(|path| (*language, path))
        })
        .collect();
    let mutants = Mutants::of(files.iter().map(|(language, path)| (*language, Path::new(path))));
    let targets = format!("{TARGETS:?}");
    let settings = "cuda-compiler = \"clang\"\n";
    let fixture = Fixture::without_sources(env!("CARGO_BIN_EXE_faults"), &targets, settings);
    let mut binaries = 0;
    for_seeds("kernels, each for four targets", CASES, |seed, random: &mut Random| {
        let (language, text) = mutants.make(random);
        fixture.set_only_source(language.file(), &text);
        // Thousands of entries take room that nobody reads again.
        if seed % 100 == 0 {
            fixture.clear();
        }
        let built = std::panic::catch_unwind(|| fixture.build());
        let built = built.unwrap_or_else(|_| panic!("{}:\n{text}", language.file()));
        match built.code {
            Some(0) => binaries += TARGETS.len() as u64,
            _ => assert!(built.messages.contains(language.file()), "{}\n{text}", built.messages),
        }
    });
    count("binaries of those kernels", binaries, 0);
    assert!(binaries > 0, "some mutants are right");
}
