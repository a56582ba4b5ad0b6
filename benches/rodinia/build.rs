//! Compiles kernels of a checkout of Rodinia, which the environment variable `RODINIA` names.

use std::{env, path::PathBuf};

/// The files, below the folder `opencl`, that have `BLOCK_SIZE` for a macro.
const FILES: [&str; 9] = [
    "backprop/backprop_kernel.cl",
    "bfs/Kernels.cl",
    "gaussian/gaussianElim_kernels.cl",
    "hotspot/hotspot_kernel.cl",
    "hotspot3D/hotspotKernel.cl",
    "kmeans/kmeans.cl",
    "lud/lud_kernel.cl",
    "nn/nearestNeighbor_kernel.cl",
    "nw/nw.cl",
];

/// One in which it is a variable.
const WITHOUT_MACRO: &str = "pathfinder/kernels.cl";

fn main() {
    println!("cargo::rerun-if-env-changed=RODINIA");
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_KERNELS").is_none() {
        return;
    }
    let Some(checkout) = env::var_os("RODINIA").map(PathBuf::from) else {
        println!("cargo::error=RODINIA does not name a checkout of github.com/yuhc/gpu-rodinia");
        return;
    };
    let path = |file: &str| checkout.join("opencl").join(file);
    let mut build = kernelmill_build::Build::new().source_files([path(WITHOUT_MACRO)]);
    for file in FILES.map(path) {
        build = build.define_for(file.display().to_string(), "BLOCK_SIZE", 16).source_files([file]);
    }
    build.targets(["cpu", "opencl-c"]).compile();
}
