//! Buffers: device memory with a length and a type.

use std::{fmt, marker::PhantomData, ops::RangeBounds};

use crate::{
    aligned::Aligned,
    copy::DeviceCopy,
    device::Device,
    error::{Error, Result},
    hal::Memory,
    slice::{BufferSlice, BufferSliceMut, resolve},
    trace,
};

/// `len` elements of `T` in the memory of a device; freed when dropped, after the launches that
/// use it.
///
/// Made by [`Device::upload`] and [`Device::zeros`]. Empty buffers are fine everywhere. On the CPU
/// the memory is the host's. It is aligned to 128 bytes, or as `T` is where that is more.
///
/// ```
/// let device = kernelmill::Device::cpu()?;
/// let mut buffer = device.zeros::<u32>(4)?;
/// buffer.slice_mut(1..3).copy_from(&[7, 8])?;
/// assert_eq!(buffer.download()?, [0, 7, 8, 0]);
/// # Ok::<(), kernelmill::Error>(())
/// ```
pub struct Buffer<T> {
    device: Device,
    /// `None`: no bytes.
    memory: Option<Box<dyn Memory>>,
    len: usize,
    marker: PhantomData<T>,
}

impl Device {
    /// Copies `data` into a new buffer. Returns when `data` can be changed again.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or what the driver reports.
    ///
    /// ```
    /// let x = kernelmill::Device::cpu()?.upload(&[1.0f32; 1000])?;
    /// assert_eq!(x.len(), 1000);
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    pub fn upload<T: DeviceCopy>(&self, data: &[T]) -> Result<Buffer<T>> {
        Buffer::upload(self, data)
    }

    /// A new buffer of `n` elements whose bytes are all zero. It does not compile for types of kernels
    /// of which zeros may be no value: structs with private fields, enums without a variant that is 0.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or what the driver reports.
    pub fn zeros<T: DeviceCopy>(&self, n: usize) -> Result<Buffer<T>> {
        const {
            assert!(
                T::ZERO_IS_VALUE,
                "zero bytes may not be a valid value of this type in the kernels: upload values"
            )
        };
        Buffer::zeros(self, n)
    }
}

impl<T: DeviceCopy> Buffer<T> {
    pub(crate) fn upload(device: &Device, data: &[T]) -> Result<Self> {
        let _span = trace::copy("upload", size_of_val(data), device);
        let source = data.as_ptr().cast();
        let memory = match size_of_val(data) {
            0 => None,
            bytes if Aligned::is_needed::<T>() => {
                let mut memory = Aligned::zeros::<T>(device, bytes)?;
                // SAFETY: `data` is that many bytes, and so is the memory.
                unsafe { memory.write(0, source, bytes)? };
                Some(memory)
            }
            // SAFETY: `data` is that many bytes.
            bytes => Some(unsafe { device.context().upload(source, bytes)? }),
        };
        Ok(Self { device: device.clone(), memory, len: data.len(), marker: PhantomData })
    }

    pub(crate) fn zeros(device: &Device, len: usize) -> Result<Self> {
        let Some(bytes) = len.checked_mul(size_of::<T>()) else {
            return Err(Error::OutOfMemory { device: device.name().to_owned(), bytes: usize::MAX });
        };
        let memory = match bytes {
            0 => None,
            _ if Aligned::is_needed::<T>() => Some(Aligned::zeros::<T>(device, bytes)?),
            _ => Some(device.context().zeros(bytes)?),
        };
        Ok(Self { device: device.clone(), memory, len, marker: PhantomData })
    }

    /// Copies all elements to the host, after waiting for the launches that write them.
    ///
    /// # Errors
    ///
    /// The first error of a launch that used the buffer, a kernel panic among them, if it was not
    /// reported before; or what the driver reports. GPUs cannot tell whose panic it was: there it
    /// is the first of any launch.
    pub fn download(&self) -> Result<Vec<T>> {
        self.slice(..).download()
    }

    /// Copies `source` into the buffer. Returns when `source` can be changed again.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] where the lengths differ, or what the driver reports.
    pub fn copy_from(&mut self, source: &[T]) -> Result<()> {
        self.slice_mut(..).copy_from(source)
    }

    /// Copies all elements into `target`, after waiting for the launches that write them.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] where the lengths differ, or as [`Buffer::download`].
    pub fn copy_to(&self, target: &mut [T]) -> Result<()> {
        self.slice(..).copy_to(target)
    }
}

impl<T> Buffer<T> {
    /// A buffer of `len` elements in this memory.
    pub(crate) fn from_parts(device: &Device, memory: Option<Box<dyn Memory>>, len: usize) -> Self {
        Self { device: device.clone(), memory, len, marker: PhantomData }
    }

    /// Its memory, and the number of elements.
    pub(crate) fn into_parts(self) -> (Option<Box<dyn Memory>>, usize) {
        (self.memory, self.len)
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

    /// The device whose memory it is.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The elements in `range`, as an argument for kernels that read.
    ///
    /// # Panics
    ///
    /// If `range` is not within the buffer, as for slices of the host.
    #[must_use]
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> BufferSlice<'_, T> {
        let range = resolve(&range, self.len);
        BufferSlice::new(&self.device, self.memory.as_deref(), range)
    }

    /// The elements in `range`, as an argument for kernels that write.
    ///
    /// # Panics
    ///
    /// If `range` is not within the buffer, as for slices of the host.
    #[must_use]
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> BufferSliceMut<'_, T> {
        let range = resolve(&range, self.len);
        let memory = self.memory.as_mut().map(|memory| &mut **memory as &mut dyn Memory);
        BufferSliceMut::new(&self.device, memory, range)
    }
}

impl<'a, T> From<&'a Buffer<T>> for BufferSlice<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        buffer.slice(..)
    }
}

impl<'a, T> From<&'a mut Buffer<T>> for BufferSliceMut<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        buffer.slice_mut(..)
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Buffer")
            .field("element", &std::any::type_name::<T>())
            .field("len", &self.len)
            .field("device", &self.device.name())
            .finish_non_exhaustive()
    }
}
