//! The emulator of a device, and the driver's errors for faults of kernels.

use ptx_emulator::{Device, Fault, FaultKind, Launch, Loaded, Module, Options, Properties, Report};

use crate::base::error::Error;
use crate::config::Config;
use crate::device::Profile;

/// Alignment of every allocation, as CUDA promises it.
const ALIGNMENT: usize = 256;

/// Each device has its addresses in a window of its own, as long as this.
const WINDOW: usize = 1 << 41;

/// A device that runs PTX.
pub(crate) struct Emulator {
    device: Device,
    options: Options,
}

/// Memory outside the allocations there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadAddress;

impl Emulator {
    pub(crate) fn new(ordinal: usize, profile: &Profile, config: &Config) -> Self {
        let options = Options {
            order: config.order,
            detect_races: config.races,
            poison: !config.unwritten,
            step_budget: config.steps.or(Options::default().step_budget),
            threads: config.threads,
            number: None,
        };
        let device = Device::new(properties(profile, config));
        skip_windows(&device, ordinal);
        Self { device, options }
    }

    /// Memory of the device; `None` where there is not enough.
    pub(crate) fn allocate(&self, bytes: u64) -> Option<u64> {
        self.device.allocate(usize::try_from(bytes).ok()?, ALIGNMENT).ok()
    }

    /// Frees memory; nothing happens where there is none at the address.
    pub(crate) fn free(&self, address: u64) {
        // Memory of the host that was never attached here is not an error.
        let _ = self.device.free(address);
    }

    pub(crate) fn read(&self, address: u64, target: &mut [u8]) -> Result<(), BadAddress> {
        self.device.read(address, target).map_err(|_| BadAddress)
    }

    pub(crate) fn write(&self, address: u64, source: &[u8]) -> Result<(), BadAddress> {
        self.device.write(address, source).map_err(|_| BadAddress)
    }

    /// Makes memory of the host known to kernels, at its own address.
    ///
    /// # Safety
    ///
    /// The memory can be read and written until it is given to [`Self::free`], and until the work
    /// that was queued before that is done.
    pub(crate) unsafe fn attach(&self, host: *mut u8, bytes: usize) {
        // SAFETY: promised.
        unsafe { self.device.map_host(host, bytes) };
    }

    /// Puts the globals of a module into memory.
    pub(crate) fn load(&self, module: &Module) -> Result<Loaded, String> {
        self.device.load(module).map_err(|error| error.to_string())
    }

    /// A number for a launch.
    pub(crate) fn next_number(&self) -> u64 {
        self.device.next_number()
    }

    /// Runs a kernel to its end; `number` is what it finds in `%gridid`.
    pub(crate) fn launch(
        &self,
        loaded: &Loaded,
        kernel: &str,
        launch: &Launch<'_>,
        number: u64,
    ) -> Result<Report, Box<Fault>> {
        let options = Options { number: Some(number), ..self.options.clone() };
        self.device.launch(loaded, kernel, launch, &options).map_err(Box::new)
    }
}

/// Lets the addresses of a device begin where those of the devices before it have ended, so that no
/// address is on two devices. An emulated device gives no address twice, and its first is where the
/// first window begins.
fn skip_windows(device: &Device, windows: usize) {
    for _ in 0..=windows {
        if let Ok(address) = device.allocate(1, WINDOW) {
            // Allocated just now, so that it can be freed.
            let _ = device.free(address);
        }
    }
}

fn properties(profile: &Profile, config: &Config) -> Properties {
    Properties {
        compute_capability: (profile.major, profile.minor),
        max_threads_per_block: Profile::THREADS_PER_BLOCK,
        max_block: Profile::BLOCK,
        max_grid: Profile::GRID,
        static_shared_bytes: Profile::SHARED_WITHOUT_ASKING,
        shared_bytes: profile.shared_per_block,
        multiprocessors: profile.multiprocessors,
        memory_bytes: config.memory,
        ..Properties::of_capability(profile.capability())
    }
}

/// The driver's error for what a kernel did wrong.
pub(crate) fn error_of(fault: &Fault) -> Error {
    match fault.kind {
        FaultKind::OutOfBounds { .. }
        | FaultKind::UseAfterFree { .. }
        | FaultKind::ReadOnly { .. } => Error::CUDA_ERROR_ILLEGAL_ADDRESS,
        FaultKind::Misaligned { .. } => Error::CUDA_ERROR_MISALIGNED_ADDRESS,
        FaultKind::StepBudget { .. } | FaultKind::EndlessLoop { .. } => {
            Error::CUDA_ERROR_LAUNCH_TIMEOUT
        }
        FaultKind::Assertion { .. } => Error::CUDA_ERROR_ASSERT,
        FaultKind::Unsupported { .. } | FaultKind::BranchIndex { .. } => {
            Error::CUDA_ERROR_ILLEGAL_INSTRUCTION
        }
        FaultKind::CallTarget { .. } => Error::CUDA_ERROR_INVALID_PC,
        FaultKind::StackOverflow { .. } => Error::CUDA_ERROR_HARDWARE_STACK_ERROR,
        _ => Error::CUDA_ERROR_LAUNCH_FAILED,
    }
}
