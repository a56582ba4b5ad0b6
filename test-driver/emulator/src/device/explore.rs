//! The same launch in many orders.

use super::device::Device;
use super::loaded::Loaded;
use crate::launch::{Fault, Launch, Options, Order};
use std::fmt;

/// The first order in which a launch failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Seed of the order: [`Order::Random`] with it fails again.
    pub seed: u64,
    /// How it failed.
    pub fault: Fault,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in random order {}: {}", self.seed, self.fault)
    }
}

impl std::error::Error for Failure {}

/// Launches a kernel once for each seed, on one core, and gives the first seed that fails.
///
/// Device memory keeps what each launch wrote, so this suits kernels that can run again on their own
/// output, and checks that are faults. [`explore_with`] prepares and checks each launch.
///
/// # Errors
/// The first seed whose launch faults, with its fault.
pub fn explore(
    device: &Device,
    loaded: &Loaded,
    kernel: &str,
    launch: &Launch<'_>,
    options: &Options,
    seeds: impl IntoIterator<Item = u64>,
) -> Result<(), Failure> {
    for seed in seeds {
        let options = Options { order: Order::Random(seed), threads: 1, ..options.clone() };
        if let Err(fault) = device.launch(loaded, kernel, launch, &options) {
            return Err(Failure { seed, fault });
        }
    }
    Ok(())
}

/// Calls `attempt` with the options of each seed's order and gives the first seed that fails.
///
/// # Errors
/// The first seed for which `attempt` gives an error, with that error.
///
/// ```
/// use ptx_emulator::{Options, Order, explore_with};
/// let result = explore_with(&Options::default(), 0..10, |options| match options.order {
///     Order::Random(7) => Err("wrong sum"),
///     _ => Ok(()),
/// });
/// assert_eq!(result, Err((7, "wrong sum")));
/// ```
pub fn explore_with<E>(
    options: &Options,
    seeds: impl IntoIterator<Item = u64>,
    mut attempt: impl FnMut(&Options) -> Result<(), E>,
) -> Result<(), (u64, E)> {
    for seed in seeds {
        let options = Options { order: Order::Random(seed), threads: 1, ..options.clone() };
        attempt(&options).map_err(|error| (seed, error))?;
    }
    Ok(())
}
