//! Events.

use std::ffi::{c_uint, c_void};

use super::{give, handle};
use crate::{
    call::{call, current},
    code::{self, Code},
    queue::Work,
    state::{Event, Object, State},
};

/// `hipEventDisableTiming`, and what the back end gives beside it.
const DISABLE_TIMING: c_uint = 2;
const BLOCKING_SYNC: c_uint = 1;

impl State {
    pub(super) fn event(&mut self, handle: usize) -> Result<&mut Event, Code> {
        if !matches!(self.objects.get(&handle), Some(Object::Event(_))) {
            return self.refuse(code::INVALID_HANDLE, "a handle that is not an event");
        }
        match self.objects.get_mut(&handle) {
            Some(Object::Event(event)) => Ok(event),
            _ => Err(code::INVALID_HANDLE),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipEventCreateWithFlags(event: *mut *mut c_void, flags: c_uint) -> Code {
    call("hipEventCreateWithFlags", |state| {
        if flags & !(DISABLE_TIMING | BLOCKING_SYNC) != 0 {
            return state.refuse(code::INVALID_VALUE, "an event with unknown flags");
        }
        state.sticky(current())?;
        let has_time = flags & DISABLE_TIMING == 0;
        let made = Event { device: current(), has_time, ..Event::default() };
        let made = state.add(Object::Event(made));
        // SAFETY: the caller's place.
        unsafe { give(event, handle(made)) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipEventRecord(event: *mut c_void, stream: *mut c_void) -> Code {
    call("hipEventRecord", |state| {
        let key = state.stream(stream.addr())?;
        state.sticky(key.device)?;
        if state.event(event.addr())?.device != key.device {
            return state
                .refuse(code::INVALID_HANDLE, "an event and a stream of different devices");
        }
        // The event has the number before the work is done.
        let number = state.queues.push(key, Work::Record { event: event.addr() });
        let event = state.event(event.addr())?;
        (event.recorded, event.time) = (Some(number), None);
        if state.config.streams == crate::config::Streams::Eager {
            state.finish(number);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipEventQuery(event: *mut c_void) -> Code {
    call("hipEventQuery", |state| {
        let Event { device, recorded, .. } = *state.event(event.addr())?;
        state.sticky(device)?;
        let is_pending = recorded.is_some_and(|number| state.queues.stream_of(number).is_some());
        if is_pending { Err(code::NOT_READY) } else { Ok(()) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipEventSynchronize(event: *mut c_void) -> Code {
    call("hipEventSynchronize", |state| {
        let Event { device, recorded, .. } = *state.event(event.addr())?;
        if let Some(number) = recorded {
            state.finish(number);
        }
        state.sticky(device)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipEventElapsedTime(
    milliseconds: *mut f32,
    start: *mut c_void,
    stop: *mut c_void,
) -> Code {
    call("hipEventElapsedTime", |state| {
        let mut times = [None; 2];
        for (time, event) in times.iter_mut().zip([start, stop]) {
            let Event { has_time, recorded, time: found, .. } = *state.event(event.addr())?;
            let Some(number) = recorded.filter(|_| has_time) else {
                return state
                    .refuse(code::INVALID_HANDLE, "the time of an event that records none");
            };
            if state.queues.stream_of(number).is_some() {
                return Err(code::NOT_READY);
            }
            *time = found;
        }
        let [Some(start), Some(stop)] = times else { return Err(code::UNKNOWN) };
        let later = stop.saturating_duration_since(start).as_secs_f32();
        let earlier = start.saturating_duration_since(stop).as_secs_f32();
        // SAFETY: the caller's place.
        unsafe { give(milliseconds, (later - earlier) * 1e3) }
    })
}

/// Streams that wait for it go on doing so.
#[unsafe(no_mangle)]
extern "C" fn hipEventDestroy(event: *mut c_void) -> Code {
    call("hipEventDestroy", |state| {
        state.event(event.addr())?;
        state.objects.remove(&event.addr());
        state.released += 1;
        Ok(())
    })
}
