//! Kernel arguments: what launch wrappers take, and how it becomes the words that a kernel is given.
//!
//! Memory is held for the launch, so that the back end can order it after what else uses the memory.
//! Guaranteed: what is held is on the stream's device.

use std::{marker::PhantomData, sync::Arc};

use crate::{
    buffer::Buffer,
    copy::DeviceCopy,
    device::Device,
    error::{Error, Result},
    hal::{AsyncError, ErrorSlot, Guard, StreamRef},
    preparation::Preparation,
    slice::{BufferSlice, BufferSliceMut},
    tensor_map::{TensorMap, TensorMapMut},
};

pub use kernelmill_artifact::MAX_ARGUMENTS;
use kernelmill_artifact::TensorMapData;

/// What stands for the address of no elements: kernels in Rust want one that is aligned, and not null.
const fn no_address<T>() -> u64 {
    let alignment = align_of::<T>() as u64;
    if alignment > 128 { alignment } else { 128 }
}

pub(crate) mod sealed {
    /// Only this crate implements the traits that launch wrappers are generic over.
    pub trait Sealed {}
}

/// A stream that kernels can be launched on: [`Stream`](crate::Stream).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a stream that kernels are launched on",
    label = "a launch takes a stream first: `&device.stream()`"
)]
pub trait LaunchStream: sealed::Sealed {
    #[doc(hidden)]
    fn stream(&self) -> StreamRef<'_>;
}

/// Elements in device memory that a kernel reads: [`&Buffer<T>`](Buffer) and
/// [`&BufferSlice<T>`](BufferSlice) and, with the feature `cuda`, slices of cudarc's in a `CudarcSlice`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not device memory that a kernel reads as elements of type `{T}`",
    label = "write a reference to a buffer, of type `&Buffer<{T}>`",
    note = "`device.upload(&elements)?` copies elements of the host into a buffer"
)]
pub trait ReadSlice<T: DeviceCopy>: sealed::Sealed {
    #[doc(hidden)]
    fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
    where
        Self: 's;
}

/// Elements in device memory that a kernel writes: [`&mut Buffer<T>`](Buffer) and
/// [`&mut BufferSliceMut<T>`](BufferSliceMut) and, with the feature `cuda`, mutable slices of cudarc's in a
/// `CudarcSlice`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not device memory that a kernel writes as elements of type `{T}`",
    label = "write a mutable reference to a buffer, of type `&mut Buffer<{T}>`",
    note = "`device.upload(&elements)?` copies elements of the host into a buffer, and `download` copies them back"
)]
pub trait WriteSlice<T: DeviceCopy>: sealed::Sealed {
    #[doc(hidden)]
    fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
    where
        Self: 's;
}

/// Elements in device memory, held for a launch: drop it after the launch.
pub struct Held<'s, T> {
    address: u64,
    len: usize,
    guard: Guard<'s>,
    marker: PhantomData<&'s T>,
}

impl<'s, T> Held<'s, T> {
    /// Nothing yet: what holds memory does so in place, as the guard is too large to be moved for each argument.
    pub(crate) const fn nothing() -> Self {
        Self { address: no_address::<T>(), len: 0, guard: Guard::Nothing, marker: PhantomData }
    }

    /// Takes the elements at an address, or those that take no memory.
    pub(crate) fn set(&mut self, address: Option<u64>, len: usize) {
        let address = address.filter(|_| len > 0);
        (self.address, self.len) = (address.unwrap_or(no_address::<T>()), len);
    }

    /// Where what is kept of the memory goes.
    #[cfg_attr(
        not(feature = "cuda"),
        allow(dead_code, reason = "only cudarc's slices are held from outside")
    )]
    pub(crate) fn guard(&mut self) -> &mut Guard<'s> {
        &mut self.guard
    }

    /// Takes elements of a buffer of `device`, whose memory is held where there is any, or is noted where a launch is
    /// prepared.
    fn set_buffer<M>(
        &mut self,
        device: &Device,
        stream: &StreamRef<'s>,
        (offset, len, memory): (usize, usize, Option<M>),
        hold: impl FnOnce(M, &StreamRef<'s>, &mut Guard<'s>) -> Result<u64>,
        note: impl FnOnce(M, &Preparation) -> u64,
    ) -> Result<()> {
        let (preparation, others);
        let (preparation, stream) = if stream.is_for_launches_in(device.context()) {
            (None, stream)
        } else {
            (preparation, others) = (preparation_on(device, *stream, len)?, stream.for_others());
            (preparation, &others)
        };
        let address = match (memory, preparation) {
            (None, _) => None,
            (Some(memory), Some(preparation)) => Some(note(memory, preparation)),
            (Some(memory), None) => Some(hold(memory, stream, &mut self.guard)?),
        };
        self.set(address.map(|address| address + offset as u64), len);
        if let Some(preparation) = preparation {
            preparation.note_slice(self.address, len);
        }
        Ok(())
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T> std::fmt::Debug for Held<'_, T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Held").field("len", &self.len).finish_non_exhaustive()
    }
}

/// A tensor map, held for a launch: drop it after the launch.
pub struct HeldMap<'s, T> {
    held: Held<'s, T>,
    data: TensorMapData,
}

impl<T> std::fmt::Debug for HeldMap<'_, T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("HeldMap").field("data", &self.data).finish_non_exhaustive()
    }
}

/// The argument for a kernel's tensor map: `&TensorMap` where it reads, `&mut TensorMapMut` where it
/// writes.
pub trait TensorMapArgument: sealed::Sealed {
    /// An element of the tensor.
    type Element;

    #[doc(hidden)]
    fn hold<'s>(self, stream: &StreamRef<'s>) -> Result<HeldMap<'s, Self::Element>>
    where
        Self: 's;
}

/// One argument of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    kind: Kind,
    errors: Option<&'a ErrorSlot>,
    marker: PhantomData<&'a ()>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Value { address: *const u8, bytes: usize },
    Slice { address: u64, len: u64 },
    Pointer { address: u64, bytes: u64 },
}

impl<'a> Argument<'a> {
    /// The place of an argument.
    pub(crate) const NOTHING: Self =
        Self { kind: Kind::Pointer { address: 0, bytes: 0 }, errors: None, marker: PhantomData };

    /// A scalar or a struct, by value.
    #[must_use]
    pub fn value<T: DeviceCopy>(value: &'a T) -> Self {
        let kind = Kind::Value { address: std::ptr::from_ref(value).cast(), bytes: size_of::<T>() };
        Self { kind, errors: None, marker: PhantomData }
    }

    /// The address and the number of elements.
    #[must_use]
    pub fn slice<T>(held: &'a Held<'_, T>) -> Self {
        let kind = Kind::Slice { address: held.address, len: held.len as u64 };
        Self { kind, errors: held.guard.errors(), marker: PhantomData }
    }

    /// The address; null where there are no elements. The size comes after all arguments, for kernels
    /// that a plugin of the compiler has made to ask for it.
    #[must_use]
    pub fn pointer<T>(held: &'a Held<'_, T>) -> Self {
        let address = if held.is_empty() { 0 } else { held.address };
        let bytes = (held.len * size_of::<T>()) as u64;
        Self {
            kind: Kind::Pointer { address, bytes },
            errors: held.guard.errors(),
            marker: PhantomData,
        }
    }

    /// What the device reads of a tensor map.
    #[must_use]
    pub fn tensor_map<T>(map: &'a HeldMap<'_, T>) -> Self {
        let address = std::ptr::from_ref(&map.data).cast();
        let kind = Kind::Value { address, bytes: size_of::<TensorMapData>() };
        Self { kind, errors: map.held.guard.errors(), marker: PhantomData }
    }

    /// What it is.
    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Keeps the error of a launch that has run already with the memory of this argument.
    pub(crate) fn keep(&self, error: &Arc<AsyncError>) {
        if let Some(slot) = self.errors {
            slot.keep(error);
        }
    }
}

/// Elements that a prepared launch holds already: an argument of a wrapper that sets its scalars.
#[derive(Clone, Copy, Debug)]
pub struct PreparedSlice {
    /// Their address, as [`Held`] has it.
    pub(crate) address: u64,
    pub(crate) len: usize,
}

impl sealed::Sealed for PreparedSlice {}

impl<T: DeviceCopy> ReadSlice<T> for PreparedSlice {
    fn hold<'s>(self, _: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
    where
        Self: 's,
    {
        (held.address, held.len) = (self.address, self.len);
        Ok(())
    }
}

impl<T: DeviceCopy> WriteSlice<T> for PreparedSlice {
    fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
    where
        Self: 's,
    {
        ReadSlice::hold(self, stream, held)
    }
}

impl<T> sealed::Sealed for &Buffer<T> {}
impl<T> sealed::Sealed for &mut Buffer<T> {}
impl<T> sealed::Sealed for &BufferSlice<'_, T> {}
impl<T> sealed::Sealed for &mut BufferSliceMut<'_, T> {}

impl<T: DeviceCopy> ReadSlice<T> for &Buffer<T> {
    fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
    where
        Self: 's,
    {
        hold(self.slice(..), stream, held)
    }
}

impl<T: DeviceCopy> ReadSlice<T> for &BufferSlice<'_, T> {
    fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
    where
        Self: 's,
    {
        hold(self.clone(), stream, held)
    }
}

impl<T: DeviceCopy> WriteSlice<T> for &mut Buffer<T> {
    fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
    where
        Self: 's,
    {
        hold_mut(self.slice_mut(..), stream, held)
    }
}

impl<T: DeviceCopy> WriteSlice<T> for &mut BufferSliceMut<'_, T> {
    fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
    where
        Self: 's,
    {
        hold_mut(self.slice_mut(..), stream, held)
    }
}

impl<T, const D: usize> sealed::Sealed for &TensorMap<'_, T, D> {}
impl<T, const D: usize> sealed::Sealed for &mut TensorMapMut<'_, T, D> {}

impl<T: DeviceCopy, const D: usize> TensorMapArgument for &TensorMap<'_, T, D> {
    type Element = T;

    fn hold<'s>(self, stream: &StreamRef<'s>) -> Result<HeldMap<'s, T>>
    where
        Self: 's,
    {
        let (slice, data) = self.parts();
        let mut held = Held::nothing();
        hold(slice, stream, &mut held)?;
        Ok(HeldMap { held, data })
    }
}

impl<T: DeviceCopy, const D: usize> TensorMapArgument for &mut TensorMapMut<'_, T, D> {
    type Element = T;

    fn hold<'s>(self, stream: &StreamRef<'s>) -> Result<HeldMap<'s, T>>
    where
        Self: 's,
    {
        let (slice, data) = self.parts();
        let mut held = Held::nothing();
        hold_mut(slice, stream, &mut held)?;
        Ok(HeldMap { held, data })
    }
}

fn hold<'s, T: DeviceCopy>(
    slice: BufferSlice<'s, T>,
    stream: &StreamRef<'s>,
    held: &mut Held<'s, T>,
) -> Result<()> {
    let place = (slice.offset_bytes(), slice.len(), slice.memory());
    held.set_buffer(
        slice.device(),
        stream,
        place,
        |memory, stream, guard| memory.hold_read(stream, guard),
        |memory, preparation| {
            preparation.read(memory);
            memory.address()
        },
    )
}

fn hold_mut<'s, T: DeviceCopy>(
    slice: BufferSliceMut<'s, T>,
    stream: &StreamRef<'s>,
    held: &mut Held<'s, T>,
) -> Result<()> {
    let (offset, len) = (slice.offset_bytes(), slice.len());
    let (device, memory) = slice.into_parts();
    held.set_buffer(
        device,
        stream,
        (offset, len, memory),
        |memory, stream, guard| memory.hold_write(stream, guard),
        |memory, preparation| {
            let address = memory.address();
            preparation.write(memory);
            address
        },
    )
}

/// Looks whether a buffer of `device` can be used on a stream; the preparation that this is, if it is one.
fn preparation_on<'s>(
    device: &Device,
    stream: StreamRef<'s>,
    len: usize,
) -> Result<Option<&'s Preparation>> {
    if !stream.is_recording() {
        let is_accepted = device.context().accepts(&stream);
        return if is_accepted { Ok(None) } else { Err(wrong_device(device, stream, len)) };
    }
    match stream.downcast::<Preparation>() {
        None => Err(Error::NotInGraph { subject: format!("a buffer of {len} elements") }),
        Some(preparation) if preparation.is_for(device.context().id()) => Ok(Some(preparation)),
        Some(_) => Err(wrong_device(device, stream, len)),
    }
}

#[cold]
fn wrong_device(device: &Device, stream: StreamRef<'_>, len: usize) -> Error {
    Error::WrongDevice {
        subject: format!("a buffer of {len} elements"),
        found: device.to_string(),
        expected: stream.describe().to_owned(),
    }
}
