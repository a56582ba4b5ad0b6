//! cudarc's own slices and streams as arguments of launches.

use std::sync::Arc;

use cudarc::driver::{
    CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop,
};

use super::driver::named;
use crate::{
    DeviceCopy, Error, LaunchStream, ReadSlice, Result, WriteSlice,
    argument::{Held, sealed::Sealed},
    backend::{Guard, StreamKind, StreamRef},
};

impl Sealed for Arc<CudaStream> {}

impl LaunchStream for Arc<CudaStream> {
    fn stream(&self) -> StreamRef<'_> {
        StreamRef(StreamKind::Cudarc(self))
    }
}

/// cudarc's stream behind `stream`.
pub(super) fn cuda_stream(stream: StreamRef<'_>) -> Result<&Arc<CudaStream>> {
    stream.cuda().ok_or_else(|| wrong_device(stream))
}

/// The address of memory that is read on `stream`.
pub(super) fn hold_read<'a, T>(
    memory: &'a impl DevicePtr<T>,
    stream: &'a Arc<CudaStream>,
) -> Result<(u64, Guard<'a>)> {
    let waits = bracket(memory.stream(), stream)?;
    let (address, order) = memory.device_ptr(stream);
    Ok((
        address,
        Guard::Cuda { _order: order, _wait: waits.then(|| SyncOnDrop::sync_stream(stream)) },
    ))
}

/// The address of memory that is written on `stream`.
pub(super) fn hold_write<'a, T>(
    memory: &'a mut impl DevicePtrMut<T>,
    stream: &'a Arc<CudaStream>,
) -> Result<(u64, Guard<'a>)> {
    let waits = bracket(memory.stream(), stream)?;
    let (address, order) = memory.device_ptr_mut(stream);
    Ok((
        address,
        Guard::Cuda { _order: order, _wait: waits.then(|| SyncOnDrop::sync_stream(stream)) },
    ))
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

/// Checks that a slice of cudarc's can be used on `stream`.
fn check<'s>(owner: &Arc<CudaStream>, stream: StreamRef<'s>) -> Result<&'s Arc<CudaStream>> {
    let cuda = cuda_stream(stream)?;
    if cuda.context().cu_ctx() == owner.context().cu_ctx() {
        return Ok(cuda);
    }
    Err(wrong_device(stream))
}

fn wrong_device(stream: StreamRef<'_>) -> Error {
    Error::WrongDevice {
        subject: "a CudaSlice".to_owned(),
        found: "another CUDA context".to_owned(),
        expected: stream.describe().to_owned(),
    }
}

macro_rules! reads {
    ($($slice:ty),*) => {$(
        impl<T> Sealed for &$slice {}

        impl<T: DeviceCopy> ReadSlice<T> for &$slice {
            fn hold<'s>(self, stream: StreamRef<'s>) -> Result<Held<'s, T>>
            where
                Self: 's,
            {
                let cuda = check(DeviceSlice::stream(self), stream)?;
                let (address, guard) = hold_read(self, cuda)?;
                Ok(Held::new(address, self.len(), guard))
            }
        }
    )*};
}

macro_rules! writes {
    ($($slice:ty),*) => {$(
        impl<T> Sealed for &mut $slice {}

        impl<T: DeviceCopy> WriteSlice<T> for &mut $slice {
            fn hold<'s>(self, stream: StreamRef<'s>) -> Result<Held<'s, T>>
            where
                Self: 's,
            {
                let cuda = check(DeviceSlice::stream(self), stream)?;
                let len = self.len();
                let (address, guard) = hold_write(self, cuda)?;
                Ok(Held::new(address, len, guard))
            }
        }
    )*};
}

reads!(CudaSlice<T>, CudaView<'_, T>, CudaViewMut<'_, T>);
writes!(CudaSlice<T>, CudaViewMut<'_, T>);
