//! The devices of Vulkan, Metal and D3D12, the best first.
//!
//! Vulkan comes before the others: its drivers get the SPIR-V of the build as it is. A GPU that is there under Vulkan and
//! under another interface is one device for programs that share work among all devices, so that it is enumerated as that of
//! Vulkan. The other is behind all of them: it has a number, and is opened by it or by the name of its interface.

use std::{fmt, sync::OnceLock};

use wgpu::{
    Adapter, AdapterInfo, Backends, DeviceType, Instance, InstanceDescriptor, hal::api::Vulkan,
};

use super::driver::{no_device, ready};
use crate::{
    error::{Error, Result},
    properties::Architecture,
};

/// A device that is not open.
pub(super) struct ListedDevice {
    pub(super) adapter: Adapter,
    pub(super) name: String,
    /// The driver and its version.
    pub(super) driver: String,
    pub(super) api: Api,
    /// The version of Vulkan, for 1.3 `(1, 3)`; 0.0 for devices of other interfaces.
    pub(super) version: (u32, u32),
    /// The most invocations of a subgroup, of which the device prefers workgroups to be a multiple.
    pub(super) subgroup: u32,
    /// Whether it is the processor.
    pub(super) is_processor: bool,
    /// Whether a better interface has the same GPU.
    pub(super) is_again: bool,
}

/// An interface of devices, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Api {
    Vulkan,
    Metal,
    D3d12,
}

/// What is asked for devices. wgpu leaves out those that the platform does not have.
const INTERFACES: Backends = Backends::VULKAN.union(Backends::METAL).union(Backends::DX12);

impl Api {
    /// Of an adapter; `None` for one that [`INTERFACES`] does not have.
    fn of(backend: wgpu::Backend) -> Option<Self> {
        match backend {
            wgpu::Backend::Vulkan => Some(Self::Vulkan),
            wgpu::Backend::Metal => Some(Self::Metal),
            wgpu::Backend::Dx12 => Some(Self::D3d12),
            wgpu::Backend::Noop | wgpu::Backend::Gl | wgpu::Backend::BrowserWebGpu => None,
        }
    }

    /// What its devices are.
    pub(super) fn architecture(self) -> Architecture {
        match self {
            Self::Vulkan => Architecture::Vulkan,
            Self::Metal => Architecture::Metal,
            Self::D3d12 => Architecture::D3d12,
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Vulkan => "Vulkan",
            Self::Metal => "Metal",
            Self::D3d12 => "D3D12",
        })
    }
}

/// With its interface and its driver.
impl fmt::Display for ListedDevice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, driver, api, .. } = self;
        match &**driver {
            "" => write!(formatter, "{name} ({api})"),
            _ => write!(formatter, "{name} ({api}, {driver})"),
        }
    }
}

/// All devices; none where no driver is installed. They are listed once.
pub(super) fn all() -> &'static [ListedDevice] {
    static DEVICES: OnceLock<Vec<ListedDevice>> = OnceLock::new();
    DEVICES.get_or_init(list)
}

/// The device with this number.
pub(super) fn with_ordinal(ordinal: usize) -> Result<&'static ListedDevice> {
    let devices = all();
    devices.get(ordinal).ok_or_else(|| match devices.len() {
        0 => none(),
        count => {
            no_device(format!("there is no device {ordinal}: wgpu has {count}, numbered from 0"))
        }
    })
}

/// The number of the first device in whose name, or that of its driver or interface, `part` occurs.
pub(super) fn with_name(part: &str) -> Result<usize> {
    let (devices, part) = (all(), part.to_lowercase());
    if devices.is_empty() {
        return Err(none());
    }
    let has_it = |device: &ListedDevice| device.to_string().to_lowercase().contains(&part);
    devices.iter().position(has_it).ok_or_else(|| {
        let known: Vec<_> = devices.iter().map(ToString::to_string).collect();
        no_device(format!(
            "no device has `{part}` in its name; the devices are: {}",
            known.join(", ")
        ))
    })
}

/// Why there is no device at all.
fn none() -> Error {
    let other = match () {
        () if cfg!(windows) => "there is no device of D3D12, and ",
        () if cfg!(target_vendor = "apple") => "there is no device of Metal, and ",
        () => "",
    };
    no_device(format!(
        "{other}no Vulkan loader is installed, or it finds no device: install the Vulkan driver of the device"
    ))
}

fn list() -> Vec<ListedDevice> {
    let mut description = InstanceDescriptor::new_without_display_handle();
    description.backends = INTERFACES;
    let instance = Instance::new(description);
    let adapters = ready(instance.enumerate_adapters(INTERFACES)).into_iter();
    let found: Vec<_> = adapters
        .filter_map(|adapter| {
            let info = adapter.get_info();
            Some((adapter, Api::of(info.backend)?, info))
        })
        .collect();
    let gpus: Vec<_> = found.iter().map(|(_, api, info)| (*api, Gpu::of(info))).collect();
    let listed = |(index, (adapter, api, info)): (usize, (Adapter, Api, AdapterInfo))| {
        let driver = format!("{} {}", info.driver, info.driver_info).trim().to_owned();
        let is_processor = info.device_type == DeviceType::Cpu;
        let (version, is_again) = (version(&adapter), is_again(index, &gpus));
        let (name, subgroup) = (info.name, info.subgroup_max_size);
        let device =
            ListedDevice { adapter, name, driver, api, version, subgroup, is_processor, is_again };
        ((is_again, preference(info.device_type), api), device)
    };
    let mut devices: Vec<_> = found.into_iter().enumerate().map(listed).collect();
    devices.sort_by_key(|(key, _)| *key);
    devices.into_iter().map(|(_, device)| device).collect()
}

/// The least is the best.
fn preference(kind: DeviceType) -> u32 {
    match kind {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

/// By what a GPU is known again under another interface.
#[derive(Debug)]
struct Gpu {
    name: String,
    /// The numbers of its vendor and of its model on the PCI bus; zeros where an interface does not say.
    pci: (u32, u32),
}

impl Gpu {
    fn of(info: &AdapterInfo) -> Self {
        Self { name: info.name.clone(), pci: (info.vendor, info.device) }
    }

    /// Several GPUs of one model are the same: an interface has all of them or none.
    fn is_same(&self, other: &Self) -> bool {
        self.name == other.name || (self.pci != (0, 0) && self.pci == other.pci)
    }
}

/// Whether a better interface has a device too.
fn is_again(index: usize, devices: &[(Api, Gpu)]) -> bool {
    let (api, gpu) = &devices[index];
    devices.iter().any(|(other, it)| other < api && it.is_same(gpu))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(api: Api, name: &str, pci: (u32, u32)) -> (Api, Gpu) {
        (api, Gpu { name: name.to_owned(), pci })
    }

    #[test]
    fn a_gpu_of_several_interfaces_is_enumerated_once() {
        let devices = [
            gpu(Api::D3d12, "NVIDIA GeForce RTX 4090", (0x10de, 0x2684)),
            gpu(Api::D3d12, "AMD Radeon(TM) Graphics", (0x1002, 0x164e)),
            gpu(Api::D3d12, "Microsoft Basic Render Driver", (0x1414, 0x8c)),
            gpu(Api::Vulkan, "NVIDIA GeForce RTX 4090", (0x10de, 0x2684)),
            // Drivers of one GPU have names of their own.
            gpu(Api::Vulkan, "AMD Radeon Graphics (RADV)", (0x1002, 0x164e)),
            // Of one model there are two.
            gpu(Api::Vulkan, "NVIDIA GeForce RTX 4090", (0x10de, 0x2684)),
        ];
        let again: Vec<_> = (0..devices.len()).map(|index| is_again(index, &devices)).collect();
        assert_eq!(again, [true, true, false, false, false, false]);

        // Metal does not say what is on the bus.
        let devices = [
            gpu(Api::Metal, "Apple M1", (0, 0)),
            gpu(Api::Metal, "AMD Radeon Pro 560", (0, 0)),
            gpu(Api::Vulkan, "Apple M1", (0x106b, 0xf02_0e00)),
            gpu(Api::Vulkan, "llvmpipe", (0, 0)),
        ];
        let again: Vec<_> = (0..devices.len()).map(|index| is_again(index, &devices)).collect();
        assert_eq!(again, [true, false, false, false]);
    }
}
