//! Writes random kernels, with the same functions for the host, and compiles them.

#[path = "src/generator.rs"]
mod generator;

use std::{env, fs, path::PathBuf};

/// Kernels, in files of seventeen.
const FILES: u64 = 6;
const KERNELS_PER_FILE: u64 = 17;

fn main() {
    for file in ["generator", "loops"] {
        println!("cargo::rerun-if-changed=src/{file}.rs");
    }
    println!("cargo::rerun-if-env-changed=KERNELMILL_SEED");
    // The default is a seed that has found a fault: a stack slot that a coroutine lost.
    let seed = env::var("KERNELMILL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(2);
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let folder = out.join("random");
    fs::create_dir_all(&folder).expect("OUT_DIR can be written");
    let mut cases = Vec::new();
    for file in 0..FILES {
        let mut functions = String::new();
        let mut kernels =
            String::from("use kernelmill_device::prelude::*;\n\ninclude!(\"FUNCTIONS\");\n");
        for number in 0..KERNELS_PER_FILE {
            let index = file * KERNELS_PER_FILE + number;
            let case = generator::Case::new(seed, index);
            functions.push_str(&case.functions);
            kernels.push_str(&case.kernels());
            cases.push((file, case));
        }
        let name = format!("functions_{file}.rs");
        write(&folder.join(&name), &functions);
        write(&folder.join(format!("random_{file}.rs")), &kernels.replace("FUNCTIONS", &name));
    }
    write(&out.join("cases.rs"), &generator::host_side(&cases, FILES, seed));
    // `functions_*.rs` have no kernels, so they are no sources. Without contraction every
    // operation is rounded as on the host.
    kernelmill_build::Build::new()
        .source_glob(format!("{}/random_*.rs", folder.display()))
        .targets(["cpu", "compute_75"])
        .fma(false)
        .compile();
}

fn write(path: &std::path::Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).expect("OUT_DIR can be written");
    }
}
