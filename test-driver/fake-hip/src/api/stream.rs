//! Streams.

use std::ffi::{c_int, c_uint, c_void};

use super::{give, handle};
use crate::{
    call::{call, current},
    code::{self, Code},
    queue::Work,
    state::Object,
};

#[unsafe(no_mangle)]
unsafe extern "C" fn hipStreamCreateWithFlags(stream: *mut *mut c_void, flags: c_uint) -> Code {
    call("hipStreamCreateWithFlags", |state| {
        if flags != 1 {
            return state.refuse(code::INVALID_VALUE, "a stream that waits for the default stream");
        }
        state.sticky(current())?;
        let made = state.add(Object::Stream { device: current() });
        // SAFETY: the caller's place.
        unsafe { give(stream, handle(made)) }
    })
}

/// What is queued is still done.
#[unsafe(no_mangle)]
extern "C" fn hipStreamDestroy(stream: *mut c_void) -> Code {
    call("hipStreamDestroy", |state| {
        let key = state.stream(stream.addr())?;
        if key.handle == 0 {
            return state.refuse(code::INVALID_HANDLE, "the default stream is destroyed");
        }
        state.objects.remove(&key.handle);
        state.released += 1;
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipStreamGetDevice(stream: *mut c_void, device: *mut c_int) -> Code {
    call("hipStreamGetDevice", |state| {
        let key = state.stream(stream.addr())?;
        // SAFETY: the caller's place.
        unsafe { give(device, key.device) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipStreamSynchronize(stream: *mut c_void) -> Code {
    call("hipStreamSynchronize", |state| {
        let key = state.stream(stream.addr())?;
        state.finish_stream(key);
        state.sticky(key.device)
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipStreamQuery(stream: *mut c_void) -> Code {
    call("hipStreamQuery", |state| {
        let key = state.stream(stream.addr())?;
        state.sticky(key.device)?;
        if state.queues.last_of(key).is_some() { Err(code::NOT_READY) } else { Ok(()) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipStreamWaitEvent(stream: *mut c_void, event: *mut c_void, flags: c_uint) -> Code {
    call("hipStreamWaitEvent", |state| {
        if flags != 0 {
            return state.refuse(code::INVALID_VALUE, "hipStreamWaitEvent with flags");
        }
        let key = state.stream(stream.addr())?;
        state.sticky(key.device)?;
        let recorded = state.event(event.addr())?.recorded;
        if let Some(number) = recorded {
            state.submit(key, Work::Wait { number });
        }
        Ok(())
    })
}
