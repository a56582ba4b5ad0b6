//! Runs kernels in WGSL on a device of Vulkan, compares them with plain Rust and prints the name of each that is right.

mod allocations;
mod checks;
mod kernels;
#[expect(unreachable_pub, reason = "it is public in the packages that it is shared with")]
#[path = "../../cuda-backend/src/rows.rs"]
mod rows;

use checks::{On, maps, memory, photo, reductions, values, work};
use kernelmill::Device;
use kernels::Kernels;
use std::error::Error;

type Check = fn(&On<'_>) -> kernelmill::Result<()>;

const CHECKS: [(&str, Check); 25] = [
    ("saxpy", maps::saxpy),
    ("saxpy4", maps::saxpy4),
    ("integers", maps::integers),
    ("collatz", maps::collatz),
    ("beyond", maps::beyond),
    ("group_sums", reductions::group_sums),
    ("scan", reductions::scan),
    ("zeroed", reductions::zeroed),
    ("histogram", reductions::histogram),
    ("extremes_of", reductions::extremes_of),
    ("blur", photo::blur),
    ("gray", photo::gray),
    ("fall", values::fall),
    ("transform", values::transform),
    ("look_up", values::look_up),
    ("multiply", values::multiply),
    ("parts", memory::parts),
    ("bytes", memory::bytes),
    ("rows", memory::rows),
    ("streams", memory::streams),
    ("refused", memory::refused),
    ("dropped", work::dropped),
    ("threads", work::threads),
    ("modules", work::modules),
    ("failures", work::failures),
];

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::wgpu(0)?;
    let kernels = Kernels::load(&device)?;
    let on = On { device: &device, kernels: &kernels, stream: device.stream() };
    let lacks_binary = |error: &_| matches!(error, kernelmill::Error::NoBinary(_));
    test_support::checks::run(CHECKS, |check| check(&on), lacks_binary)
}
