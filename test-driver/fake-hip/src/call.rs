//! Calls: what every exported function does first.

use std::cell::Cell;

use crate::{
    code::{self, Code},
    leak,
    queue::StreamKey,
    state::{Object, State, state},
};

thread_local! {
    /// The current device of a thread.
    pub(crate) static CURRENT: Cell<i32> = const { Cell::new(0) };
}

/// Functions that give something back.
const RELEASES: [&str; 8] = [
    "hipFree",
    "hipFreeAsync",
    "hipHostFree",
    "hipStreamDestroy",
    "hipEventDestroy",
    "hipGraphDestroy",
    "hipGraphExecDestroy",
    "hipModuleUnload",
];

/// Runs the body of a function, unless it is to fail.
pub(crate) fn call(
    function: &'static str,
    body: impl FnOnce(&mut State) -> Result<(), Code>,
) -> Code {
    let mut state = state();
    if !state.is_initialised {
        state.is_initialised = true;
        if state.config.checks_leaks {
            leak::watch();
        }
    }
    if let Some(code) = state.config.failures.next(function) {
        state.excused += usize::from(RELEASES.contains(&function));
        return code;
    }
    state.progress();
    match body(&mut state) {
        Ok(()) => code::SUCCESS,
        Err(code) => code,
    }
}

/// The device that is current.
pub(crate) fn current() -> i32 {
    CURRENT.get()
}

impl State {
    /// Refuses a call, and counts it.
    pub(crate) fn refuse<T>(&mut self, code: Code, what: &str) -> Result<T, Code> {
        self.misuse(what);
        Err(code)
    }

    /// The error that a device keeps.
    pub(crate) fn sticky(&self, device: i32) -> Result<(), Code> {
        self.sticky.get(&device).map_or(Ok(()), |code| Err(*code))
    }

    /// The stream with this handle.
    pub(crate) fn stream(&mut self, handle: usize) -> Result<StreamKey, Code> {
        if handle == 0 {
            return Ok(StreamKey { device: current(), handle });
        }
        match self.objects.get(&handle) {
            Some(Object::Stream { device }) => Ok(StreamKey { device: *device, handle }),
            _ => self.refuse(code::INVALID_HANDLE, "a handle that is not a stream"),
        }
    }

    /// The stream with this handle, for work of the current device.
    pub(crate) fn work_stream(&mut self, handle: usize) -> Result<StreamKey, Code> {
        let stream = self.stream(handle)?;
        if stream.device != current() {
            return self.refuse(code::INVALID_HANDLE, "work for a stream of another device");
        }
        self.sticky(stream.device)?;
        Ok(stream)
    }
}
