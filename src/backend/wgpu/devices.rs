//! The devices of Vulkan, the best first.

use std::sync::OnceLock;

use wgpu::{Adapter, Backends, DeviceType, Instance, InstanceDescriptor, hal::api::Vulkan};

use super::driver::{ready, unavailable};
use crate::error::{Error, Result};

/// A device that is not open.
pub(super) struct ListedDevice {
    pub(super) adapter: Adapter,
    pub(super) name: String,
    /// The driver and its version.
    pub(super) driver: String,
    /// The version of Vulkan, for 1.3 `(1, 3)`.
    pub(super) version: (u32, u32),
    /// Whether it is the processor.
    pub(super) is_processor: bool,
}

/// All devices; none where there is no Vulkan loader, or no driver. They are listed once.
pub(super) fn all() -> &'static [ListedDevice] {
    static DEVICES: OnceLock<Vec<ListedDevice>> = OnceLock::new();
    DEVICES.get_or_init(list)
}

/// The device with this number.
pub(super) fn with_ordinal(ordinal: usize) -> Result<&'static ListedDevice> {
    let devices = all();
    devices.get(ordinal).ok_or_else(|| match devices.len() {
        0 => none(),
        count => unavailable(format!("there is no device {ordinal}, Vulkan has {count}")),
    })
}

/// The number of the first device in whose name, or that of its driver, `part` occurs.
pub(super) fn with_name(part: &str) -> Result<usize> {
    let (devices, part) = (all(), part.to_lowercase());
    if devices.is_empty() {
        return Err(none());
    }
    let has_it = |device: &ListedDevice| {
        [&device.name, &device.driver].iter().any(|text| text.to_lowercase().contains(&part))
    };
    devices.iter().position(has_it).ok_or_else(|| {
        let known: Vec<_> =
            devices.iter().map(|it| format!("{} ({})", it.name, it.driver)).collect();
        unavailable(format!("no device has `{part}` in its name; there is {}", known.join(", ")))
    })
}

/// Why there is no device at all.
fn none() -> Error {
    let reason = "no Vulkan loader is installed, or it knows no device; is a driver installed?";
    unavailable(reason.to_owned())
}

fn list() -> Vec<ListedDevice> {
    let mut description = InstanceDescriptor::new_without_display_handle();
    description.backends = Backends::VULKAN;
    let instance = Instance::new(description);
    let mut adapters = ready(instance.enumerate_adapters(Backends::VULKAN));
    adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    });
    let listed = |adapter: Adapter| {
        let info = adapter.get_info();
        let driver = format!("{} {}", info.driver, info.driver_info).trim().to_owned();
        let is_processor = info.device_type == DeviceType::Cpu;
        let version = version(&adapter);
        ListedDevice { adapter, name: info.name, driver, version, is_processor }
    };
    adapters.into_iter().map(listed).collect()
}

/// The version of Vulkan that a device has; 0.0 where it does not say.
fn version(adapter: &Adapter) -> (u32, u32) {
    // SAFETY: the driver's adapter is only asked for its version.
    let adapter = unsafe { adapter.as_hal::<Vulkan>() };
    let version = adapter
        .map_or(0, |adapter| adapter.physical_device_capabilities().properties().api_version);
    // `VK_API_VERSION_MAJOR` and `VK_API_VERSION_MINOR`.
    (version >> 22 & 0x7f, version >> 12 & 0x3ff)
}
