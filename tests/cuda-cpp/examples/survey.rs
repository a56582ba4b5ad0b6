//! How much of a folder of CUDA C++, HIP and OpenCL C compiles through clang:
//!
//! ```text
//! cargo run --release -p cuda-cpp --example survey -- FOLDER [TARGET...] [-I FOLDER] [-D NAME]
//! ```
//!
//! What starts with a hyphen is an argument of clang, with the folder or name behind it.
//! For each `.cu`, `.hip` and `.cl` file below the folder one line: its kernels, and for each target how many of them
//! compiled, with the first reason where not all did.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Instant,
};

use cuda_cpp::{Source, clang, compiler, lower};
use kernelmill_compiler::{Error, frontend::cuda::CudaSource};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(root) = arguments.next() else {
        eprintln!("usage: survey FOLDER [TARGET...]");
        std::process::exit(2);
    };
    let (mut targets, mut flags) = (Vec::new(), vec!["-w".to_owned()]);
    while let Some(argument) = arguments.next() {
        let has_value = argument == "-I" || argument == "-D";
        let into = if argument.starts_with('-') { &mut flags } else { &mut targets };
        into.push(argument);
        if has_value {
            into.extend(arguments.next());
        }
    }
    if targets.is_empty() {
        targets = ["cpu", "gfx1100", "compute_80"].map(str::to_owned).to_vec();
    }
    let root = PathBuf::from(root).canonicalize().expect("a folder");
    let mut files = Vec::new();
    find(&root, &mut files);
    files.sort();
    println!("| file | kernels | clang, s | {} |", targets.join(" | "));
    println!("| --- | --- | --- |{}", " --- |".repeat(targets.len()));
    for file in files {
        let display = file.strip_prefix(&root).expect("below the root").display().to_string();
        let source = CudaSource {
            path: file.clone(),
            display: display.clone(),
            package_root: root.clone(),
            includes: Vec::new(),
            defines: Vec::new(),
            arguments: flags.clone(),
            instances: Vec::new(),
        };
        let start = Instant::now();
        match lower_either(&source) {
            Ok(lowered) => {
                let seconds = start.elapsed().as_secs_f64();
                let cells: Vec<_> = targets.iter().map(|target| cell(&lowered, target)).collect();
                let kernels = lowered.lowered.kernels.len();
                println!("| {display} | {kernels} | {seconds:.1} | {} |", cells.join(" | "));
            }
            Err(error) => println!("| {display} | | | {} |", first_line(&error)),
        }
    }
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|it| it == "cu" || it == "hip" || it == "cl") {
            files.push(path);
        }
    }
}

fn lower_either(source: &CudaSource) -> Result<Source, Error> {
    if source.path.extension().is_none_or(|extension| extension != "cl") {
        return lower(source);
    }
    let lowered = compiler().lower_opencl(clang(), source)?;
    Ok(Source { lowered, name: "survey".to_owned() })
}

/// What became of a file on one target.
fn cell(source: &Source, target: &str) -> String {
    let wanted = source.signatures(target).len();
    if wanted == 0 && !source.lowered.kernels.is_empty() {
        return format!("0: {}", reasons(source));
    }
    let start = Instant::now();
    match source.compile(target) {
        Ok(artifact) => {
            let seconds = start.elapsed().as_secs_f64();
            let count = artifact.kernels.len();
            let rest = if count < source.lowered.kernels.len() {
                format!("; rest: {}", reasons(source))
            } else {
                String::new()
            };
            format!("{count} in {seconds:.1} s{rest}")
        }
        Err(error) => first_line(&error),
    }
}

fn reasons(source: &Source) -> String {
    let reasons: BTreeSet<_> =
        source.lowered.unsupported.iter().map(|feature| feature.reason.as_str()).collect();
    reasons.into_iter().take(3).collect::<Vec<_>>().join(", ")
}

fn first_line(error: &Error) -> String {
    let text = error.to_string();
    let line = text.lines().find(|line| line.contains("error")).or_else(|| text.lines().nth(1));
    line.unwrap_or(&text).chars().take(240).collect()
}
