//! What crosses the boundary to C: pointers, and the structures of `cuda.h`.
//!
//! [`Out`], [`In`] and [`Text`] are made by C callers only, as arguments. `cuda.h` promises that
//! they are null or point to what their type says, so that reading and writing through them, the
//! only unsafe thing in most functions, is written down here and nowhere else.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    marker::PhantomData,
};

use crate::base::error::{Error, Result};

/// Where a C caller wants a value: null, or writable.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Writes the value; [`Error::CUDA_ERROR_INVALID_VALUE`] where the pointer is null.
    pub(crate) fn set(self, value: T) -> Result<()> {
        if self.0.is_null() {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: not null, so writable, as the type promises.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// Writes the value, where the pointer is not null.
    pub(crate) fn set_if_wanted(self, value: T) {
        // An output that the caller does not want is not an error.
        let _ = self.set(value);
    }

    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Fails where the pointer is null, before anything is done that would have to be undone.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.is_null() { Err(Error::CUDA_ERROR_INVALID_VALUE) } else { Ok(()) }
    }

    /// Where the elements of an array of `count` elements are wanted.
    pub(crate) fn elements(self, count: usize) -> impl Iterator<Item = Self> {
        // SAFETY: the caller has passed an array of at least `count` elements.
        (0..count).map(move |index| Self(unsafe { self.0.add(index) }))
    }

    /// The same address for values of another type.
    pub(crate) fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// The address, for bytes that are written later.
    pub(crate) fn address(self) -> usize {
        self.0 as usize
    }
}

impl Out<c_char> {
    /// Writes a string with its zero into a buffer of `room` bytes, as much of it as fits.
    pub(crate) fn set_text(self, text: &str, room: usize) -> Result<()> {
        let Some(most) = room.checked_sub(1) else { return Err(Error::CUDA_ERROR_INVALID_VALUE) };
        let bytes = text.bytes().take(most).chain([0]);
        let mut targets = self.elements(room);
        bytes.zip(&mut targets).try_for_each(|(byte, target)| target.set(byte as c_char))
    }
}

/// Where a C caller has a value: null, or readable.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// No value.
    pub(crate) fn null() -> Self {
        Self(std::ptr::null())
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Reads the value; [`Error::CUDA_ERROR_INVALID_VALUE`] where the pointer is null.
    pub(crate) fn get(self) -> Result<T> {
        if self.0.is_null() {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: not null, so readable, as the type promises.
        Ok(unsafe { self.0.read() })
    }

    /// Reads element `index` of an array.
    pub(crate) fn element(self, index: usize) -> Result<T> {
        if self.0.is_null() {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: the caller has passed an array with that element.
        Self(unsafe { self.0.add(index) }).get()
    }

    /// Reads an array of `count` elements.
    pub(crate) fn elements(self, count: usize) -> Result<Vec<T>> {
        (0..count).map(|index| self.element(index)).collect()
    }

    /// The same address for values of another type.
    pub(crate) fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }

    /// The address, for bytes that are read later.
    pub(crate) fn address(self) -> usize {
        self.0 as usize
    }
}

impl In<c_char> {
    /// The bytes as a string, which the caller has passed without saying so.
    pub(crate) fn text(self) -> Text {
        Text(self.0)
    }
}

/// Where a C caller has a value, and wants another: null, or readable and writable.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct InOut<T>(*mut T);

impl<T: Copy> InOut<T> {
    /// Reads the value; [`Error::CUDA_ERROR_INVALID_VALUE`] where the pointer is null.
    pub(crate) fn get(self) -> Result<T> {
        In(self.0.cast_const()).get()
    }

    /// Writes the other value.
    pub(crate) fn exchange(self, value: T) -> Result<()> {
        Out(self.0).set(value)
    }
}

/// A C string: null, or ending with a zero.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Text(*const c_char);

impl Text {
    /// The string; [`Error::CUDA_ERROR_INVALID_VALUE`] where there is none, or not UTF-8.
    pub(crate) fn get(&self) -> Result<&str> {
        if self.0.is_null() {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: not null, so a string that ends with a zero, as the type promises.
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_str().map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)
    }
}

/// A static string, given to C.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct StaticText(*const c_char);

impl From<Option<&'static CStr>> for StaticText {
    fn from(text: Option<&'static CStr>) -> Self {
        Self(text.map_or(std::ptr::null(), CStr::as_ptr))
    }
}

/// A function of the caller's, for a stream or a graph to call.
pub(crate) type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;

/// A function of the caller's that a stream calls with its own handle and status.
pub(crate) type StreamCallback = Option<unsafe extern "C" fn(usize, c_int, *mut c_void)>;

/// Dynamic shared memory for a block size.
pub(crate) type SharedForBlock = Option<unsafe extern "C" fn(c_int) -> usize>;

/// `CUmemLocation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Location {
    pub(crate) kind: c_int,
    pub(crate) id: c_int,
}

/// `CUmemPoolProps`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct PoolProperties {
    pub(crate) allocation_kind: c_int,
    pub(crate) handle_kinds: c_int,
    pub(crate) location: Location,
    security: usize,
    pub(crate) max_size: usize,
    usage: u16,
    reserved: [u8; 54],
}

/// `CUlaunchAttribute`.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(crate) struct LaunchAttribute {
    pub(crate) id: c_int,
    padding: [u8; 4],
    pub(crate) value: [u32; 16],
}

/// `CUlaunchConfig`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct LaunchConfig {
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared_bytes: c_uint,
    pub(crate) stream: crate::base::handle::Handle,
    pub(crate) attributes: In<LaunchAttribute>,
    pub(crate) attribute_count: c_uint,
}

/// One side of `CUDA_MEMCPY2D`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Side2 {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) kind: c_int,
    pub(crate) host: usize,
    pub(crate) device: u64,
    pub(crate) array: usize,
    pub(crate) pitch: usize,
}

/// `CUDA_MEMCPY2D`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Copy2 {
    pub(crate) source: Side2,
    pub(crate) target: Side2,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// One side of `CUDA_MEMCPY3D`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Side3 {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) z: usize,
    pub(crate) level: usize,
    pub(crate) kind: c_int,
    pub(crate) host: usize,
    pub(crate) device: u64,
    pub(crate) array: usize,
    reserved: usize,
    pub(crate) pitch: usize,
    pub(crate) height: usize,
}

/// `CUDA_MEMCPY3D`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Copy3 {
    pub(crate) source: Side3,
    pub(crate) target: Side3,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

/// `CUDA_KERNEL_NODE_PARAMS_v1`, which is also how version 2 begins.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct KernelNode {
    pub(crate) function: crate::base::handle::Handle,
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared_bytes: c_uint,
    pub(crate) arguments: In<In<u8>>,
    pub(crate) extra: In<usize>,
}

/// `CUDA_MEMSET_NODE_PARAMS_v1`, which is also how version 2 begins.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct FillNode {
    pub(crate) target: u64,
    pub(crate) pitch: usize,
    pub(crate) value: c_uint,
    pub(crate) element_bytes: c_uint,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// `CUDA_HOST_NODE_PARAMS_v1`, which is also how version 2 begins.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct HostNode {
    pub(crate) function: HostFunction,
    pub(crate) data: *mut c_void,
}

/// An argument that a function takes and does not look at.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Ignored<T>(usize, PhantomData<*const T>);

impl<T> Ignored<T> {
    pub(crate) fn is_null(&self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_size_of_cuda_h() {
        assert_eq!(size_of::<PoolProperties>(), 88);
        assert_eq!(size_of::<LaunchAttribute>(), 72);
        assert_eq!(size_of::<LaunchConfig>(), 56);
        assert_eq!(size_of::<Copy2>(), 128);
        assert_eq!(size_of::<Copy3>(), 200);
        assert_eq!(size_of::<KernelNode>(), 56);
        assert_eq!(size_of::<FillNode>(), 40);
    }

    #[test]
    fn text_is_cut_to_the_room_there_is() {
        let mut buffer = [7 as c_char; 4];
        Out(buffer.as_mut_ptr()).set_text("emulator", 4).unwrap();
        assert_eq!(buffer, [b'e' as c_char, b'm' as c_char, b'u' as c_char, 0]);
        assert_eq!(Out(buffer.as_mut_ptr()).set_text("", 0), Err(Error::CUDA_ERROR_INVALID_VALUE));
        assert_eq!(
            Out::<c_char>(std::ptr::null_mut()).set_text("x", 4),
            Err(Error::CUDA_ERROR_INVALID_VALUE)
        );
    }
}
