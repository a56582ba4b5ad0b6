//! Panics of kernels: each module has one record, which is read when a stream is waited for.
//!
//! Which launch of a module panicked is not known, so whoever waits first for a stream that the
//! module was launched on is told.

use std::{
    mem::MaybeUninit,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use cudarc::driver::{CudaStream, result, sys};
use kernelmill_artifact::PanicRecord;

use super::{
    driver::{bind, named},
    module::Module,
};
use crate::{KernelPanic, Result};

/// A module whose record was not read since a launch on a stream.
struct Expected {
    context: usize,
    stream: usize,
    module: Arc<Module>,
}

/// Of all contexts. A module in it stays loaded until somebody waits for the stream.
static EXPECTED: Mutex<Vec<Expected>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn handles(stream: &CudaStream) -> (usize, usize) {
    (stream.context().cu_ctx() as usize, stream.cu_stream() as usize)
}

/// Notes that a kernel which can panic was launched.
pub(super) fn expect(on: &CudaStream, module: &Arc<Module>) {
    let (context, stream) = handles(on);
    let mut expected = lock(&EXPECTED);
    let known = expected.iter().any(|other| {
        (other.context, other.stream) == (context, stream) && Arc::ptr_eq(&other.module, module)
    });
    if !known {
        expected.push(Expected { context, stream, module: Arc::clone(module) });
    }
}

/// The first panic of the modules that were launched on `stream`, which was waited for.
pub(super) fn report(stream: &CudaStream) -> Result<()> {
    let (context, number) = handles(stream);
    check(stream, |other| (other.context, other.stream) == (context, number), |_| true)
}

/// The first panic of the modules that were launched in the context of `stream`, which was waited
/// for; `everything` was, or this stream and what it waits for.
pub(super) fn report_all(stream: &CudaStream, everything: bool) -> Result<()> {
    let (context, number) = handles(stream);
    check(stream, |other| other.context == context, |other| everything || other.stream == number)
}

/// Reads the record of each module that is `asked` for, until one has a panic. Entries that are
/// `done`, of which nothing can still run, are removed before their record is read: a launch after
/// that makes a new one.
fn check(
    stream: &CudaStream,
    asked: impl Fn(&Expected) -> bool,
    done: impl Fn(&Expected) -> bool,
) -> Result<()> {
    let mut seen: Vec<Arc<Module>> = Vec::new();
    loop {
        let mut expected = lock(&EXPECTED);
        let is_seen = |entry: &Expected| seen.iter().any(|seen| Arc::ptr_eq(seen, &entry.module));
        let Some(next) = expected.iter().find(|entry| asked(entry) && !is_seen(entry)) else {
            return Ok(());
        };
        let module = Arc::clone(&next.module);
        expected
            .retain(|entry| !(asked(entry) && done(entry) && Arc::ptr_eq(&entry.module, &module)));
        drop(expected);
        if let Some(panic) = take(stream, &module)? {
            return Err(panic.into());
        }
        seen.push(module);
    }
}

/// The panic in a module's record, which is cleared then.
fn take(stream: &CudaStream, module: &Module) -> Result<Option<KernelPanic>> {
    let Some(address) = module.record else { return Ok(None) };
    let _alone = lock(&module.record_lock);
    let subject = || format!("the panic record of {}", module.artifact);
    bind(module.context())?;
    let mut record = MaybeUninit::<PanicRecord>::uninit();
    // SAFETY: the record has that many bytes on both sides, and is not used before the wait.
    let copied = unsafe {
        let (target, bytes) = (record.as_mut_ptr().cast(), size_of::<PanicRecord>());
        sys::cuMemcpyDtoHAsync_v2(target, address, bytes, stream.cu_stream())
    };
    named(copied.result(), "cuMemcpyDtoHAsync", subject)?;
    named(stream.synchronize(), "cuStreamSynchronize", subject)?;
    // SAFETY: the copy is done, and every bit pattern is a record.
    let record = unsafe { record.assume_init() };
    // 1: a kernel on another stream is writing it, which will be waited for in its turn.
    if record.state != 2 {
        return Ok(None);
    }
    // Only the state: a kernel that claims the record after that may already write the rest.
    // SAFETY: the record has these bytes.
    let cleared = unsafe { result::memset_d8_async(address, 0, 4, stream.cu_stream()) };
    named(cleared, "cuMemsetD8Async", subject)?;
    named(stream.synchronize(), "cuStreamSynchronize", subject)?;
    let locations = module.artifact.locations;
    Ok(Some(KernelPanic::read(&record, module.artifact.source, locations)))
}
