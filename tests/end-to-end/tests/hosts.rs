//! Applications for several hosts from one store.

use end_to_end::{Project, Run};
use std::{fs, path::PathBuf};
use test_support::tool::{clang, require, rustc};

const FILL: &str = "extern \"C\" __global__ void fill(float *x, float value) { *x = value; }\n";

/// ELF's number of the processor that an object is for.
fn processor(project: &Project, run: &Run) -> u16 {
    let line = run
        .stdout
        .lines()
        .find(|line| line.contains("\"build-script-executed\"") && line.contains("two-hosts"));
    let (_, rest) = line.and_then(|line| line.split_once("\"out_dir\":\"")).expect("a folder");
    let out = rest.split('"').next().expect("a folder");
    let out = out.replace("[target]", &project.target().display().to_string());
    let object = fs::read(PathBuf::from(out).join("fill.cpu.o")).expect("an object");
    u16::from_le_bytes([object[18], object[19]])
}

/// clang's bitcode of CUDA C++ is the same for every host, and the object that is made of it is not.
#[test]
fn an_object_of_one_host_is_not_taken_for_another() {
    let Some(_) = clang() else { return };
    const X86_64: u16 = 62;
    const AARCH64: u16 = 183;
    let hosts = [("x86_64-unknown-linux-gnu", X86_64), ("aarch64-unknown-linux-musl", AARCH64)];
    let project = Project::new("two-hosts")
        .manifest("2024", "targets = [\"cpu\"]")
        .file("kernels/fill.cu", FILL)
        .file("src/lib.rs", "kernelmill::include_kernels!();\n");
    for round in 0..2 {
        for (host, expected) in hosts {
            if round > 0 {
                let _ = project.cargo(&["clean", "-p", "two-hosts", "--target", host]).succeeds();
            }
            let arguments = ["check", "--target", host, "--message-format=json"];
            let run = project.cargo(&arguments).succeeds();
            assert_eq!(processor(&project, &run), expected, "round {round}: {host}");
        }
    }
}

/// For Microsoft's debuggers rustc names types as C++ does, and those of parameters are compared by their names.
#[test]
fn kernels_are_compiled_for_microsofts_abi() {
    let host = "x86_64-pc-windows-msvc";
    let library = rustc().sysroot.join("lib/rustlib").join(host).join("lib");
    let Some(_) = require("the standard library for Windows", library.is_dir().then_some(()))
    else {
        return;
    };
    let project = Project::new("microsoft")
        .manifest("2024", "targets = [\"compute_90\"]")
        .file("kernels/all.rs", PARAMETERS)
        .file("src/lib.rs", "kernelmill::include_kernels!();\n");
    let _ = project.cargo(&["check", "--target", host]).succeeds();
}

/// A parameter of each kind.
const PARAMETERS: &str = "use kernelmill_device::prelude::*;
use kernelmill_device::tensor::TensorMap;
use core::sync::atomic::AtomicU32;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pair {
    pub first: f32,
    pub second: [u8; 3],
}

#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Mode {
    Off = 1,
    On = 5,
}

#[device_fn]
pub fn twice(x: f32) -> f32 {
    2.0 * x
}

#[kernel]
pub fn all(
    x: &[f32],
    mut y: DisjointSlice<f32>,
    pairs: &[Pair],
    mut modes: DisjointSlice<Mode>,
    counts: &[AtomicU32],
    pair: Pair,
    mode: Mode,
    matrix: [[f32; 2]; 3],
    map: &TensorMap<f32, 2>,
    function: DeviceFn<fn(f32) -> f32>,
) {
    let i = thread::index_1d();
    let _ = (map, counts.len());
    if let (Some(y), Some(modes)) = (y.get_mut(i), modes.get_mut(i)) {
        *y = function.call(x[i.get()]) + pairs[0].first + pair.first + matrix[1][1];
        *modes = mode;
    }
}
";
