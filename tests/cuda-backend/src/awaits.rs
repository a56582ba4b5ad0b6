//! Futures of streams, events and downloads, and slices that are cast, on a device. `hip-backend`, `wgsl`, the suite of
//! `mixed-sources` and the run time's own tests, for queued launches on the CPU, have this file too.

use std::{
    fmt::Debug,
    future::{Future, IntoFuture as _},
    pin::pin,
    task::{Context, Waker},
    thread,
};

use kernelmill::{BufferSliceMut, Device, Error, Pod, Stream};

use super::executor::block_on;

/// Elements of each buffer.
const LEN: usize = 64;

/// Waits in tasks for launches of a kernel that adds 1 to each element, `increment`.
///
/// # Panics
///
/// Where one of the waits fails or is over before the work is done.
pub fn awaits<T: Pod + From<u8> + PartialEq + Debug + Send>(
    device: &Device,
    increment: impl Fn(&Stream, &mut BufferSliceMut<'_, T>),
) {
    let all = |value: u8| vec![T::from(value); LEN];
    let (stream, other) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    block_on(&stream).unwrap();
    let mut y = device.upload(&all(0)).unwrap();
    increment(&stream, &mut y.slice_mut(..));
    let event = stream.record().unwrap();
    block_on(&event).unwrap();
    assert!(event.is_complete().unwrap());
    increment(&stream, &mut y.slice_mut(..));
    block_on(&stream).unwrap();
    // A download has what was launched before it, and its own memory.
    let early = y.download_async(&stream).unwrap();
    increment(&stream, &mut y.slice_mut(..));
    let part = y.slice(3..5).download_async(&stream).unwrap();
    increment(&other, &mut y.slice_mut(..));
    // One that nobody waits for.
    drop(y.download_async(&other).unwrap());
    let mut polled = pin!((&other).into_future());
    if polled.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        block_on(polled).unwrap();
    }
    assert_eq!(block_on(early).unwrap(), all(2));
    // On a thread that knows nothing of the device.
    let part = thread::spawn(move || block_on(part)).join().unwrap().unwrap();
    assert_eq!(part, all(3)[..2]);
    let last = y.download_async(&other).unwrap();
    drop(y);
    assert_eq!(block_on(last).unwrap(), all(4));
    casts(device, &stream, increment);
}

/// A kernel gets a part of a buffer of bytes, as elements of its own.
fn casts<T: Pod + From<u8> + PartialEq + Debug>(
    device: &Device,
    stream: &Stream,
    increment: impl Fn(&Stream, &mut BufferSliceMut<'_, T>),
) {
    let size = size_of::<T>();
    let mut bytes = device.zeros::<u8>(3 * LEN * size).unwrap();
    let middle = LEN * size..2 * LEN * size;
    increment(stream, &mut bytes.slice_mut(middle.clone()).cast_mut::<T>().unwrap());
    let found = bytes.slice(middle.clone()).cast::<T>().unwrap().download().unwrap();
    assert_eq!(found, vec![T::from(1); LEN]);
    let all = bytes.download().unwrap();
    let mut outside = all[..middle.start].iter().chain(&all[middle.end..]);
    assert!(outside.all(|byte| *byte == 0));
    assert!(all[middle].iter().any(|byte| *byte != 0));
    for range in [0..size + 1, 1..size + 1] {
        let refused = bytes.slice(range).cast::<T>().unwrap_err();
        assert!(matches!(refused, Error::Cast { .. }), "{refused}");
    }
}
