//! Devices.

mod attributes;
#[expect(clippy::module_inception, reason = "the device itself, beside what belongs to it")]
mod device;
mod profile;

pub(crate) use device::Device;
pub(crate) use profile::Profile;
