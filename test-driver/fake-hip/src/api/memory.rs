//! Memory and copies. Copies of memory of the host that is not pinned are not done when they return either.

use std::ffi::{c_int, c_uint, c_void};

use super::give;
use crate::{
    call::{call, current},
    code::{self, Code},
    memory::{Found, Kind, When},
    queue::{StreamKey, Work},
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
            let found = self.memory.find(address, bytes, When::Queued);
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
            let found = self.memory.find(address, bytes, When::Queued);
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

    fn allocate_ordered(&mut self, bytes: usize, stream: usize) -> Result<usize, Code> {
        let stream = self.pool_stream(stream)?;
        let limit = self.config.memory;
        let made = self.memory.allocate_ordered(bytes, Kind::Device(stream.device), limit)?;
        self.created += 1;
        self.submit(stream, Work::Allocate { address: made });
        Ok(made)
    }

    fn free_ordered(&mut self, address: usize, stream: usize) -> Result<(), Code> {
        let stream = self.pool_stream(stream)?;
        if self.memory.free_ordered(address, Kind::Device(stream.device)).is_err() {
            return self.refuse(
                code::INVALID_VALUE,
                "hipFreeAsync of memory that hipMallocAsync has not returned",
            );
        }
        self.released += 1;
        self.submit(stream, Work::Free { address });
        Ok(())
    }

    /// A stream of the current device, which has stream-ordered allocation.
    fn pool_stream(&mut self, stream: usize) -> Result<StreamKey, Code> {
        if !self.config.pools {
            let what = "stream-ordered allocation on a device that does not support it";
            return self.refuse(code::NOT_SUPPORTED, what);
        }
        self.work_stream(stream)
    }
}

/// `HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL`.
const DEVICE_ORDINAL: c_int = 9;

#[unsafe(no_mangle)]
unsafe extern "C" fn hipPointerGetAttribute(
    place: *mut c_void,
    attribute: c_int,
    address: *mut c_void,
) -> Code {
    call("hipPointerGetAttribute", |state| {
        if attribute != DEVICE_ORDINAL {
            return state.refuse(code::INVALID_VALUE, "an unknown attribute of memory");
        }
        match state.memory.find(address.addr(), 1, When::Queued) {
            // SAFETY: the caller's place, of the attribute's type.
            Found::Live(Kind::Device(device)) => unsafe { give(place.cast(), device) },
            _ => Err(code::INVALID_VALUE),
        }
    })
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
            return state.refuse(
                code::INVALID_VALUE,
                "hipFree of an address that is not memory of a device",
            );
        }
        state.released += 1;
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipMallocAsync(
    address: *mut *mut c_void,
    bytes: usize,
    stream: *mut c_void,
) -> Code {
    call("hipMallocAsync", |state| {
        let made = state.allocate_ordered(bytes, stream.addr())?;
        // SAFETY: the caller's place.
        unsafe { give(address, std::ptr::with_exposed_provenance_mut(made)) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipFreeAsync(address: *mut c_void, stream: *mut c_void) -> Code {
    call("hipFreeAsync", |state| state.free_ordered(address.addr(), stream.addr()))
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
            return state.refuse(
                code::INVALID_VALUE,
                "hipHostFree of an address that is not pinned memory",
            );
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
        let is_own = match state.memory.find(target, bytes, When::Queued) {
            Found::Live(Kind::Device(device)) => device == stream.device,
            Found::Live(Kind::Pinned { mapped }) => mapped,
            Found::Faulty | Found::Unknown => false,
        };
        if !is_own {
            return state.refuse(code::INVALID_VALUE, "hipMemsetD8Async of other memory");
        }
        state.submit(stream, Work::Fill { target, value, bytes });
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{call::CURRENT, config::Streams, state::Object};

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

    /// A state whose default streams do work when something waits for it, and memory of the current device in the order of
    /// its own.
    fn lazy() -> (State, usize) {
        let mut state = State::new();
        (state.config.streams, state.config.memory) = (Streams::Lazy, 16);
        CURRENT.set(0);
        let address = state.allocate_ordered(16, 0).unwrap();
        (state, address)
    }

    const STREAM: StreamKey = StreamKey { device: 0, handle: 0 };

    /// Another stream of device 0.
    fn other_stream(state: &mut State) -> StreamKey {
        StreamKey { device: 0, handle: state.add(Object::Stream { device: 0 }) }
    }

    #[test]
    fn memory_is_there_from_its_allocation_to_its_release_in_the_order_of_a_stream() {
        let (mut state, address) = lazy();
        let fill = |state: &mut State, stream| {
            state.submit(stream, Work::Fill { target: address, value: 7, bytes: 16 })
        };
        fill(&mut state, STREAM);
        assert_eq!(state.free_ordered(address, 0), Ok(()));
        // It takes its place until the stream comes to the release.
        assert_eq!(state.allocate_ordered(16, 0), Err(code::OUT_OF_MEMORY));
        state.finish_stream(STREAM);
        assert_eq!((state.misuses, state.sticky(0)), (0, Ok(())));
        assert!(state.allocate_ordered(16, 0).is_ok());
        assert_eq!((state.created, state.released), (2, 1));
    }

    #[test]
    fn work_before_the_allocation_or_after_the_release_is_a_fault() {
        for is_released in [false, true] {
            let (mut state, address) = lazy();
            let other = other_stream(&mut state);
            state.submit(other, Work::Fill { target: address, value: 7, bytes: 16 });
            if is_released {
                assert_eq!(state.free_ordered(address, 0), Ok(()));
                state.finish_stream(STREAM);
            }
            state.finish_stream(other);
            assert_eq!((state.misuses, state.sticky(0)), (1, Err(code::ILLEGAL_ADDRESS)));
        }
    }

    #[test]
    fn memory_that_is_given_back_is_used_and_freed_by_nothing_else() {
        let (mut state, address) = lazy();
        let wrong = Err(code::INVALID_VALUE);
        // Memory of `hipMallocAsync` is not that of `hipFree`.
        assert_eq!(state.memory.free(address, |_| true), wrong);
        state.config.devices = 2;
        CURRENT.set(1);
        assert_eq!(state.free_ordered(address, 0), wrong);
        CURRENT.set(0);
        assert_eq!(state.free_ordered(address, 0), Ok(()));
        assert_eq!(state.free_ordered(address, 0), wrong);
        let copy = Copy { target: address, source: address, bytes: 8, stream: 0 };
        let sides = Sides { target_is_device: true, source_is_device: true };
        assert_eq!(state.copy_async(&copy, sides), wrong);
        state.finish_stream(STREAM);
        let plain = state.memory.allocate(8, Kind::Device(0), 16).unwrap();
        assert_eq!(state.free_ordered(plain, 0), wrong);
        assert_eq!(state.misuses, 4);
        state.config.pools = false;
        assert_eq!(state.allocate_ordered(8, 0), Err(code::NOT_SUPPORTED));
        assert_eq!(state.misuses, 5);
    }
}
