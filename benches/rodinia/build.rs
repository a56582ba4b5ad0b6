//! Compiles kernels of a checkout of Rodinia, which the environment variable `RODINIA` names.

use std::{env, path::PathBuf};

/// The files, below the folder `opencl`: those that one value of `BLOCK_SIZE` suits, which is a variable in others.
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
    kernelmill_build::Build::new()
        .source_files(FILES.map(|file| checkout.join("opencl").join(file)))
        .define("BLOCK_SIZE", 16)
        .targets(["cpu", "opencl-c"])
        .compile();
}
