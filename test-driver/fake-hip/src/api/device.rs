//! Devices and errors.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
};

use super::give;
use crate::{
    call::{CURRENT, call, current},
    code::{self, Code},
    state::State,
};

/// Bytes of `hipDeviceProp_tR0600`, and where `gcnArchName` is in it.
const PROPERTIES: usize = 1472;
const ARCHITECTURE: usize = 1160;

/// The compute units of a device.
pub(super) const COMPUTE_UNITS: u32 = 4;

/// Threads that are on a compute unit at most.
pub(super) const THREADS_PER_UNIT: u64 = 2048;

/// `hipDeviceAttributeCooperativeLaunch`.
const COOPERATIVE_LAUNCH: c_int = 10;

/// `hipDeviceAttributeMemoryPoolsSupported`.
const MEMORY_POOLS_SUPPORTED: c_int = 88;

/// The attributes that the back end asks for, and their values.
const ATTRIBUTES: [(c_int, c_int); 10] = [
    (26, 1024),
    (27, 1024),
    (28, 1024),
    (29, c_int::MAX),
    (30, 65_535),
    (31, 65_535),
    (56, 1024),
    (57, THREADS_PER_UNIT as c_int),
    (63, COMPUTE_UNITS as c_int),
    (74, 65_536),
];

impl State {
    pub(super) fn device(&mut self, ordinal: c_int) -> Result<(), Code> {
        if (0..self.config.devices).contains(&ordinal) {
            return Ok(());
        }
        self.refuse(code::INVALID_DEVICE, "a device that does not exist")
    }
}

#[unsafe(no_mangle)]
extern "C" fn hipInit(flags: c_uint) -> Code {
    call("hipInit", |state| {
        if flags != 0 {
            return state.refuse(code::INVALID_VALUE, "hipInit with flags");
        }
        if state.config.devices == 0 { Err(code::NO_DEVICE) } else { Ok(()) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> Code {
    // SAFETY: the caller's place.
    call("hipGetDeviceCount", |state| unsafe { give(count, state.config.devices) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipGetDevice(device: *mut c_int) -> Code {
    // SAFETY: the caller's place.
    call("hipGetDevice", |_| unsafe { give(device, current()) })
}

#[unsafe(no_mangle)]
extern "C" fn hipSetDevice(device: c_int) -> Code {
    call("hipSetDevice", |state| {
        state.device(device)?;
        CURRENT.set(device);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipDeviceGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    device: c_int,
) -> Code {
    call("hipDeviceGetAttribute", |state| {
        state.device(device)?;
        let found = match attribute {
            COOPERATIVE_LAUNCH => Some(c_int::from(state.config.cooperative)),
            MEMORY_POOLS_SUPPORTED => Some(c_int::from(state.config.pools)),
            _ => ATTRIBUTES.iter().find(|(known, _)| *known == attribute).map(|(_, value)| *value),
        };
        let Some(found) = found else {
            return state.refuse(code::INVALID_VALUE, "an unknown attribute");
        };
        // SAFETY: the caller's place.
        unsafe { give(value, found) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipGetDevicePropertiesR0600(properties: *mut c_void, device: c_int) -> Code {
    call("hipGetDevicePropertiesR0600", |state| {
        state.device(device)?;
        let bytes: *mut u8 = properties.cast();
        let name = format!("Fake AMD GPU {device}");
        // SAFETY: the caller has room for the structure, whose texts have 256 bytes each.
        unsafe {
            bytes.write_bytes(0, PROPERTIES);
            for (text, at) in [(&name, 0), (&state.config.architecture, ARCHITECTURE)] {
                ptr::copy_nonoverlapping(text.as_ptr(), bytes.add(at), text.len().min(255));
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipDeviceSynchronize() -> Code {
    call("hipDeviceSynchronize", |state| {
        let device = current();
        for stream in state.queues.busy(device) {
            state.finish_stream(stream);
        }
        state.sticky(device)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipGetErrorName(code: Code) -> *const c_char {
    code::name(code).as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn hipGetErrorString(code: Code) -> *const c_char {
    code::text(code).as_ptr()
}
