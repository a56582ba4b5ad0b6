//! Panics of kernels: each module has one record, which is read when a stream is waited for.
//!
//! Which launch of a module panicked is not known, so whoever waits first for a stream that the
//! module was launched on is told. A module that is unloaded before that leaves its panic here.

use std::{
    mem::MaybeUninit,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use cudarc::driver::{CudaContext, CudaStream, result, sys};
use kernelmill_artifact::PanicRecord;

use super::{
    driver::{bind, named},
    module::Module,
};
use crate::error::{KernelPanic, Result};

/// A module whose record was not read since a launch on a stream.
struct Expected {
    context: usize,
    stream: usize,
    module: Weak<Module>,
    /// What the record said when the module was unloaded.
    left: Option<Left>,
}

/// A panic whose module is gone.
struct Left {
    panic: KernelPanic,
    /// Once this is gone, another context may have its handle.
    context: Weak<CudaContext>,
}

/// Of all contexts. Nothing here keeps a module or a context alive: a program that waits by other
/// means than this crate's would never get rid of them.
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
    let module = Arc::downgrade(module);
    let mut expected = lock(&EXPECTED);
    let known = expected.iter().any(|other| {
        (other.context, other.stream) == (context, stream) && other.module.ptr_eq(&module)
    });
    if !known {
        expected.push(Expected { context, stream, module, left: None });
    }
}

/// Keeps the panic of a module that is being unloaded, of which nothing runs any more, for whoever
/// waits for a stream that it was launched on.
pub(super) fn unload(module: &Module) {
    let is = |entry: &Expected| std::ptr::eq(entry.module.as_ptr(), module);
    if !lock(&EXPECTED).iter().any(is) {
        return;
    }
    // Where the driver fails now, it fails the next call too, which reports it.
    let panic = read(&module.context().default_stream(), module).ok().flatten();
    let mut expected = lock(&EXPECTED);
    for entry in expected.iter_mut().filter(|entry| is(entry)) {
        let context = Arc::downgrade(module.context());
        entry.left = panic.clone().map(|panic| Left { panic, context });
    }
    expected.retain(|entry| !is(entry) || entry.left.is_some());
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
        if let Some(panic) = take_left(&mut expected, &asked) {
            return Err(panic.into());
        }
        let is_seen = |module: &Arc<Module>| seen.iter().any(|seen| Arc::ptr_eq(seen, module));
        // A module that is being unloaded cannot be had any more; it leaves its panic here.
        let mut modules =
            expected.iter().filter(|entry| asked(entry)).filter_map(|entry| entry.module.upgrade());
        let Some(module) = modules.find(|module| !is_seen(module)) else {
            return Ok(());
        };
        drop(modules);
        let is = |entry: &Expected| std::ptr::eq(entry.module.as_ptr(), &*module);
        expected.retain(|entry| !(asked(entry) && done(entry) && is(entry)));
        drop(expected);
        if let Some(panic) = take(stream, &module)? {
            return Err(panic.into());
        }
        seen.push(module);
    }
}

/// The first panic that was left by a module which is `asked` for; those of contexts that are gone
/// are forgotten.
fn take_left(
    expected: &mut Vec<Expected>,
    asked: impl Fn(&Expected) -> bool,
) -> Option<KernelPanic> {
    let is_alive = |left: &Left| left.context.strong_count() > 0;
    expected.retain(|entry| entry.left.as_ref().is_none_or(is_alive));
    let found = expected.iter().position(|entry| entry.left.is_some() && asked(entry))?;
    let found = expected.swap_remove(found);
    expected.retain(|entry| !entry.module.ptr_eq(&found.module));
    found.left.map(|left| left.panic)
}

/// The panic in a module's record, which is cleared then.
fn take(stream: &CudaStream, module: &Module) -> Result<Option<KernelPanic>> {
    bind(module.context())?;
    read(stream, module)
}

/// As [`take`], where the module's context is current on this thread.
fn read(stream: &CudaStream, module: &Module) -> Result<Option<KernelPanic>> {
    let Some(address) = module.record else { return Ok(None) };
    let _alone = lock(&module.record_lock);
    let subject = || format!("the panic record of {}", module.artifact);
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
    Ok(Some(module.artifact.panic(&record)))
}
