//! Compiles one file in CUDA C++ for the CPU, the one that `COMPILE_TIME_FILE` names, and tells the program how much
//! processor time this build script and the compilers that it called took.

use std::{env, fs};

/// The file, the macros for it as `NAME=VALUE` with `;` between, and a number that differs from run to run.
const VARIABLES: [&str; 3] = ["COMPILE_TIME_FILE", "COMPILE_TIME_DEFINE", "COMPILE_TIME_RUN"];

fn main() {
    for name in VARIABLES {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    let [file, define, _] = VARIABLES.map(|name| env::var(name).unwrap_or_default());
    if !file.is_empty() {
        let mut build = kernelmill_build::Build::new().target("cpu");
        for (name, value) in define.split(';').filter_map(|it| it.split_once('=')) {
            build = build.define(name, value);
        }
        build.source_files([file]).compile();
    }
    println!("cargo::rustc-env=COMPILE_TIME_SECONDS={}", processor_seconds());
}

/// The user and system time of this process and of its children that have ended, in seconds; 0 where there is no `/proc`.
fn processor_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program comes second, in parentheses. `utime`, `stime`, `cutime` and `cstime` are fields 14 to 17.
    let numbers = text.rsplit_once(')').map_or("", |(_, numbers)| numbers);
    let ticks = numbers.split_whitespace().skip(11).take(4);
    // Linux gives hundredths of a second to programs, whatever its own clock.
    ticks.filter_map(|it| it.parse::<f64>().ok()).sum::<f64>() / 100.0
}
