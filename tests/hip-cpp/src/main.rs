//! Runs kernels in HIP on a device, `cpu`, `cuda`, `hip`, `opencl:spirv` or `opencl:intel`, compares them with plain Rust
//! and prints the name of each that is right, and of those that have no binary for the device.

mod checks;
mod kernels;
#[expect(unreachable_pub, reason = "it is public in the package that it is shared with")]
#[path = "../../hip-backend/src/register.rs"]
mod register;

use checks::{On, blocks, maps, small_floats, wavefronts};
use kernelmill::Device;
use kernels::Kernels;
use std::{env, error::Error};

type Check = fn(&On<'_>) -> kernelmill::Result<()>;

const CHECKS: [(&str, Check); 23] = [
    ("saxpy", maps::saxpy),
    ("scale<int>", maps::scale_int),
    ("scale<double>", maps::scale_double),
    ("smooth", maps::smooth),
    ("move", maps::particles),
    ("spin", maps::spin),
    ("block_sums", wavefronts::block_sums),
    ("positives", wavefronts::positives),
    ("shuffles", wavefronts::shuffles),
    ("apart", wavefronts::apart),
    ("masked", wavefronts::masked),
    ("same", wavefronts::same),
    ("groups", wavefronts::groups),
    ("transpose", blocks::transpose),
    ("histogram", blocks::histogram),
    ("scan", blocks::scan),
    ("tiles", blocks::tiles),
    ("checked", blocks::checked),
    ("a failed assertion", blocks::failed),
    ("remembered", blocks::remembered),
    ("half_axpy", small_floats::half_axpy),
    ("half_pairs", small_floats::half_pairs),
    ("brain", small_floats::brain),
];

fn main() -> Result<(), Box<dyn Error>> {
    let name = env::args().nth(1).unwrap_or_default();
    let device = match &*name {
        "cuda" => Device::cuda(0)?,
        "opencl:spirv" | "opencl:intel" => Device::opencl(0)?,
        "wgpu" => Device::wgpu(0)?,
        "hip" => {
            register::register(Kernels::embedded(), Kernels::signatures());
            Device::hip(0)?
        }
        _ => Device::cpu()?,
    };
    let kernels = Kernels::load(&device)?;
    let on = On { device: &device, kernels: &kernels, stream: device.stream() };
    let lacks_binary = |error: &_| matches!(error, kernelmill::Error::NoBinary(_));
    test_support::checks::run(CHECKS, |check| check(&on), lacks_binary)?;
    drop(on);
    drop(kernels);
    kernelmill::module_cache().release_unused();
    Ok(())
}
