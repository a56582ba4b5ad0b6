//! Runs kernels in WGSL, and some in Rust, on a device of Vulkan, compares them with plain Rust and prints the name of each that is right.

mod allocations;
#[expect(unreachable_pub, reason = "it is public in the packages that it is shared with")]
#[path = "../../cuda-backend/src/awaits.rs"]
mod awaits;
mod checks;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "it is used and public in the packages that it is shared with"
)]
#[path = "../../cuda-backend/src/executor.rs"]
mod executor;
mod kernels;
#[expect(unreachable_pub, reason = "it is public in the packages that it is shared with")]
#[path = "../../cuda-backend/src/rows.rs"]
mod rows;

use checks::{On, choices, maps, memory, pages, photo, reductions, values, work};
use kernelmill::Device;
use kernels::Kernels;
use std::error::Error;

/// The processor runs no WGSL: the best device for these kernels is one of Vulkan.
fn best(on: &On<'_>) -> kernelmill::Result<()> {
    assert_eq!(Device::best()?, Device::cpu()?);
    let best = Kernels::best()?;
    assert_eq!(best.device(), on.device);
    Ok(())
}

type Check = fn(&On<'_>) -> kernelmill::Result<()>;

const CHECKS: [(&str, Check); 38] = [
    ("best", best),
    ("saxpy", maps::saxpy),
    ("saxpy4", maps::saxpy4),
    ("integers", maps::integers),
    ("collatz", maps::collatz),
    ("beyond", maps::beyond),
    ("signed_indices", maps::signed_indices),
    ("move_boids", maps::move_boids),
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
    ("of_one", choices::of_one),
    ("in_turn", choices::in_turn),
    ("or_none", choices::or_none),
    ("write_one", choices::write_one),
    ("shared_or_not", choices::shared_or_not),
    ("page_on_wgsl", pages::of_wgsl),
    ("page_on_vulkan", pages::of_vulkan),
    ("parts", memory::parts),
    ("bytes", memory::bytes),
    ("rows", memory::rows),
    ("awaits", memory::awaits),
    ("streams", memory::streams),
    ("refused", memory::refused),
    ("dropped", work::dropped),
    ("own_values", work::own_values),
    ("freed", work::freed),
    ("threads", work::threads),
    ("modules", work::modules),
    ("failures", work::failures),
];

/// Those of devices that take no SPIR-V as it is.
const OF_TRANSLATION: [(&str, Check); 1] = [("untranslatable", work::untranslatable)];

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::wgpu(0)?;
    let kernels = Kernels::load(&device)?;
    let on = On { device: &device, kernels: &kernels, stream: device.stream() };
    let translates = std::env::args().nth(1).is_some_and(|device| device == "wgpu:translated");
    let checks = CHECKS.into_iter().chain(OF_TRANSLATION.into_iter().filter(|_| translates));
    let lacks_binary = |error: &_| matches!(error, kernelmill::Error::NoBinary(_));
    test_support::checks::run(checks, |check| check(&on), lacks_binary)
}
