//! HIP device properties: the name and the architecture of a device, from `hipDeviceProp_t`.
//!
//! The structure is not declared: of its hundred fields two are needed, whose places the two layouts that
//! there have been fix. The architecture is a target ID, `gfx90a:sramecc+:xnack-`
//! ([LLVM, "Target ID"](https://llvm.org/docs/AMDGPUUsage.html#target-id)).

use std::ffi::c_int;

use super::{
    driver::named,
    library::{Properties, hip},
};
use crate::{error::Result, properties::Architecture};

/// More bytes than either layout has: 792 and 1472.
const ROOM: usize = 4096;

/// Bytes of each of the two texts.
const TEXT: usize = 256;

/// What is needed of a device's properties.
pub(super) struct DeviceProperties {
    pub(super) name: String,
    pub(super) architecture: Architecture,
}

impl DeviceProperties {
    /// The properties of the device with this number.
    pub(super) fn of(ordinal: usize) -> Result<Self> {
        let mut bytes = [0_u64; ROOM / 8];
        let (function, call, at) = match hip().properties {
            Properties::R0600(call) => ("hipGetDevicePropertiesR0600", call, 1160),
            Properties::R0000(call) => ("hipGetDeviceProperties", call, 396),
        };
        // SAFETY: there is more room than the structure takes, aligned as its fields are.
        let code = unsafe { call(bytes.as_mut_ptr().cast(), ordinal as c_int) };
        named(code, function, || format!("device {ordinal}"))?;
        let bytes: Vec<u8> = bytes.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let text = |at: usize| {
            let text = bytes[at..at + TEXT].split(|&byte| byte == 0).next().unwrap_or_default();
            String::from_utf8_lossy(text).into_owned()
        };
        Ok(Self { name: text(0), architecture: architecture(&text(at)) })
    }
}

/// The architecture with this target ID.
fn architecture(id: &str) -> Architecture {
    let mut parts = id.split(':');
    let processor = parts.next().unwrap_or_default().to_owned();
    let (mut xnack, mut sramecc) = (None, None);
    for part in parts {
        match part {
            "xnack+" => xnack = Some(true),
            "xnack-" => xnack = Some(false),
            "sramecc+" => sramecc = Some(true),
            "sramecc-" => sramecc = Some(false),
            _ => {}
        }
    }
    Architecture::Amd { processor, xnack, sramecc }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_ids_have_a_processor_and_modes() {
        let cases = [
            ("gfx90a:sramecc+:xnack-", "gfx90a", Some(false), Some(true)),
            ("gfx942:sramecc-:xnack+", "gfx942", Some(true), Some(false)),
            ("gfx906:xnack-", "gfx906", Some(false), None),
            ("gfx1100", "gfx1100", None, None),
            ("gfx1100:other+", "gfx1100", None, None),
        ];
        for (id, name, xnack, sramecc) in cases {
            let processor = name.to_owned();
            assert_eq!(architecture(id), Architecture::Amd { processor, xnack, sramecc }, "{id}");
        }
    }
}
