//! Types of values that cross between host and device, with their layout in memory.
//!
//! A layout is the same on the host and on every device: that of `#[repr(C)]`.

use crate::{Safety, Scalar};
use std::{
    borrow::Cow,
    fmt,
    hash::{Hash, Hasher},
    ops::Deref,
};

/// A type that can cross between host and device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// A scalar.
    Scalar(Scalar),
    /// A `#[repr(C)]` struct.
    Struct(Nested<StructLayout>),
    /// An enumeration: an integer with named values.
    Enum(Nested<EnumLayout>),
    /// `[T; N]`.
    Array(Nested<ValueType>, u64),
    /// `DeviceFn<fn(..) -> ..>`, represented by [`DeviceFunction::id`](crate::DeviceFunction::id).
    Function(Nested<FunctionType>),
}

/// Size and alignment of a function's number.
const FUNCTION_BYTES: u64 = 8;

impl ValueType {
    /// Calls `found` with every function type that occurs in it, however deeply nested.
    pub fn functions(&self, found: &mut impl FnMut(&FunctionType)) {
        match self {
            Self::Scalar(_) | Self::Enum(_) => {}
            Self::Struct(layout) => layout.fields.iter().for_each(|it| it.ty.functions(found)),
            Self::Array(element, _) => element.functions(found),
            Self::Function(ty) => {
                found(ty);
                ty.parameters.iter().chain(&ty.result).for_each(|ty| ty.functions(found));
            }
        }
    }

    /// Whether it is `usize` or `isize`.
    #[must_use]
    pub fn is_size(&self) -> bool {
        matches!(self, Self::Scalar(Scalar::Usize | Scalar::Isize))
    }

    /// Size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Self::Scalar(scalar) => scalar.size(),
            Self::Struct(layout) => layout.size,
            Self::Enum(layout) => layout.scalar.size(),
            Self::Array(element, length) => element.size() * length,
            Self::Function(_) => FUNCTION_BYTES,
        }
    }

    /// Alignment in bytes.
    #[must_use]
    pub fn align(&self) -> u64 {
        match self {
            Self::Scalar(scalar) => scalar.size(),
            Self::Struct(layout) => layout.align,
            Self::Enum(layout) => layout.scalar.size(),
            Self::Array(element, _) => element.align(),
            Self::Function(_) => FUNCTION_BYTES,
        }
    }
}

/// A value inside a [`ValueType`]: borrowed in generated bindings, owned in the compiler.
/// Compares, hashes and prints as the value does.
#[derive(Clone, Debug)]
pub enum Nested<T: 'static> {
    /// Lives in a `static`.
    Borrowed(&'static T),
    /// Lives on the heap.
    Owned(Box<T>),
}

impl<T> Deref for Nested<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(value) => value,
            Self::Owned(value) => value,
        }
    }
}

impl<T> From<T> for Nested<T> {
    fn from(value: T) -> Self {
        Self::Owned(Box::new(value))
    }
}

impl<T: PartialEq> PartialEq for Nested<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Nested<T> {}

impl<T: Hash> Hash for Nested<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

/// The layout of a `#[repr(C)]` struct that crosses between host and device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructLayout {
    /// The name in the source.
    pub name: Cow<'static, str>,
    /// Size in bytes, trailing padding included.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// The fields, by offset.
    pub fields: Cow<'static, [Field]>,
}

/// One field of a [`StructLayout`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The name in the source.
    pub name: Cow<'static, str>,
    /// Its type.
    pub ty: ValueType,
    /// Its offset in bytes.
    pub offset: u64,
    /// Whether it is `pub`: code of other modules reads and writes it.
    pub public: bool,
}

impl ValueType {
    /// Whether bytes that are all zero are known to be a value. They may be none of a struct with private
    /// fields, of which the kernels' own code alone says what the values are, and of an `enum` of Rust.
    #[must_use]
    pub fn zero_is_value(&self) -> bool {
        match self {
            Self::Scalar(_) | Self::Function(_) => true,
            Self::Enum(layout) => layout.zero_is_value(),
            Self::Array(element, _) => element.zero_is_value(),
            Self::Struct(layout) => layout.zero_is_value(),
        }
    }
}

impl StructLayout {
    /// Whether bytes that are all zero are known to be a value: all fields are public, and so it is for each.
    #[must_use]
    pub fn zero_is_value(&self) -> bool {
        self.fields.iter().all(|field| field.public && field.ty.zero_is_value())
    }
}

/// An enumeration that crosses between host and device. C++ may store any value of the underlying
/// integer: on the host such an enumeration is a struct with constants. One of Rust is an `enum` there.
///
/// ```
/// use kernelmill_artifact::*;
/// let variant = Variant { name: "Bilinear".into(), value: 1 };
/// let mut layout = EnumLayout {
///     name: "Filter".into(),
///     scalar: Scalar::U32,
///     variants: vec![variant].into(),
///     exhaustive: true,
/// };
/// assert!(!layout.zero_is_value());
/// layout.exhaustive = false;
/// assert!(layout.zero_is_value());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnumLayout {
    /// The name in the source.
    pub name: Cow<'static, str>,
    /// The underlying integer type.
    pub scalar: Scalar,
    /// The values that have names, in source order.
    pub variants: Cow<'static, [Variant]>,
    /// Whether there are no other values, as in Rust.
    pub exhaustive: bool,
}

impl EnumLayout {
    /// Whether zero is a value.
    #[must_use]
    pub fn zero_is_value(&self) -> bool {
        !self.exhaustive || self.variants.iter().any(|variant| variant.value == 0)
    }
}

/// A value of an [`EnumLayout`] with its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The name in the source.
    pub name: Cow<'static, str>,
    /// The value, within its scalar's range.
    pub value: i128,
}

/// The type of a function that the host passes to kernels: `fn(f32) -> f32`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionType {
    /// Whether who calls it upholds memory safety: `unsafe fn(f32) -> f32`, as all of C++ are.
    pub safety: Safety,
    /// The types of its parameters.
    pub parameters: Cow<'static, [ValueType]>,
    /// The type of its result; `None` for `()`.
    pub result: Option<ValueType>,
}

impl fmt::Display for ValueType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => formatter.write_str(scalar.name()),
            Self::Struct(layout) => formatter.write_str(&layout.name),
            Self::Enum(layout) => formatter.write_str(&layout.name),
            Self::Array(element, length) => write!(formatter, "[{}; {length}]", **element),
            Self::Function(ty) => write!(formatter, "DeviceFn<{}>", **ty),
        }
    }
}

impl FunctionType {
    /// Whether a function of another type can stand for one of this type: the same one, or a safe function
    /// where unsafe ones are called.
    ///
    /// ```
    /// use kernelmill_artifact::*;
    /// let safe = FunctionType { safety: Safety::Safe, parameters: vec![].into(), result: None };
    /// let unsafe_one = FunctionType { safety: Safety::Unsafe, ..safe.clone() };
    /// assert!(unsafe_one.takes(&safe) && !safe.takes(&unsafe_one));
    /// assert_eq!(unsafe_one.to_string(), "unsafe fn()");
    /// ```
    #[must_use]
    pub fn takes(&self, given: &Self) -> bool {
        (self.safety == Safety::Unsafe || given.safety == Safety::Safe)
            && self.parameters == given.parameters
            && self.result == given.result
    }
}

impl fmt::Display for FunctionType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.safety == Safety::Unsafe {
            formatter.write_str("unsafe ")?;
        }
        formatter.write_str("fn(")?;
        for (index, parameter) in self.parameters.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(formatter, "{comma}{parameter}")?;
        }
        formatter.write_str(")")?;
        match &self.result {
            Some(result) => write!(formatter, " -> {result}"),
            None => Ok(()),
        }
    }
}
