//! Values of the constants of kernels in Rust.

use std::fmt;

/// The value of a constant: a number or `bool`, of the type that the source declares.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ConstantValue {
    pub(super) ty: &'static str,
    bytes: [u8; 8],
    length: usize,
}

macro_rules! values {
    ($($ty:ident)*) => {$(
        impl From<$ty> for ConstantValue {
            fn from(value: $ty) -> Self {
                Self::new(stringify!($ty), &value.to_le_bytes())
            }
        }
    )*};
}

values! { u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 }

impl From<bool> for ConstantValue {
    fn from(value: bool) -> Self {
        Self::new("bool", &[u8::from(value)])
    }
}

/// `usize` has 64 bits on every device that kernels are compiled for.
impl From<usize> for ConstantValue {
    fn from(value: usize) -> Self {
        Self::new("usize", &(value as u64).to_le_bytes())
    }
}

/// `isize` has 64 bits on every device that kernels are compiled for.
impl From<isize> for ConstantValue {
    fn from(value: isize) -> Self {
        Self::new("isize", &(value as i64).to_le_bytes())
    }
}

impl ConstantValue {
    fn new(ty: &'static str, value: &[u8]) -> Self {
        let mut bytes = [0; 8];
        bytes[..value.len()].copy_from_slice(value);
        Self { ty, bytes, length: value.len() }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl fmt::Debug for ConstantValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {:02x?}", self.ty, self.bytes())
    }
}
