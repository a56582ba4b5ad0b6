//! Work: what streams and graphs do.

use std::{
    ffi::c_void,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::base::abi::enumerators;
use crate::base::error::{AsyncError, Error};
use crate::base::handle::Handle;
use crate::memory::copy::{Copy, Fill};
use crate::memory::{self, GraphMemory, Kind};
use crate::module::launch::Launchable;
use cudarc::driver::sys::{CUhostFn, CUresult, CUstream, CUstreamCallback};

/// A piece of work, which can be done more than once.
#[derive(Clone)]
pub(crate) enum Work {
    /// Only waits for what came before.
    Nothing,
    Launch(Arc<Launchable>),
    Copy(Arc<Copy>),
    Fill(Fill),
    Host(HostCall),
    Callback(Callback),
    Wait(ValueWait),
    /// Frees memory.
    Release(u64),
    /// Notes the time.
    Stamp(Arc<OnceLock<Instant>>),
    Graph(Arc<Plan>),
}

/// A call of a function of the program's.
#[derive(Clone, Copy)]
pub(crate) struct HostCall {
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
}

// SAFETY: who passes a function to a stream agrees to its being called with this data by a thread
// of the driver.
unsafe impl Send for HostCall {}
// SAFETY: as above.
unsafe impl Sync for HostCall {}

impl HostCall {
    /// The call; [`Error::CUDA_ERROR_INVALID_VALUE`] where there is no function.
    pub(crate) fn new(function: CUhostFn, data: *mut c_void) -> Result<Self, Error> {
        Ok(Self { function: function.ok_or(Error::CUDA_ERROR_INVALID_VALUE)?, data })
    }

    fn run(self) {
        // SAFETY: `cuLaunchHostFunc` and the functions like it promise that this call can be made.
        unsafe { (self.function)(self.data) };
    }
}

/// A call of a function that wants to know its stream, and whether all went well.
#[derive(Clone, Copy)]
pub(crate) struct Callback {
    function: unsafe extern "C" fn(CUstream, CUresult, *mut c_void),
    stream: Handle,
    data: *mut c_void,
}

// SAFETY: as for `HostCall`.
unsafe impl Send for Callback {}
// SAFETY: as above.
unsafe impl Sync for Callback {}

impl Callback {
    /// The call; [`Error::CUDA_ERROR_INVALID_VALUE`] where there is no function.
    pub(crate) fn new(
        function: CUstreamCallback,
        stream: Handle,
        data: *mut c_void,
    ) -> Result<Self, Error> {
        Ok(Self { function: function.ok_or(Error::CUDA_ERROR_INVALID_VALUE)?, stream, data })
    }

    fn run(self, status: CUresult) {
        // SAFETY: `cuStreamAddCallback` promises that this call can be made.
        unsafe { (self.function)(self.stream.0 as CUstream, status, self.data) };
    }
}

/// A wait until a number of the host's has a value.
#[derive(Clone, Copy)]
pub(crate) struct ValueWait {
    address: u64,
    value: u32,
    flags: u32,
}

enumerators! { u32: CUstreamWaitValue_flags
    AT_LEAST = CU_STREAM_WAIT_VALUE_GEQ;
    EQUAL = CU_STREAM_WAIT_VALUE_EQ;
    BITS = CU_STREAM_WAIT_VALUE_AND;
    NOT_BITS = CU_STREAM_WAIT_VALUE_NOR;
}

impl ValueWait {
    /// The wait; [`Error::CUDA_ERROR_INVALID_VALUE`] for an address that no number has, or a comparison that there is not.
    pub(crate) fn new(address: u64, value: u32, flags: u32, ordinal: usize) -> Result<Self, Error> {
        let is_known = matches!(flags, AT_LEAST | EQUAL | BITS | NOT_BITS);
        let found =
            memory::find(address, ordinal).filter(|_| is_known && address.is_multiple_of(4));
        match found.ok_or(Error::CUDA_ERROR_INVALID_VALUE)?.kind {
            Kind::Pinned(_) | Kind::Registered => Ok(Self { address, value, flags }),
            // Nothing here needs it.
            _ => Err(Error::CUDA_ERROR_NOT_SUPPORTED),
        }
    }

    fn run(self) {
        let number: *mut u32 = std::ptr::with_exposed_provenance_mut(self.address as usize);
        // SAFETY: memory of the host that is there until the stream is done; the host writes it at any time.
        let number = unsafe { AtomicU32::from_ptr(number) };
        while !self.is_over(number.load(Ordering::Acquire)) {
            thread::sleep(Duration::from_micros(50));
        }
    }

    fn is_over(self, found: u32) -> bool {
        match self.flags {
            AT_LEAST => found.wrapping_sub(self.value) as i32 >= 0,
            EQUAL => found == self.value,
            BITS => found & self.value != 0,
            _ => !(found | self.value) != 0,
        }
    }
}

impl Work {
    /// Whether it is done even after an asynchronous error.
    pub(crate) fn is_bookkeeping(&self) -> bool {
        matches!(self, Self::Nothing | Self::Stamp(_) | Self::Release(_) | Self::Callback(_))
    }

    /// Does the work on a device, on the thread of a stream; `status` is the context's error so far.
    pub(crate) fn run(&self, ordinal: usize, status: Option<Error>) -> Result<(), AsyncError> {
        match self {
            Self::Nothing => {}
            Self::Launch(launch) => return launch.run(ordinal),
            Self::Copy(copy) => return copy.run(ordinal),
            Self::Fill(fill) => return fill.run(ordinal),
            Self::Host(call) => call.run(),
            Self::Wait(wait) => wait.run(),
            Self::Callback(call) => call.run(status.unwrap_or(CUresult::CUDA_SUCCESS)),
            Self::Release(address) => memory::release(*address, ordinal),
            // A record is made once, and replayed by no graph.
            Self::Stamp(time) => drop(time.set(Instant::now())),
            Self::Graph(plan) => return plan.run(ordinal, status),
        }
        Ok(())
    }
}

/// The work of a graph, in an order that it can be done in.
pub(crate) struct Plan {
    steps: Vec<Work>,
    /// Kept as long as the plan can be run.
    _memory: Arc<GraphMemory>,
}

impl Plan {
    pub(crate) fn new(steps: Vec<Work>, memory: Arc<GraphMemory>) -> Self {
        Self { steps, _memory: memory }
    }

    fn run(&self, ordinal: usize, status: Option<Error>) -> Result<(), AsyncError> {
        self.steps.iter().try_for_each(|work| work.run(ordinal, status))
    }
}
