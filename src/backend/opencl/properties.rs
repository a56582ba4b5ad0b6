//! OpenCL device properties: the version, the limits, and the forms of programs that a device takes.

use cl3::device::{
    CL_DEVICE_IL_VERSION, CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_MAX_WORK_GROUP_SIZE,
    CL_DEVICE_MAX_WORK_ITEM_SIZES, CL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER,
    CL_DEVICE_SVM_FINE_GRAIN_BUFFER, get_device_data,
};

use super::{
    devices::{ListedDevice, text},
    driver::named,
};
use crate::{
    error::{Error, Result},
    properties::{Architecture, Backend, Limits},
};

/// What is needed of a device's properties.
pub(super) struct DeviceProperties {
    pub(super) limits: Limits,
    pub(super) architecture: Architecture,
    /// The version of OpenCL, for 3.0 `(3, 0)`.
    pub(super) version: (u32, u32),
    /// Whether the host can read memory while kernels write to it, atomically.
    pub(super) has_fine_grain: bool,
}

impl DeviceProperties {
    /// Those of a device.
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedDevice`] for a device without shared virtual memory.
    pub(super) fn of(device: &ListedDevice) -> Result<Self> {
        let ask = |which| {
            let asked = get_device_data(device.id.0, which);
            named(asked, "clGetDeviceInfo", || device.name.clone())
        };
        let version = version(&device.version, "OpenCL ").unwrap_or((1, 0));
        // A device of OpenCL 1 does not know the question.
        let memory = if version >= (2, 0) { number(&ask(CL_DEVICE_SVM_CAPABILITIES)?) } else { 0 };
        if memory & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER == 0 {
            return Err(Error::UnsupportedDevice {
                backend: Backend::OpenCl,
                device: format!("{} ({})", device.full_name(), device.version),
                reason: "has no shared virtual memory, which kernelmill requires of OpenCL devices"
                    .to_owned(),
            });
        }
        let sizes = ask(CL_DEVICE_MAX_WORK_ITEM_SIZES)?;
        let (sizes, _) = sizes.as_chunks::<{ size_of::<usize>() }>();
        let mut sizes = sizes.iter().map(|size| narrow(number(size)));
        let limits = Limits {
            grid: [u32::MAX; 3],
            block: [(); 3].map(|()| sizes.next().unwrap_or(1)),
            threads_per_block: narrow(number(&ask(CL_DEVICE_MAX_WORK_GROUP_SIZE)?)),
            shared_bytes: narrow(number(&ask(CL_DEVICE_LOCAL_MEM_SIZE)?)),
            warp_size: 1,
        };
        // Before OpenCL 3.0 devices need not know the question.
        let languages = get_device_data(device.id.0, CL_DEVICE_IL_VERSION).unwrap_or_default();
        let spirv = newest_spirv(&text(languages));
        let fine = CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
        let has_fine_grain = memory & fine == fine;
        let architecture = Architecture::OpenCl { spirv };
        Ok(Self { limits, architecture, version, has_fine_grain })
    }
}

/// A number of four or eight bytes.
pub(super) fn number(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    let count = bytes.len().min(8);
    wide[..count].copy_from_slice(&bytes[..count]);
    u64::from_le_bytes(wide)
}

/// A limit, which is no more than launches can ask for.
pub(super) fn narrow(limit: u64) -> u32 {
    u32::try_from(limit).unwrap_or(u32::MAX)
}

/// The version behind `head`, for `OpenCL 3.0 PoCL` `(3, 0)`.
fn version(text: &str, head: &str) -> Option<(u32, u32)> {
    let (major, rest) = text.strip_prefix(head)?.split_once('.')?;
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    Some((major.parse().ok()?, rest[..digits].parse().ok()?))
}

/// The newest of `SPIR-V_1.0 SPIR-V_1.2`.
fn newest_spirv(languages: &str) -> Option<(u32, u32)> {
    languages.split(' ').filter_map(|language| version(language, "SPIR-V_")).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        let pocl = "OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-skylake-avx512";
        assert_eq!(version(pocl, "OpenCL "), Some((3, 0)));
        assert_eq!(version("OpenCL 1.2", "OpenCL "), Some((1, 2)));
        assert_eq!(version("GL 1.2", "OpenCL "), None);
        assert_eq!(newest_spirv("SPIR-V_1.0 SPIR-V_1.4 SPIR-V_1.2 SPIR_2.0"), Some((1, 4)));
        assert_eq!(newest_spirv(""), None);
    }
}
