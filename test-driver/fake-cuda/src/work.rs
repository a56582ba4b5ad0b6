//! Work: what streams and graphs do.

use std::{
    ffi::c_void,
    sync::{Arc, OnceLock},
    time::Instant,
};

use crate::base::error::{AsyncError, Error};
use crate::base::handle::Handle;
use crate::memory::copy::{Copy, Fill};
use crate::memory::{self, GraphMemory};
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
