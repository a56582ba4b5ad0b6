//! Runs kernels in several languages on a device, `cpu`, `cpu:async`, `cuda`, `opencl`, `opencl:spirv` or `opencl:intel`,
//! compares them with plain Rust and prints the name of each that is right, and of those that have no binary for the device.

mod blocks;
mod checks;
mod halves;
mod kernels;

use checks::On;
use kernelmill::Device;
use kernels::Kernels;
use std::{env, error::Error};

type Check = fn(&On<'_>) -> kernelmill::Result<()>;

const CHECKS: [(&str, Check); 22] = [
    ("scaled", checks::scaled),
    ("shifted", checks::shifted),
    ("doubled", checks::doubled),
    ("affine", checks::affine),
    ("backwards", checks::backwards),
    ("series", checks::series),
    ("bytes", checks::bytes),
    ("variables", checks::variables),
    ("templates", checks::templates),
    ("template variables", checks::template_variables),
    ("rounded", checks::rounded),
    ("mirrored", checks::mirrored),
    ("looked_through", checks::looked_through),
    ("block_sums", blocks::block_sums),
    ("reversed", blocks::reversed),
    ("counted_together", blocks::counted_together),
    ("together", blocks::together),
    ("filtered", blocks::filtered),
    ("positive", blocks::positive),
    ("rounds", blocks::rounds),
    ("halves", halves::halves),
    ("narrowed", halves::narrowed),
];

fn main() -> Result<(), Box<dyn Error>> {
    let name = env::args().nth(1).unwrap_or_default();
    let device = match &*name {
        "cuda" => Device::cuda(0)?,
        "cpu:async" => Device::cpu_async()?,
        "opencl" | "opencl:spirv" | "opencl:intel" => Device::opencl(0)?,
        "wgpu" => Device::wgpu(0)?,
        _ => Device::cpu()?,
    };
    let kernels = Kernels::load(&device)?;
    let on = On { device: &device, kernels: &kernels, stream: device.stream() };
    let is_lacking = |error: &kernelmill::Error| {
        // What a launch says of a kernel without a binary is for the tests to read.
        let lacks_binary = matches!(error, kernelmill::Error::NoBinary(_));
        if lacks_binary {
            eprintln!("{error}");
        }
        lacks_binary
    };
    test_support::checks::run(CHECKS, |check| check(&on), is_lacking)
}
