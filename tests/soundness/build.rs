//! Writes the pool of random kernels, with the same functions for the host, and compiles them.

#[path = "src/pool/generator.rs"]
mod generator;

use std::{env, fs, path::PathBuf};

/// Kernels of each kind.
const KERNELS_PER_KIND: usize = 4;

fn main() {
    println!("cargo::rerun-if-changed=src/pool/generator.rs");
    println!("cargo::rerun-if-env-changed=KERNELMILL_SEED");
    let seed = env::var("KERNELMILL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let folder = out.join("pool");
    fs::create_dir_all(&folder).expect("OUT_DIR can be written");
    let pool = generator::Pool::new(seed, KERNELS_PER_KIND);
    write(&folder.join("functions.rs"), &pool.functions());
    write(&folder.join("pool.rs"), &pool.kernels());
    write(&out.join("cases.rs"), &pool.cases());
    // `functions.rs` has no kernel, so it is no source.
    kernelmill_build::Build::new()
        .source_glob(format!("{}/pool.rs", folder.display()))
        .source_dir("kernels")
        // The fake HIP run time is a gfx1100.
        .targets(["cpu", "compute_75", "gfx1100"])
        .compile();
}

fn write(path: &std::path::Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).expect("OUT_DIR can be written");
    }
}
