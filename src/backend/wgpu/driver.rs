//! What a device is driven by: wgpu's device with its queue, and its errors as ours.
//!
//! Errors are caught by [error scopes](https://www.w3.org/TR/webgpu/#error-scopes), which are of the thread that opens
//! them, so that each call reports its own.

use std::{
    future::Future,
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
    pub(super) queue: wgpu::Queue,
    pub(super) limits: wgpu::Limits,
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
        fences: Fences,
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
            queue,
            limits,
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

    /// That the device is not lost, and that nothing went wrong since somebody asked.
    pub(super) fn check(&self) -> Result<()> {
        if let Some(reason) = self.failures.lost.get() {
            return Err(self.error("the device", self.name.clone(), format!("is lost: {reason}")));
        }
        let mut uncaught = self.failures.uncaught.lock().unwrap_or_else(PoisonError::into_inner);
        match uncaught.take() {
            None => Ok(()),
            Some(text) => Err(self.error("the queue", self.name.clone(), text)),
        }
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
        let value = work();
        let mut first = None;
        for scope in scopes.into_iter().rev() {
            first = ready(scope.pop()).or(first);
        }
        match first {
            None => Ok(value),
            Some(error) => Err(self.error(operation, subject(), describe(&error))),
        }
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
        let waited = self.device.poll(wait);
        // Who waits for a device that is lost is told that.
        self.check()?;
        waited
            .map(drop)
            .map_err(|error| self.error("waiting", self.name.clone(), error.to_string()))
    }

    /// Whether the queue has come to a submission.
    pub(super) fn is_done(&self, submission: &SubmissionIndex) -> Result<bool> {
        let submission_index = Some(submission.clone());
        let poll = PollType::Wait { submission_index, timeout: Some(Duration::ZERO) };
        match self.device.poll(poll) {
            Ok(_) => Ok(true),
            Err(PollError::Timeout) => self.check().map(|()| false),
            Err(error) => Err(self.error("polling", self.name.clone(), error.to_string())),
        }
    }

    /// An error of the device.
    pub(super) fn error(&self, operation: &'static str, subject: String, message: String) -> Error {
        Error::Wgpu { operation, subject, device: self.name.clone(), message }
    }
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

pub(super) fn unavailable(reason: String) -> Error {
    Error::Unavailable { backend: Backend::Wgpu, reason }
}
