//! Launches: kernels of the CPU back end, run by the thread of a stream.

use std::{
    cell::UnsafeCell,
    mem::offset_of,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use kernelmill_artifact::PanicRecord;

use super::driver_context::{DriverContext, Shared};
use crate::{
    backend::{
        cpu::launch::{self as cpu, Outcome},
        gpu::{calls::ContextCalls as _, image},
    },
    embedded::EmbeddedKernel,
    error::Result,
    hal::{self, AsyncError, OwnedArguments, Pointers, StreamRef},
    limits::{Checked, KernelLimits},
};

/// The kernels of a binary.
pub(super) type Image = image::Image<DriverContext>;

/// A kernel, ready to be queued.
pub(super) struct Function {
    kernel: Arc<cpu::Function>,
    image: Arc<Image>,
    shared: Arc<Shared>,
    panics: bool,
}

/// A launch that is queued, with all that it needs.
struct Launch {
    kernel: Arc<cpu::Function>,
    driver: Arc<DriverContext>,
    shape: Checked,
    arguments: OwnedArguments,
    limit: Duration,
    /// The record of the stream's panics; 0 where the kernel has none.
    record: u64,
}

impl Function {
    pub(super) fn new(
        kernel: cpu::Function,
        image: &Arc<Image>,
        shared: &Arc<Shared>,
        embedded: &EmbeddedKernel,
    ) -> Self {
        let (image, shared) = (Arc::clone(image), Arc::clone(shared));
        Self { kernel: Arc::new(kernel), image, shared, panics: embedded.panics }
    }
}

impl hal::Function for Function {
    fn limits(&self) -> KernelLimits {
        self.kernel.limits()
    }

    fn cooperative_blocks(&self, block: [u32; 3], dynamic: u32) -> Result<Option<u64>> {
        self.kernel.cooperative_blocks(block, dynamic)
    }

    unsafe fn launch(
        &self,
        _stream: StreamRef<'_>,
        _shape: &Checked,
        _arguments: &mut Pointers<'_>,
    ) -> Result<Option<Arc<AsyncError>>> {
        unreachable!("a function with a time limit is launched by `launch_within`")
    }

    /// There always is one: only launches with a limit are given arguments that outlive the call.
    fn time_limit(&self) -> Option<Duration> {
        Some(self.kernel.time_limit().unwrap_or(Duration::MAX))
    }

    unsafe fn launch_within(
        &self,
        limit: Duration,
        stream: StreamRef<'_>,
        shape: &Checked,
        arguments: OwnedArguments,
    ) -> Result<Option<Arc<AsyncError>>> {
        self.shared.bind()?;
        let stream = DriverContext::launch_stream(stream)?;
        self.image.note_launch(stream);
        let record = if self.panics { self.shared.panics.record(stream, &self.image)? } else { 0 };
        let (kernel, driver) = (Arc::clone(&self.kernel), Arc::clone(&self.shared.driver));
        let launch = Launch { kernel, driver, shape: *shape, arguments, limit, record };
        self.shared.timed(stream, || {
            // SAFETY: promised; memory is freed after the stream has come to the launch.
            stream.push_access(move || unsafe { launch.run() });
            Ok(None)
        })
    }
}

impl Launch {
    /// Runs it, on the thread of its stream.
    ///
    /// # Safety
    ///
    /// The arguments are those of the kernel, and their memory is there.
    unsafe fn run(self) {
        // SAFETY: promised.
        let ran = unsafe {
            if self.limit == Duration::MAX { self.run_whole() } else { self.run_watched() }
        };
        match ran {
            Ok(None) => {}
            Ok(Some(panic)) => self.publish(&panic),
            Err(error) => self.driver.keep(Err(error)),
        }
    }

    /// The panic of a launch that nobody watches.
    unsafe fn run_whole(&self) -> Result<Option<PanicRecord>> {
        let record = UnsafeCell::new(PanicRecord::EMPTY);
        // SAFETY: promised to `run`.
        unsafe { self.kernel.run(&self.shape, self.arguments.pointers(), &record)? };
        Ok(Some(record.into_inner()).filter(PanicRecord::is_set))
    }

    /// The panic of a launch that is watched. One that is given up takes the device with it, as a
    /// driver's does.
    unsafe fn run_watched(&self) -> Result<Option<PanicRecord>> {
        let arguments = self.arguments.clone();
        // SAFETY: promised to `run`; memory is not freed once a launch is given up.
        match unsafe { self.kernel.run_within(self.limit, &self.shape, arguments)? } {
            Outcome::Done => Ok(None),
            Outcome::Panicked(record) => Ok(Some(*record)),
            Outcome::StillRunning(timeout) => {
                self.driver.in_use.lose(timeout);
                Ok(None)
            }
        }
    }

    /// Writes a panic where the host looks for it, by the protocol of kernels on GPUs: unless there is one that
    /// was not read.
    fn publish(&self, panic: &PanicRecord) {
        if self.record == 0 {
            return;
        }
        let record: *mut PanicRecord = std::ptr::with_exposed_provenance_mut(self.record as usize);
        // SAFETY: the record lives as long as the device; these two fields are only used atomically.
        let (state, acknowledged) = unsafe {
            (
                AtomicU32::from_ptr(&raw mut (*record).state),
                AtomicU32::from_ptr(&raw mut (*record).acknowledged),
            )
        };
        let read = acknowledged.load(Ordering::Acquire);
        if state.load(Ordering::Relaxed) != read {
            return;
        }
        // What tells of the panic is between these two, which the host reads at any time.
        let told = offset_of!(PanicRecord, message_len)..offset_of!(PanicRecord, acknowledged);
        let source = std::ptr::from_ref(panic).cast::<u8>();
        // SAFETY: the launches of a stream are on one thread, and the host reads none but a complete panic.
        unsafe {
            let (source, target) = (source.add(told.start), record.cast::<u8>().add(told.start));
            std::ptr::copy_nonoverlapping(source, target, told.len());
        }
        state.store(read + 2, Ordering::Release);
    }
}
