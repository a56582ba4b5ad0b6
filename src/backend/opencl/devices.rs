//! The devices of all implementations, in the order in which the library lists them.

use std::{
    ffi::c_void,
    sync::{Mutex, OnceLock, PoisonError},
};

use cl3::{
    device::{
        CL_DEVICE_NAME, CL_DEVICE_NOT_FOUND, CL_DEVICE_TYPE, CL_DEVICE_TYPE_ALL,
        CL_DEVICE_TYPE_CPU, CL_DEVICE_VERSION, get_device_data, get_device_ids,
    },
    ext::CL_PLATFORM_NOT_FOUND_KHR,
    platform::{CL_PLATFORM_NAME, get_platform_data, get_platform_ids},
};

use super::driver::{NO_LIBRARY, named, no_device};
use crate::error::{Error, Result};

/// A device of an implementation.
#[derive(Clone, Debug)]
pub(super) struct ListedDevice {
    pub(super) id: DeviceId,
    /// The device's name.
    pub(super) name: String,
    /// The name of its platform: of the implementation.
    pub(super) platform: String,
    /// Its version of OpenCL, `OpenCL 3.0 PoCL HSTR: ...`.
    pub(super) version: String,
    /// Whether it is the processor, or a part of it.
    pub(super) is_processor: bool,
}

/// `cl_device_id`: an object that is there as long as the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeviceId(pub(super) *mut c_void);

// SAFETY: root devices are never freed, and can be used from every thread.
unsafe impl Send for DeviceId {}
// SAFETY: as above.
unsafe impl Sync for DeviceId {}

/// All devices; none where there is no library, or no implementation. Implementations do not come and go while a
/// program runs, so they are listed once. One thread does that: pocl 3.1 crashes where two start it at once.
pub(super) fn all() -> Result<&'static [ListedDevice]> {
    static DEVICES: OnceLock<Vec<ListedDevice>> = OnceLock::new();
    static STARTS: Mutex<()> = Mutex::new(());
    if let Some(devices) = DEVICES.get() {
        return Ok(devices);
    }
    if cl3::load_library().is_err() {
        return Ok(&[]);
    }
    let _starts = STARTS.lock().unwrap_or_else(PoisonError::into_inner);
    let devices = match DEVICES.get() {
        Some(devices) => devices,
        None => {
            let listed = list()?;
            DEVICES.get_or_init(|| listed)
        }
    };
    Ok(devices)
}

/// The device with this number.
pub(super) fn with_ordinal(ordinal: usize) -> Result<&'static ListedDevice> {
    let devices = all()?;
    devices.get(ordinal).ok_or_else(|| match devices.len() {
        0 => none(),
        count => {
            no_device(format!("there is no device {ordinal}: OpenCL has {count}, numbered from 0"))
        }
    })
}

/// The number of the first device in whose name, or that of its platform or version, `part` occurs.
pub(super) fn with_name(part: &str) -> Result<usize> {
    let devices = all()?;
    if devices.is_empty() {
        return Err(none());
    }
    let part = part.to_lowercase();
    let has_it = |device: &ListedDevice| {
        let texts = [&device.name, &device.platform, &device.version];
        texts.iter().any(|text| text.to_lowercase().contains(&part))
    };
    devices.iter().position(has_it).ok_or_else(|| {
        let known: Vec<_> = devices.iter().map(ListedDevice::full_name).collect();
        no_device(format!(
            "no device has `{part}` in its name; the devices are: {}",
            known.join(", ")
        ))
    })
}

/// Why there is no device at all.
fn none() -> Error {
    let reason = match cl3::load_library() {
        Err(_) => NO_LIBRARY,
        Ok(_) => {
            "the OpenCL library finds no device: install the OpenCL implementation (ICD) of the device"
        }
    };
    no_device(reason.to_owned())
}

impl ListedDevice {
    /// The name with the platform's.
    pub(super) fn full_name(&self) -> String {
        format!("{} of {}", self.name, self.platform)
    }
}

fn list() -> Result<Vec<ListedDevice>> {
    let platforms = match get_platform_ids() {
        Err(CL_PLATFORM_NOT_FOUND_KHR) => return Ok(Vec::new()),
        found => named(found, "clGetPlatformIDs", || "OpenCL".to_owned())?,
    };
    let mut devices = Vec::new();
    for platform in platforms {
        let name = get_platform_data(platform, CL_PLATFORM_NAME);
        let name = text(named(name, "clGetPlatformInfo", || "the name of a platform".to_owned())?);
        match get_device_ids(platform, CL_DEVICE_TYPE_ALL) {
            Err(CL_DEVICE_NOT_FOUND) => {}
            found => {
                let found = named(found, "clGetDeviceIDs", || name.clone())?;
                let listed = found.into_iter().map(|id| listed(DeviceId(id), &name));
                devices.extend(listed.collect::<Result<Vec<_>>>()?);
            }
        }
    }
    Ok(devices)
}

fn listed(id: DeviceId, platform: &str) -> Result<ListedDevice> {
    let ask = |which| {
        named(get_device_data(id.0, which), "clGetDeviceInfo", || format!("a device of {platform}"))
    };
    let kind = ask(CL_DEVICE_TYPE)?.try_into().map(u64::from_ne_bytes).unwrap_or(0);
    Ok(ListedDevice {
        id,
        name: text(ask(CL_DEVICE_NAME)?),
        platform: platform.to_owned(),
        version: text(ask(CL_DEVICE_VERSION)?),
        is_processor: kind & CL_DEVICE_TYPE_CPU != 0,
    })
}

/// A text of the library, which ends with a zero.
pub(super) fn text(bytes: Vec<u8>) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).trim().to_owned()
}
