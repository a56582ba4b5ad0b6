//! What a device is driven by: wgpu's device with its queue, and its errors as ours.
//!
//! Errors are caught by [error scopes](https://www.w3.org/TR/webgpu/#error-scopes), which are of the thread that opens
//! them, so that each call reports its own. A lost device is told by a callback alone. And wgpu panics where a device is lost
//! while it is waited for, and where there is no memory for commands
//! ([wgpu 30.0.2](https://github.com/gfx-rs/wgpu/blob/v30.0.2/wgpu/src/backend/wgpu_core.rs), `handle_error_fatal`): such a
//! panic is caught, and the device is lost.

use std::{
    any::Any,
    future::Future,
    mem::ManuallyDrop,
    panic::{self, AssertUnwindSafe},
    pin::pin,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    task::{Context, Poll, Waker},
    thread,
    time::Duration,
};

use wgpu::{CommandEncoder, ErrorFilter, Features, PollError, PollType, SubmissionIndex};

use super::{
    buffers::Buffers,
    fences::{self, Fences},
    groups::Groups,
    interface,
};
use crate::{
    error::{Error, Result},
    properties::Backend,
};

/// A device, as everything that belongs to it shares it.
pub(super) struct Gpu {
    pub(super) name: String,
    pub(super) device: wgpu::Device,
    /// Dropped by [`Gpu::drop`] alone.
    pub(super) queue: ManuallyDrop<wgpu::Queue>,
    pub(super) limits: wgpu::Limits,
    /// The most invocations of a subgroup.
    pub(super) subgroup: u32,
    /// Whether modules are translated when they are loaded.
    pub(super) translates: bool,
    /// Whether it knows the time at which the queue comes to a point.
    pub(super) has_timestamps: bool,
    pub(super) buffers: Buffers,
    pub(super) groups: Groups,
    pub(super) fences: Fences,
    failures: Arc<Failures>,
}

/// Capabilities of SPIR-V that not every device has, by their numbers.
const NEEDED: [(u32, Features, &str); 3] = [
    (11, Features::SHADER_INT64, "64-bit integers"),
    (12, Features::SHADER_INT64_ATOMIC_ALL_OPS, "64-bit atomic operations"),
    (10, Features::SHADER_F64, "the type `f64`"),
];

/// The features of devices that modules may need.
pub(super) fn optional_features() -> Features {
    NEEDED.iter().fold(Features::empty(), |all, (_, feature, _)| all | *feature)
}

/// What went wrong outside of a call.
#[derive(Default)]
struct Failures {
    /// Why the device is lost.
    lost: OnceLock<String>,
    /// An error that no scope has caught, until it is reported.
    uncaught: Mutex<Option<String>>,
}

impl Gpu {
    pub(super) fn new(
        name: String,
        (device, queue): (wgpu::Device, wgpu::Queue),
        (translates, has_timestamps): (bool, bool),
        (subgroup, fences): (u32, Fences),
    ) -> Self {
        let failures = Arc::<Failures>::default();
        let of_device = Arc::clone(&failures);
        device.set_device_lost_callback(move |_, message| {
            // The first reason is the one that others follow from.
            let _ = of_device.lost.set(message);
        });
        let of_device = Arc::clone(&failures);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let mut uncaught = of_device.uncaught.lock().unwrap_or_else(PoisonError::into_inner);
            uncaught.get_or_insert_with(|| error.to_string());
        }));
        let limits = device.limits();
        let (buffers, groups) = (Buffers::default(), Groups::default());
        Self {
            name,
            device,
            queue: ManuallyDrop::new(queue),
            limits,
            subgroup,
            translates,
            has_timestamps,
            buffers,
            groups,
            fences,
            failures,
        }
    }

    /// Everything that a module needs and the device does not support.
    pub(super) fn lacking(&self, words: &[u32]) -> Vec<&'static str> {
        let has = self.device.features();
        let lacks = |(capability, feature, _): &&(u32, Features, _)| {
            !has.contains(*feature) && interface::capabilities(words).any(|it| it == *capability)
        };
        let refuses_fences = self.fences == Fences::Refused && fences::has(words);
        let fences = refuses_fences.then_some("memory fences in divergent code");
        fences.into_iter().chain(NEEDED.iter().filter(lacks).map(|(.., what)| *what)).collect()
    }

    /// Whether the device is lost, so that nothing runs on it any more.
    pub(super) fn is_lost(&self) -> bool {
        self.failures.lost.get().is_some()
    }

    /// That the device is not lost.
    fn require_device(&self, operation: &'static str, subject: impl Fn() -> String) -> Result<()> {
        match self.failures.lost.get() {
            None => Ok(()),
            Some(why) => {
                let message = format!("the device is lost: {why}; open it again");
                Err(self.error(operation, subject(), message))
            }
        }
    }

    /// That the device is not lost, and that nothing went wrong since somebody asked.
    pub(super) fn check(&self) -> Result<()> {
        self.require_device("waiting", || "the queue".to_owned())?;
        let mut uncaught = self.failures.uncaught.lock().unwrap_or_else(PoisonError::into_inner);
        match uncaught.take() {
            None => Ok(()),
            Some(text) => Err(self.error("the queue", self.name.clone(), text)),
        }
    }

    /// Does something with the library; `None` where that panicked, and the device is lost.
    fn caught<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        // What a panic leaves half done is of the device, which is not used any more.
        let done = panic::catch_unwind(AssertUnwindSafe(work));
        done.map_err(|panic| {
            // Where wgpu has told why before, that stays.
            let _ = self.failures.lost.set(said(&*panic));
        })
        .ok()
    }

    /// Does something with the device; what `subject` names is too large where there is no memory for it.
    pub(super) fn scoped<T>(
        &self,
        operation: &'static str,
        subject: impl Fn() -> String,
        work: impl FnOnce() -> T,
    ) -> Result<T> {
        self.check()?;
        let filters = [ErrorFilter::Validation, ErrorFilter::OutOfMemory, ErrorFilter::Internal];
        let scopes = filters.map(|filter| self.device.push_error_scope(filter));
        let value = self.caught(work);
        let mut first = None;
        for scope in scopes.into_iter().rev() {
            first = ready(scope.pop()).or(first);
        }
        if let Some(error) = first {
            return Err(self.error(operation, subject(), describe(&error)));
        }
        self.require_device(operation, &subject)?;
        value.ok_or_else(|| self.error(operation, subject(), "wgpu panicked".to_owned()))
    }

    /// Forgets the buffer with this address. It is freed once nothing that was queued uses it.
    pub(super) fn free(&self, address: u64) {
        if let Some(buffer) = self.buffers.remove(address) {
            self.groups.forget_buffer(&buffer);
        }
    }

    /// Gives the queue what was recorded.
    pub(super) fn submit(
        &self,
        operation: &'static str,
        subject: impl Fn() -> String,
        record: impl FnOnce(&mut CommandEncoder),
    ) -> Result<SubmissionIndex> {
        self.scoped(operation, subject, || {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            record(&mut encoder);
            self.queue.submit([encoder.finish()])
        })
    }

    /// Waits until the queue has come to a submission, or to the last one.
    pub(super) fn wait(&self, submission: Option<SubmissionIndex>) -> Result<()> {
        let wait = PollType::Wait { submission_index: submission, timeout: None };
        let waited = self.caught(|| self.device.poll(wait));
        // Who waits for a device that is lost is told that.
        self.check()?;
        waited
            .unwrap_or(Err(PollError::Timeout))
            .map(drop)
            .map_err(|error| self.error("waiting", self.name.clone(), error.to_string()))
    }

    /// Whether the queue has come to a submission.
    pub(super) fn is_done(&self, submission: &SubmissionIndex) -> Result<bool> {
        let submission_index = Some(submission.clone());
        let poll = PollType::Wait { submission_index, timeout: Some(Duration::ZERO) };
        match self.caught(|| self.device.poll(poll)) {
            Some(Ok(_)) => Ok(true),
            None | Some(Err(PollError::Timeout)) => self.check().map(|()| false),
            Some(Err(error)) => Err(self.error("polling", self.name.clone(), error.to_string())),
        }
    }

    /// An error of the device.
    pub(super) fn error(&self, operation: &'static str, subject: String, message: String) -> Error {
        Error::Wgpu { operation, subject, device: self.name.clone(), message }
    }
}

impl Drop for Gpu {
    /// wgpu waits for the queue, and panics where it cannot; nobody could be told of an error here.
    fn drop(&mut self) {
        // SAFETY: it is taken here alone, and not used after this.
        let queue = unsafe { ManuallyDrop::take(&mut self.queue) };
        let _ = self.caught(|| drop(queue));
    }
}

/// What a panic says.
pub(super) fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("wgpu panicked: {}", text.unwrap_or("it did not say why"))
}

/// An error with its sources: wgpu says in the last what was wrong.
fn describe(error: &wgpu::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = error.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a future of wgpu's gives, which is there at once on machines with threads.
pub(super) fn ready<T>(future: impl Future<Output = T>) -> T {
    let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::yield_now(),
        }
    }
}

pub(super) fn no_device(reason: String) -> Error {
    Error::NoDevice { backend: Backend::Wgpu, reason }
}
