//! Slices of buffers: a range of their elements, to read or to write.
//!
//! Guaranteed: the range is within the buffer.

use std::{
    fmt,
    marker::PhantomData,
    ops::{Bound, Range, RangeBounds},
};

use crate::{
    copy::{DeviceCopy, Pod},
    device::Device,
    error::{Error, Result},
    hal::Memory,
    trace,
};

/// Elements of a [`Buffer`](crate::Buffer) that kernels can read; `&[T]` on a device.
pub struct BufferSlice<'a, T> {
    device: &'a Device,
    memory: Option<&'a dyn Memory>,
    range: Range<usize>,
    marker: PhantomData<&'a [T]>,
}

/// Elements of a [`Buffer`](crate::Buffer) that kernels can write; `&mut [T]` on a device.
pub struct BufferSliceMut<'a, T> {
    device: &'a Device,
    memory: Option<&'a mut dyn Memory>,
    range: Range<usize>,
    marker: PhantomData<&'a mut [T]>,
}

/// The range of elements that `range` stands for among `len`.
#[track_caller]
pub(crate) fn resolve(range: &impl RangeBounds<usize>, len: usize) -> Range<usize> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    assert!(
        start <= end && end <= len,
        "range {start}..{end} is out of bounds of a buffer of {len} elements"
    );
    start..end
}

impl<'a, T> BufferSlice<'a, T> {
    pub(crate) fn new(
        device: &'a Device,
        memory: Option<&'a dyn Memory>,
        range: Range<usize>,
    ) -> Self {
        Self { device, memory, range, marker: PhantomData }
    }

    pub(crate) fn device(&self) -> &'a Device {
        self.device
    }

    pub(crate) fn memory(&self) -> Option<&'a dyn Memory> {
        self.memory
    }

    pub(crate) fn offset_bytes(&self) -> usize {
        self.range.start * size_of::<T>()
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// The elements in `range` of this slice.
    ///
    /// # Panics
    ///
    /// If `range` is not within the slice.
    #[must_use]
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Self {
        let part = resolve(&range, self.len());
        let start = self.range.start;
        Self::new(self.device, self.memory, start + part.start..start + part.end)
    }
}

impl<'a, T: Pod> BufferSlice<'a, T> {
    /// The same memory as elements of another type, whose bytes are those of these elements.
    ///
    /// # Errors
    ///
    /// [`Error::Cast`] where the memory does not begin and end between two elements of `U`, and [`Error::Misaligned`] where
    /// it is less aligned than those have to be.
    ///
    /// ```
    /// let device = kernelmill::Device::cpu()?;
    /// let bytes = device.upload(&[1u8, 0, 0, 0, 2, 0, 0, 0, 3])?;
    /// assert_eq!(bytes.slice(..8).cast::<u32>()?.download()?, [1, 2]);
    /// let error = bytes.slice(..).cast::<u32>().unwrap_err();
    /// assert!(error.to_string().starts_with("9 bytes at offset 0 of a buffer cannot be cast to `u32`"));
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    ///
    /// Not every pattern of bits is a `bool`:
    ///
    /// ```compile_fail,E0277
    /// # use kernelmill::{BufferSlice, Result};
    /// # fn f(bytes: &BufferSlice<'_, u8>) -> Result<()> {
    /// bytes.cast::<bool>()?;
    /// # Ok(()) }
    /// ```
    pub fn cast<U: Pod>(&self) -> Result<BufferSlice<'a, U>> {
        let range =
            cast_range::<T, U>(&self.range, self.memory.as_ref().map(|memory| memory.address()))?;
        Ok(BufferSlice::new(self.device, self.memory, range))
    }
}

impl<T: Pod> BufferSliceMut<'_, T> {
    /// The same memory as elements of another type, to write.
    ///
    /// # Errors
    ///
    /// As [`BufferSlice::cast`].
    ///
    /// ```
    /// let device = kernelmill::Device::cpu()?;
    /// let mut words = device.zeros::<u64>(2)?;
    /// words.slice_mut(1..).cast_mut::<f32>()?.copy_from(&[1.0, 2.0])?;
    /// assert_eq!(words.download()?, [0, 0x4000_0000_3f80_0000]);
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    pub fn cast_mut<U: Pod>(&mut self) -> Result<BufferSliceMut<'_, U>> {
        let range =
            cast_range::<T, U>(&self.range, self.memory.as_ref().map(|memory| memory.address()))?;
        let memory = self.memory.as_mut().map(|memory| &mut **memory as &mut dyn Memory);
        Ok(BufferSliceMut::new(self.device, memory, range))
    }
}

/// The elements of `U` in the bytes of elements of `T`, in the memory at an address.
fn cast_range<T, U>(range: &Range<usize>, address: Option<u64>) -> Result<Range<usize>> {
    let (bytes, size) = (range.start * size_of::<T>()..range.end * size_of::<T>(), size_of::<U>());
    let is_whole = |bytes: usize| bytes.checked_rem(size) == Some(0);
    if !is_whole(bytes.start) || !is_whole(bytes.len()) {
        let (offset, bytes) = (bytes.start, bytes.len());
        return Err(Error::Cast { offset, bytes, element: std::any::type_name::<U>(), size });
    }
    // Elements of `T` may have let the memory lie less aligned.
    let address = address.map_or(0, |address| address + bytes.start as u64);
    if !address.is_multiple_of(align_of::<U>() as u64) {
        let alignment = align_of::<U>();
        return Err(Error::Misaligned { subject: "a slice to cast", address, alignment });
    }
    Ok(bytes.start / size..bytes.end / size)
}

impl<T: DeviceCopy> BufferSlice<'_, T> {
    /// Copies the elements to the host; see [`Buffer::download`](crate::Buffer::download).
    ///
    /// # Errors
    ///
    /// As [`Buffer::download`](crate::Buffer::download).
    pub fn download(&self) -> Result<Vec<T>> {
        let mut elements = Vec::with_capacity(self.len());
        // SAFETY: the vector has room for that many elements, and after the copy they are there.
        unsafe {
            self.read(elements.as_mut_ptr())?;
            elements.set_len(self.len());
        }
        Ok(elements)
    }

    /// Copies the elements into `target`; see [`Buffer::copy_to`](crate::Buffer::copy_to).
    ///
    /// # Errors
    ///
    /// As [`Buffer::copy_to`](crate::Buffer::copy_to).
    pub fn copy_to(&self, target: &mut [T]) -> Result<()> {
        check_lengths("copy_to", self.len(), target.len())?;
        // SAFETY: the lengths are equal.
        unsafe { self.read(target.as_mut_ptr()) }
    }

    /// # Safety
    ///
    /// `target` has room for all elements.
    unsafe fn read(&self, target: *mut T) -> Result<()> {
        let bytes = self.len() * size_of::<T>();
        let _span = trace::copy("download", bytes, self.device);
        // SAFETY: the range is within the memory, the target is promised.
        self.memory.map_or(Ok(()), |memory| unsafe {
            memory.read(self.offset_bytes(), target.cast(), bytes)
        })
    }
}

impl<'a, T> BufferSliceMut<'a, T> {
    pub(crate) fn new(
        device: &'a Device,
        memory: Option<&'a mut dyn Memory>,
        range: Range<usize>,
    ) -> Self {
        Self { device, memory, range, marker: PhantomData }
    }

    pub(crate) fn offset_bytes(&self) -> usize {
        self.range.start * size_of::<T>()
    }

    pub(crate) fn device(&self) -> &'a Device {
        self.device
    }

    pub(crate) fn memory(&self) -> Option<&dyn Memory> {
        self.memory.as_deref()
    }

    pub(crate) fn into_parts(self) -> (&'a Device, Option<&'a mut dyn Memory>) {
        (self.device, self.memory)
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// The elements in `range` of this slice, to read.
    ///
    /// # Panics
    ///
    /// If `range` is not within the slice.
    #[must_use]
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> BufferSlice<'_, T> {
        let part = resolve(&range, self.len());
        let start = self.range.start;
        let memory = self.memory.as_ref().map(|memory| &**memory as &dyn Memory);
        BufferSlice::new(self.device, memory, start + part.start..start + part.end)
    }

    /// The elements in `range` of this slice, to write.
    ///
    /// # Panics
    ///
    /// If `range` is not within the slice.
    #[must_use]
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> BufferSliceMut<'_, T> {
        let part = resolve(&range, self.len());
        let start = self.range.start;
        let memory = self.memory.as_mut().map(|memory| &mut **memory as &mut dyn Memory);
        BufferSliceMut::new(self.device, memory, start + part.start..start + part.end)
    }
}

impl<T: DeviceCopy> BufferSliceMut<'_, T> {
    /// Copies `source` into the elements; see [`Buffer::copy_from`](crate::Buffer::copy_from).
    ///
    /// # Errors
    ///
    /// As [`Buffer::copy_from`](crate::Buffer::copy_from).
    pub fn copy_from(&mut self, source: &[T]) -> Result<()> {
        check_lengths("copy_from", self.len(), source.len())?;
        let offset = self.offset_bytes();
        let _span = trace::copy("copy_from", size_of_val(source), self.device);
        match &mut self.memory {
            Some(memory) if !source.is_empty() => {
                // SAFETY: the range is within the memory, and `source` is as long.
                unsafe { memory.write(offset, source.as_ptr().cast(), size_of_val(source)) }
            }
            _ => Ok(()),
        }
    }
}

impl<T> Clone for BufferSlice<'_, T> {
    fn clone(&self) -> Self {
        Self::new(self.device, self.memory, self.range.clone())
    }
}

impl<T> fmt::Debug for BufferSlice<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BufferSlice").field("range", &self.range).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for BufferSliceMut<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BufferSliceMut").field("range", &self.range).finish_non_exhaustive()
    }
}

fn check_lengths(operation: &'static str, buffer: usize, host: usize) -> Result<()> {
    if buffer == host { Ok(()) } else { Err(Error::LengthMismatch { operation, buffer, host }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cast_needs_whole_aligned_elements() {
        assert_eq!(cast_range::<u8, u32>(&(4..12), Some(128)).unwrap(), 1..3);
        assert_eq!(cast_range::<[u16; 3], u8>(&(1..3), Some(128)).unwrap(), 6..18);
        assert_eq!(cast_range::<u64, f64>(&(2..2), None).unwrap(), 2..2);
        for range in [4..11, 2..10, 0..1] {
            let error = cast_range::<u8, u32>(&range, Some(128)).unwrap_err();
            assert!(matches!(error, Error::Cast { size: 4, .. }), "{error}");
        }
        let nothing = cast_range::<u8, [u8; 0]>(&(0..8), Some(128)).unwrap_err();
        assert!(matches!(nothing, Error::Cast { size: 0, .. }), "{nothing}");
        // Memory beside a guard page is as aligned as its elements.
        let error = cast_range::<u8, u64>(&(0..8), Some(132)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a slice to cast is at the address 0x84, but its elements must be aligned to 8 bytes"
        );
    }
}
