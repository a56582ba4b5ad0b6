//! Runs kernels in OpenCL C on a device, `cpu`, `cuda` or `opencl`, compares them with plain Rust and prints the
//! name of each that is right, and of those that have no binary for the device.

mod checks;
mod kernels;

use checks::{On, atomics, maps, maths, reductions, tiles, values};
use kernelmill::Device;
use kernels::Kernels;
use std::{env, error::Error};

type Check = fn(&On<'_>) -> kernelmill::Result<()>;

const CHECKS: [(&str, Check); 34] = [
    ("saxpy", maps::saxpy),
    ("saxpy4", maps::saxpy4),
    ("merges", maps::merges),
    ("squares", maps::squares),
    ("places", maps::places),
    ("group_sums", reductions::group_sums),
    ("least", reductions::least),
    ("required_size", reductions::required_size),
    ("pairs", reductions::pairs),
    ("groups", reductions::groups),
    ("sub_groups", reductions::sub_groups),
    ("hillis_steele", reductions::hillis_steele),
    ("blelloch", reductions::blelloch),
    ("five_points", tiles::five_points),
    ("convolve", tiles::convolve),
    ("transpose", tiles::transpose),
    ("product", tiles::product),
    ("reverse_rows", tiles::reverse_rows),
    ("histogram", atomics::histogram),
    ("old_atomics", atomics::old),
    ("new_atomics", atomics::new),
    ("compact", atomics::compact),
    ("structs_in_memory", values::structs_in_memory),
    ("structs_by_value", values::structs_by_value),
    ("swizzles", values::swizzles),
    ("unaligned", values::unaligned),
    ("tables", values::tables),
    ("conversions", values::conversions),
    ("variables", values::variables),
    ("elementary", maths::elementary),
    ("common", maths::common),
    ("geometry", maths::geometry),
    ("integers", maths::integers),
    ("doubles", maths::doubles),
];

fn main() -> Result<(), Box<dyn Error>> {
    let name = env::args().nth(1).unwrap_or_default();
    let device = match &*name {
        "cuda" => Device::cuda(0)?,
        "opencl" => Device::opencl(0)?,
        "wgpu" => Device::wgpu(0)?,
        _ => Device::cpu()?,
    };
    let kernels = Kernels::load(&device)?;
    let on = On { device: &device, kernels: &kernels, stream: device.stream() };
    let lacks_binary = |error: &_| matches!(error, kernelmill::Error::NoBinary(_));
    test_support::checks::run(CHECKS, |check| check(&on), lacks_binary)
}
