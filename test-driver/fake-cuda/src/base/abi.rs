//! What crosses the boundary to C: pointers, and the structures of `cuda.h`.
//!
//! [`Out`], [`In`] and [`Text`] are made by C callers only, as arguments. `cuda.h` promises that
//! they are null or point to what their type says, so that reading and writing through them, the
//! only unsafe thing in most functions, is written down here and nowhere else.

use cudarc::driver::sys;
use std::{
    ffi::{CStr, c_char, c_int, c_uint},
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
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T> In<T> {
    /// A pointer that lies in a structure of a C caller's.
    ///
    /// # Safety
    ///
    /// `cuda.h` promises of the pointer what it does of arguments: it is null, or points to what its type
    /// says.
    pub(crate) unsafe fn new(pointer: *const T) -> Self {
        Self(pointer)
    }

    /// No value.
    pub(crate) fn null() -> Self {
        Self(std::ptr::null())
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Reads the field at an offset, through the macro [`field!`].
    pub(crate) fn field<F: Field>(self, offset: usize) -> Result<F> {
        if self.0.is_null() {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: not null, so a readable structure, as the type promises; `field!` gives the offset of
        // a field of the length of `F`, which can have any bits.
        Ok(unsafe { self.0.byte_add(offset).cast::<F>().read() })
    }

    /// Where element `index` of an array is.
    pub(crate) fn place(self, index: usize) -> Self {
        Self(self.0.wrapping_add(index))
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

impl<T: Copy> In<T> {
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
}

impl In<c_char> {
    /// The bytes as a string, which the caller has passed without saying so.
    pub(crate) fn text(self) -> Text {
        Text(self.0)
    }
}

/// Where a C caller has a value, and wants another: null, or readable and writable.
#[repr(transparent)]
pub(crate) struct InOut<T>(*mut T);

impl<T> Clone for InOut<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for InOut<T> {}

impl<T> InOut<T> {
    /// Where the value is read.
    pub(crate) fn input(self) -> In<T> {
        In(self.0.cast_const())
    }

    /// Where the other value is written.
    pub(crate) fn output(self) -> Out<T> {
        Out(self.0)
    }
}

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

/// A field of a C structure that can be read whatever its bits are.
pub(crate) trait Field: Copy {}

impl Field for c_int {}
impl Field for c_uint {}
impl Field for u64 {}
impl Field for usize {}

/// The length of a field, from a function that gives its address.
pub(crate) const fn length_of<T, F>(_: fn(*const T) -> *const F) -> usize {
    size_of::<F>()
}

/// Reads a field of the structure that an [`In`] points to, as a type of the same length.
///
/// The structures of `cuda.h` have fields that are enums in Rust. A value from C that is none of the
/// enumerators would be undefined behaviour as such an enum, so that these fields are read as integers,
/// and structures that have any are never read as a whole.
macro_rules! field {
    ($input:expr, $structure:ty, $($name:ident).+ as $field:ty) => {{
        const {
            let length = $crate::base::abi::length_of(|it: *const $structure| {
                // SAFETY: never called; only its type matters.
                unsafe { &raw const (*it).$($name).+ }
            });
            assert!(length == size_of::<$field>(), "the field has another length");
        }
        let input: $crate::base::abi::In<$structure> = $input;
        input.field::<$field>(std::mem::offset_of!($structure, $($name).+))
    }};
}

pub(crate) use field;

/// Enumerators of `cuda.h` as integers, to compare those with that come from a C caller.
macro_rules! enumerators {
    ($integer:ty: $enum:ident $($name:ident = $variant:ident;)*) => {
        $(const $name: $integer = cudarc::driver::sys::$enum::$variant as $integer;)*
    };
}

pub(crate) use enumerators;

/// `CUmemLocation` as it is passed by value: the type of its first field is an enum in cudarc, which an
/// argument of a C caller must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Location {
    pub(crate) kind: c_uint,
    pub(crate) id: c_int,
}

const _: () = {
    assert!(size_of::<Location>() == size_of::<sys::CUmemLocation>());
    assert!(std::mem::offset_of!(Location, id) == std::mem::offset_of!(sys::CUmemLocation, id));
};

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
    fn enumerators_are_read_as_the_integers_they_are() {
        let mut words = [0_u32; size_of::<sys::CUDA_MEMCPY2D>() / 4];
        let place = std::mem::offset_of!(sys::CUDA_MEMCPY2D, srcMemoryType);
        words[place / 4] = 0xdead;
        let input: In<sys::CUDA_MEMCPY2D> = In(words.as_ptr().cast());
        assert_eq!(field!(input, sys::CUDA_MEMCPY2D, srcMemoryType as u32), Ok(0xdead));
        assert_eq!(
            field!(In::null(), sys::CUDA_MEMCPY2D, Height as usize),
            Err(Error::CUDA_ERROR_INVALID_VALUE)
        );
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
