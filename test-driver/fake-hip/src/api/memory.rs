//! Memory and copies. Copies of memory of the host that is not pinned are not done when they return either.

use std::ffi::{c_int, c_uint, c_void};

use super::give;
use crate::{
    call::{call, current},
    code::{self, Code},
    memory::{Found, Kind},
    queue::Work,
    state::State,
};

/// `hipHostMallocPortable`, `hipHostMallocMapped`, `hipHostMallocCoherent`.
const HOST_FLAGS: c_uint = 1 | 2 | 0x4000_0000;

/// Which side of a copy is which memory.
#[derive(Clone, Copy)]
struct Sides {
    target_is_device: bool,
    source_is_device: bool,
}

/// A copy that is asked for.
struct Copy {
    target: usize,
    source: usize,
    bytes: usize,
    stream: usize,
}

impl State {
    fn copy_async(&mut self, copy: &Copy, sides: Sides) -> Result<(), Code> {
        let Copy { target, source, bytes, stream } = *copy;
        let stream = self.work_stream(stream)?;
        let on_device = Found::Live(Kind::Device(stream.device));
        for (address, is_device) in
            [(target, sides.target_is_device), (source, sides.source_is_device)]
        {
            let found = self.memory.find(address, bytes);
            let is_right = match found {
                Found::Live(Kind::Pinned { .. }) | Found::Unknown => !is_device,
                found => is_device && found == on_device,
            };
            if !is_right {
                let what = format!("a copy of {bytes} bytes at {address:#x}, which is {found:?}");
                return self.refuse(code::INVALID_VALUE, &what);
            }
        }
        self.submit(stream, Work::Copy { target, source, bytes });
        Ok(())
    }

    /// A copy between two devices: to the first one, from the second, on a stream of either.
    fn copy_peer(&mut self, copy: &Copy, devices: [c_int; 2]) -> Result<(), Code> {
        let Copy { target, source, bytes, stream } = *copy;
        let stream = self.work_stream(stream)?;
        if !devices.contains(&stream.device) {
            let what = format!("a copy between {devices:?} on a stream of {}", stream.device);
            return self.refuse(code::INVALID_VALUE, &what);
        }
        for (address, device) in [target, source].into_iter().zip(devices) {
            self.device(device)?;
            self.sticky(device)?;
            let found = self.memory.find(address, bytes);
            if found != Found::Live(Kind::Device(device)) {
                let what = format!(
                    "a copy of {bytes} bytes at {address:#x} of device {device}, which is {found:?}"
                );
                return self.refuse(code::INVALID_VALUE, &what);
            }
        }
        self.submit(stream, Work::Copy { target, source, bytes });
        Ok(())
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipMalloc(address: *mut *mut c_void, bytes: usize) -> Code {
    call("hipMalloc", |state| {
        state.sticky(current())?;
        let limit = state.config.memory;
        let made = state.memory.allocate(bytes, Kind::Device(current()), limit)?;
        state.created += 1;
        // SAFETY: the caller's place.
        unsafe { give(address, std::ptr::with_exposed_provenance_mut(made)) }
    })
}

/// It does not wait, so that what a program forgot to wait for is found.
#[unsafe(no_mangle)]
extern "C" fn hipFree(address: *mut c_void) -> Code {
    call("hipFree", |state| {
        let freed = state.memory.free(address.addr(), |kind| matches!(kind, Kind::Device(_)));
        if freed.is_err() {
            return state.refuse(code::INVALID_VALUE, "hipFree of what is no memory of a device");
        }
        state.released += 1;
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipHostMalloc(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> Code {
    call("hipHostMalloc", |state| {
        if flags & !HOST_FLAGS != 0 {
            return state.refuse(code::INVALID_VALUE, "hipHostMalloc with unknown flags");
        }
        state.sticky(current())?;
        let kind = Kind::Pinned { mapped: flags & 2 != 0 };
        let made = state.memory.allocate(bytes, kind, usize::MAX)?;
        state.created += 1;
        // SAFETY: the caller's place.
        unsafe { give(address, std::ptr::with_exposed_provenance_mut(made)) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipHostFree(address: *mut c_void) -> Code {
    call("hipHostFree", |state| {
        let freed = state.memory.free(address.addr(), |kind| matches!(kind, Kind::Pinned { .. }));
        if freed.is_err() {
            return state.refuse(code::INVALID_VALUE, "hipHostFree of what is no pinned memory");
        }
        state.released += 1;
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipHostGetDevicePointer(
    device: *mut *mut c_void,
    host: *mut c_void,
    flags: c_uint,
) -> Code {
    call("hipHostGetDevicePointer", |state| {
        let block = state.memory.block(host.addr());
        let is_mapped = block.is_some_and(|block| block.kind == Kind::Pinned { mapped: true });
        if !is_mapped || flags != 0 {
            return state.refuse(code::INVALID_VALUE, "the address of memory that is not mapped");
        }
        // SAFETY: the caller's place.
        unsafe { give(device, host) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipMemcpyHtoDAsync(
    target: *mut c_void,
    source: *mut c_void,
    bytes: usize,
    stream: *mut c_void,
) -> Code {
    call("hipMemcpyHtoDAsync", |state| {
        let (target, source) = (target.expose_provenance(), source.expose_provenance());
        let copy = Copy { target, source, bytes, stream: stream.addr() };
        state.copy_async(&copy, Sides { target_is_device: true, source_is_device: false })
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipMemcpyDtoHAsync(
    target: *mut c_void,
    source: *mut c_void,
    bytes: usize,
    stream: *mut c_void,
) -> Code {
    call("hipMemcpyDtoHAsync", |state| {
        let (target, source) = (target.expose_provenance(), source.expose_provenance());
        let copy = Copy { target, source, bytes, stream: stream.addr() };
        state.copy_async(&copy, Sides { target_is_device: false, source_is_device: true })
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipMemcpyDtoDAsync(
    target: *mut c_void,
    source: *mut c_void,
    bytes: usize,
    stream: *mut c_void,
) -> Code {
    call("hipMemcpyDtoDAsync", |state| {
        let (target, source) = (target.expose_provenance(), source.expose_provenance());
        let copy = Copy { target, source, bytes, stream: stream.addr() };
        state.copy_async(&copy, Sides { target_is_device: true, source_is_device: true })
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipMemcpyPeerAsync(
    target: *mut c_void,
    to: c_int,
    source: *const c_void,
    from: c_int,
    bytes: usize,
    stream: *mut c_void,
) -> Code {
    call("hipMemcpyPeerAsync", |state| {
        let (target, source) = (target.expose_provenance(), source.expose_provenance());
        let copy = Copy { target, source, bytes, stream: stream.addr() };
        state.copy_peer(&copy, [to, from])
    })
}

/// `hipMemcpyHostToDevice`, `hipMemcpyDeviceToHost` and `hipMemcpyDeviceToDevice`.
fn sides(kind: c_int) -> Option<Sides> {
    let [target_is_device, source_is_device] = match kind {
        1 => [true, false],
        2 => [false, true],
        3 => [true, true],
        _ => return None,
    };
    Some(Sides { target_is_device, source_is_device })
}

#[unsafe(no_mangle)]
extern "C" fn hipMemcpy2DAsync(
    target: *mut c_void,
    target_pitch: usize,
    source: *const c_void,
    source_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
    stream: *mut c_void,
) -> Code {
    call("hipMemcpy2DAsync", |state| {
        let sides = sides(kind).filter(|_| width <= target_pitch && width <= source_pitch);
        let Some(sides) = sides else {
            return state
                .refuse(code::INVALID_VALUE, "a copy of rows that overlap, or of an unknown kind");
        };
        let (target, source) = (target.expose_provenance(), source.expose_provenance());
        (0..height).try_for_each(|row| {
            let (target, source) = (target + row * target_pitch, source + row * source_pitch);
            let copy = Copy { target, source, bytes: width, stream: stream.addr() };
            state.copy_async(&copy, sides)
        })
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipMemsetD8Async(
    target: *mut c_void,
    value: u8,
    bytes: usize,
    stream: *mut c_void,
) -> Code {
    call("hipMemsetD8Async", |state| {
        let stream = state.work_stream(stream.addr())?;
        let target = target.expose_provenance();
        if state.memory.find(target, bytes) != Found::Live(Kind::Device(stream.device)) {
            return state.refuse(code::INVALID_VALUE, "hipMemsetD8Async of other memory");
        }
        state.submit(stream, Work::Fill { target, value, bytes });
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::CURRENT;

    #[test]
    fn copies_between_devices_are_of_their_own_memory() {
        let mut state = State::new();
        state.config.devices = 3;
        let target = state.memory.allocate(8, Kind::Device(1), 8).unwrap();
        let source = state.memory.allocate(8, Kind::Device(0), 8).unwrap();
        let copy = |bytes| Copy { target, source, bytes, stream: 0 };
        assert_eq!(state.copy_peer(&copy(8), [1, 0]), Ok(()));
        let wrong = Err(code::INVALID_VALUE);
        assert_eq!(state.copy_peer(&copy(9), [1, 0]), wrong);
        assert_eq!(state.copy_peer(&copy(8), [0, 1]), wrong);
        assert_eq!(state.copy_peer(&copy(8), [0, 0]), wrong);
        assert_eq!(state.copy_peer(&copy(8), [3, 0]), Err(code::INVALID_DEVICE));
        assert_eq!(state.misuses, 4);
        // The current device, whose default stream it is, has no part in it.
        CURRENT.set(2);
        assert_eq!(state.copy_peer(&copy(8), [1, 0]), wrong);
        // A device of no use any more.
        CURRENT.set(0);
        state.sticky.insert(1, code::ILLEGAL_ADDRESS);
        assert_eq!(state.copy_peer(&copy(8), [1, 0]), Err(code::ILLEGAL_ADDRESS));
        assert_eq!(state.misuses, 5);
    }
}
