//! Writes kernels in WGSL, a file each, compiles them, and lists them with their wrappers.

use std::{env, fmt::Write as _, fs, path::PathBuf};

/// More than the tables of the module cache begin with: they are made larger several times.
const KERNELS: usize = 70;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let folder = out.join("kernels");
    fs::create_dir_all(&folder).expect("OUT_DIR can be written");
    let mut calls = format!("const CALLS: [Call; {KERNELS}] = [\n");
    for number in 1..=KERNELS {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> sum: array<f32>;\n\
             @compute @workgroup_size(1) fn add_{number}() {{ sum[0] += {number}.0; }}\n"
        );
        fs::write(folder.join(format!("add_{number}.wgsl")), text).expect("OUT_DIR can be written");
        let _ = writeln!(
            calls,
            "    |kernels, stream, sum| kernels.add_{number}(stream, Launch::grid([1], [1]), sum),"
        );
    }
    calls.push_str("];\n");
    fs::write(out.join("calls.rs"), calls).expect("OUT_DIR can be written");
    kernelmill_build::Build::new()
        .source_glob(format!("{}/*.wgsl", folder.display()))
        .target("vulkan")
        .compile();
}
