//! Runs kernels in LLVM IR on a device, `cpu`, `cuda`, `opencl:spirv` or `opencl:intel`, compares them with plain
//! Rust and prints the name of each that is right, and of those that have no binary for the device.

mod checks;
mod kernels;

use checks::On;
use kernelmill::Device;
use kernels::Kernels;
use std::{env, error::Error};

type Check = fn(&On<'_>) -> kernelmill::Result<()>;

const CHECKS: [(&str, Check); 12] = [
    ("saxpy", checks::saxpy),
    ("block_sums", checks::block_sums),
    ("by_value", checks::by_value),
    ("reversed", checks::reversed),
    ("lanes", checks::lanes),
    ("amd_affine", checks::amd_affine),
    ("amd_sums", checks::amd_sums),
    ("cl_sums", checks::cl_sums),
    ("cl_pairs", checks::cl_pairs),
    ("host_squares", checks::host_squares),
    ("cuda_scan", checks::cuda_scan),
    ("cuda_roots", checks::cuda_roots),
];

fn main() -> Result<(), Box<dyn Error>> {
    let name = env::args().nth(1).unwrap_or_default();
    let device = match &*name {
        "cuda" => Device::cuda(0)?,
        "opencl:spirv" | "opencl:intel" => Device::opencl(0)?,
        "wgpu" => Device::wgpu(0)?,
        _ => Device::cpu()?,
    };
    let kernels = Kernels::load(&device)?;
    let on = On { device: &device, kernels: &kernels, stream: device.stream() };
    let lacks_binary = |error: &_| matches!(error, kernelmill::Error::NoBinary(_));
    test_support::checks::run(CHECKS, |check| check(&on), lacks_binary)
}
