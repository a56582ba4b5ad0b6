//! Devices: their properties, memory and launches, and launches in many orders.

#[expect(clippy::module_inception, reason = "the device itself, beside what belongs to it")]
mod device;
mod explore;
mod loaded;
mod properties;

pub use device::Device;
pub use explore::{Failure, explore, explore_with};
pub use loaded::Loaded;
pub use properties::Properties;
