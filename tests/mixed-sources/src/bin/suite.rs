//! Runs the suite of behaviour on a device, `cpu`, `cpu:async`, `cuda`, `opencl:spirv`, `opencl:intel` or `wgpu`, and prints
//! the name of each check that is right.

#[path = "../kernels.rs"]
mod kernels;
#[path = "../suite/mod.rs"]
mod suite;

use kernelmill::{Device, Result};

fn open(name: &str, ordinal: usize) -> Result<Device> {
    match name {
        "cpu" => Device::cpu(),
        "cpu:async" => Device::cpu_async(),
        "cuda" => Device::cuda(ordinal),
        "opencl:spirv" | "opencl:intel" => Device::opencl(ordinal),
        "wgpu" | "wgpu:translated" => Device::wgpu(ordinal),
        _ => panic!("{name} is no device of the suite"),
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    suite::run(open)
}
