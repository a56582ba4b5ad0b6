//! What it costs to compile kernels in Rust for the CPU with vectorisation, and without:
//!
//! ```text
//! cargo run --release -p cuda-cpp --example vectorization -- benches/cpu-bench/kernels
//! ```
//!
//! For each `.rs` file of the folder one line: milliseconds of the compiler, the best of three times,
//! after rustc has made bitcode of the file, and bytes of the object.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use cuda_cpp::compiler;
use kernelmill_compiler::{
    Config, Job, JobSource, Lowered, Params, RustSource, frontend::rust::signature,
};

/// What a file costs.
#[derive(Clone, Copy, Default)]
struct Cost {
    time: Duration,
    bytes: usize,
}

fn main() {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: vectorization FOLDER");
        std::process::exit(2);
    };
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "rs"));
    files.sort();
    println!("| file | without, ms | with, ms | times | without, bytes | with, bytes | times |");
    println!("|{}", " --- |".repeat(7));
    let mut sums = [Cost::default(); 2];
    for file in &files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let (source, lowered) = lower(file);
        let costs = [false, true].map(|vectorize| cost(&source, &lowered, vectorize));
        for (sum, cost) in sums.iter_mut().zip(costs) {
            *sum = Cost { time: sum.time + cost.time, bytes: sum.bytes + cost.bytes };
        }
        println!("{}", row(&name, costs));
    }
    println!("{}", row("together", sums));
}

fn lower(file: &Path) -> (RustSource, Lowered) {
    let path = file.canonicalize().expect("it is there");
    let display = file.display().to_string();
    let text = std::fs::read_to_string(file).expect("a text");
    let source = RustSource {
        package_root: path.parent().expect("it lies in a folder").to_path_buf(),
        path,
        edition: "2024".into(),
        cfgs: Vec::new(),
        arguments: Vec::new(),
        signatures: signature::read(&text, &display).expect("kernels"),
        functions: Vec::new(),
        instances: Vec::new(),
        mirror: None,
        display,
    };
    let lowered = compiler().lower_rust(&source).unwrap_or_else(|error| panic!("{error}"));
    (source, lowered)
}

/// The best of three.
fn cost(source: &RustSource, lowered: &Lowered, vectorize: bool) -> Cost {
    let target = "cpu".parse().expect("a target");
    let params = Params { vectorize, ..Params::default() };
    let config = Config { params, ..Config::new(target) };
    let unit = JobSource { lowered, signatures: &source.signatures, unit: "measured" };
    let job = Job { source: unit, config: &config };
    let once = |_| {
        let begun = Instant::now();
        let artifact = compiler().compile(&job).unwrap_or_else(|error| panic!("{error}"));
        Cost { time: begun.elapsed(), bytes: artifact.bytes.len() }
    };
    (0..3).map(once).min_by_key(|cost| cost.time).expect("three times")
}

fn row(name: &str, [without, with]: [Cost; 2]) -> String {
    let [slow, fast] = [with, without].map(|cost| 1e3 * cost.time.as_secs_f64());
    let (large, small) = (with.bytes, without.bytes);
    let bytes = large as f64 / small as f64;
    format!(
        "| {name} | {fast:.0} | {slow:.0} | {:.1} | {small} | {large} | {bytes:.1} |",
        slow / fast
    )
}
