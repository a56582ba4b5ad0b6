//! Runs the suite of behaviour of `tests/mixed-sources` on the fake HIP run time.

/// What the suite launches.
mod kernels {
    pub(crate) use hip_backend::{Filter, Kernels};
}
#[path = "../../../mixed-sources/src/suite/mod.rs"]
mod suite;

use kernelmill::Device;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    hip_backend::register_own();
    suite::run(|_, ordinal| Device::hip(ordinal))
}
