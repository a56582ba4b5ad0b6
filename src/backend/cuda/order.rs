//! The order of launches that use slices of cudarc's, and the stream that a launch is on.
//!
//! cudarc keeps the order between the streams of one `CudaContext` with two events a slice; what it
//! does not order is waited for here. Guaranteed: a launch sees what was queued before it on every
//! stream that used its memory, and what is queued later waits for all launches that read it.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut, SyncOnDrop};

use super::{capture::refuse_capture, driver::named, stream::Stream};
use crate::{
    error::{Error, Result},
    hal::{Guard, StreamRef},
};

/// What is done when a launch that uses memory is queued.
struct Queued<'a, E> {
    /// Records an event.
    _event: E,
    /// Dropped after that.
    _wait: Wait<'a>,
}

/// Records an event for a launch that reads, beside those that the event was recorded for before.
///
/// cudarc keeps one event for all readers of a slice. Were it only recorded again, nothing would wait
/// for the readers on other streams; so this stream waits for them behind the launch.
struct Reads<'a>(SyncOnDrop<'a>);

impl Drop for Reads<'_> {
    fn drop(&mut self) {
        let SyncOnDrop::Record(Some((event, stream))) = &self.0 else { return };
        let context = stream.context();
        if context.is_managing_stream_synchronization()
            && let Err(error) = stream.wait(event)
            && event.synchronize().is_err()
        {
            context.record_err(Err::<(), _>(error));
        }
    }
}

/// Waits for a stream, if for any, when this is dropped.
struct Wait<'a>(Option<&'a CudaStream>);

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        drop(self.0.map(SyncOnDrop::sync_stream));
    }
}

/// cudarc's stream behind `stream`.
pub(super) fn cuda_stream(stream: StreamRef<'_>) -> Result<&Arc<CudaStream>> {
    stream.downcast::<Stream>().map(Stream::cudarc).ok_or_else(|| wrong_device(stream))
}

/// The stream of a launch, of which the calling thread has the context current.
///
/// # Errors
///
/// [`Error::Capturing`] for one that is captured into a graph: the launch would be recorded, and done
/// with memory that may be gone by then.
pub(super) fn launch_stream(stream: StreamRef<'_>) -> Result<&Arc<CudaStream>> {
    let own = stream.downcast::<Stream>().ok_or_else(|| wrong_device(stream))?;
    // Nobody but this crate can use a stream that was never given away.
    if own.is_public() {
        refuse_capture(own.cudarc(), "a launch")?;
    }
    Ok(own.cudarc())
}

/// The address of memory that is read on `stream`.
pub(super) fn hold_read<'a, T>(
    memory: &'a impl DevicePtr<T>,
    stream: &'a Arc<CudaStream>,
) -> Result<(u64, Guard<'a>)> {
    let waits = bracket(memory.stream(), stream)?;
    let (address, event) = memory.device_ptr(stream);
    Ok((address, queued(Reads(event), waits.then_some(stream))))
}

/// The address of memory that is written on `stream`.
pub(super) fn hold_write<'a, T>(
    memory: &'a mut impl DevicePtrMut<T>,
    stream: &'a Arc<CudaStream>,
) -> Result<(u64, Guard<'a>)> {
    let waits = bracket(memory.stream(), stream)?;
    let (address, event) = memory.device_ptr_mut(stream);
    Ok((address, queued(event, waits.then_some(stream))))
}

fn queued<'a, E: 'a>(event: E, wait: Option<&'a Arc<CudaStream>>) -> Guard<'a> {
    Guard::keeping(Queued { _event: event, _wait: Wait(wait.map(|stream| &**stream)) })
}

/// Whether memory and stream are of two `CudaContext`s, which keep no order between them though
/// the context behind them is one: then everything before the launch is waited for here, and the
/// launch itself when it is queued.
fn bracket(owner: &Arc<CudaStream>, stream: &Arc<CudaStream>) -> Result<bool> {
    if Arc::ptr_eq(owner.context(), stream.context()) {
        return Ok(false);
    }
    let subject = || "the order between two CudaContexts".to_owned();
    named(owner.context().synchronize(), "cuCtxSynchronize", subject)?;
    Ok(true)
}

/// The error of memory that is used on a stream of another device.
pub(super) fn wrong_device(stream: StreamRef<'_>) -> Error {
    Error::WrongDevice {
        subject: "a CudaSlice".to_owned(),
        found: "another CUDA context".to_owned(),
        expected: stream.describe().to_owned(),
    }
}
