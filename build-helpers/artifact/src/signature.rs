mod text;

use crate::FunctionType;
use std::{
    borrow::Cow,
    hash::{Hash, Hasher},
    ops::Deref,
};

/// A kernel as callers see it: its name, its dimension and its parameters in source order.
///
/// The type can be built in a `static`, which is how generated bindings carry it.
///
/// ```
/// use kernelmill_artifact::*;
/// static PARAMETERS: [Parameter; 1] =
///     [Parameter::borrowed("a", ParameterKind::Value(ValueType::Scalar(Scalar::F32)))];
/// static SAXPY: Signature = Signature::borrowed("saxpy", &PARAMETERS);
/// assert_eq!(SAXPY.to_string(), "fn saxpy(a: f32)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    /// The name of its launch wrapper: the function's name in the source, and for an instantiation
    /// of a C++ template its name with the template's arguments.
    pub name: Cow<'static, str>,
    /// Its name in compiled code: [`symbol`] of it for Rust, the same for `extern "C"`, mangled for
    /// other C++.
    pub symbol: Cow<'static, str>,
    /// The dimension of the index space the kernel is written for.
    pub dimension: Dimension,
    /// Whether its wrapper is a safe function.
    pub safety: Safety,
    /// What its author says of the blocks it is launched with.
    pub limits: LaunchLimits,
    /// The parameters, in source order.
    pub parameters: Cow<'static, [Parameter]>,
    /// The file that defines it, relative to its package.
    pub file: Cow<'static, str>,
    /// The line of its name in that file, from 1; 0 where it is not known.
    pub line: u32,
}

impl Signature {
    /// A one-dimensional, safe signature of borrowed parts, with no file.
    #[must_use]
    pub const fn borrowed(name: &'static str, parameters: &'static [Parameter]) -> Self {
        Self {
            name: Cow::Borrowed(name),
            symbol: Cow::Borrowed(name),
            dimension: Dimension::One,
            safety: Safety::Safe,
            limits: LaunchLimits::NONE,
            parameters: Cow::Borrowed(parameters),
            file: Cow::Borrowed(""),
            line: 0,
        }
    }

    /// The function's name in the source.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The parameters, in source order.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
}

/// A kernel's name as it is in compiled code: every character that an assembler may refuse is an
/// underscore. ptxas takes fewer than LLVM does.
///
/// ```
/// assert_eq!(kernelmill_artifact::symbol("größe_2"), "gr__e_2");
/// ```
#[must_use]
pub fn symbol(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Device-level arguments that a kernel can have; a slice counts two.
pub const MAX_ARGUMENTS: usize = 64;

/// One parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// Its name in the source.
    pub name: Cow<'static, str>,
    /// What crosses from host to device.
    pub kind: ParameterKind,
}

impl Parameter {
    /// A parameter of borrowed parts.
    #[must_use]
    pub const fn borrowed(name: &'static str, kind: ParameterKind) -> Self {
        Self { name: Cow::Borrowed(name), kind }
    }
}

/// What crosses from host to device for one parameter.
///
/// At the level of the device a value is one argument of its size; a slice is two, an address of
/// 8 bytes and a length in elements of 8 bytes; a pointer is one address, a tensor map one argument of
/// 256 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ParameterKind {
    /// A scalar or a `#[repr(C)]` struct, by value.
    Value(ValueType),
    /// Elements in device memory with their number: `&[T]` or `DisjointSlice<T>`.
    Slice {
        /// The type of an element.
        element: ValueType,
        /// What the kernel does with the elements.
        access: Access,
    },
    /// The address of elements in device memory: `const T*` or `T*`.
    Pointer {
        /// The type of an element.
        element: ValueType,
        /// What the kernel does with the elements.
        access: Access,
    },
    /// A tensor in device memory, of which boxes are copied: `&TensorMap<T, D>` or
    /// `&TensorMapMut<T, D>`. [`TensorMapData`](crate::TensorMapData) crosses.
    TensorMap {
        /// The type of an element, a scalar.
        element: ValueType,
        /// The number of dimensions.
        rank: u32,
        /// What the kernel does with the elements.
        access: Access,
    },
}

impl ParameterKind {
    /// How many arguments it is at the level of the device.
    #[must_use]
    pub const fn arguments(&self) -> usize {
        match self {
            Self::Slice { .. } => 2,
            Self::Value(_) | Self::Pointer { .. } | Self::TensorMap { .. } => 1,
        }
    }

    /// The type whose bytes cross, of an element where it is memory.
    #[must_use]
    pub const fn crossing(&self) -> &ValueType {
        match self {
            Self::Value(ty)
            | Self::Slice { element: ty, .. }
            | Self::Pointer { element: ty, .. }
            | Self::TensorMap { element: ty, .. } => ty,
        }
    }
}

/// What a kernel does with the memory that a parameter names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Only reads.
    Read,
    /// Reads and writes.
    Write,
}

/// The dimension of the index space that a kernel is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// `Launch<1>`.
    One = 1,
    /// `Launch<2>`.
    Two = 2,
    /// `Launch<3>`.
    Three = 3,
    /// Any, `impl Into<Launch<3>>`: languages that do not say it.
    Any = 0,
}

/// What a kernel's author says of the launches it is made for, in its source or in the
/// configuration: `__launch_bounds__`, `__block_size__`, `__maxnreg__` and `__cluster_dims__` of CUDA
/// C++, and the arguments of `#[kernel]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LaunchLimits {
    /// The most threads in a block; 0 where nothing is said.
    pub max_block_threads: u32,
    /// The exact block, x first; zeros where nothing is said.
    pub block: [u32; 3],
    /// The number of blocks that a multiprocessor ought to hold at once; 0 where nothing is said.
    pub min_blocks: u32,
    /// The most registers of a thread; 0 where nothing is said.
    pub max_registers: u32,
    /// The blocks of a cluster, x first; zeros where nothing is said.
    pub cluster: [u32; 3],
}

impl LaunchLimits {
    /// Nothing is said.
    pub const NONE: Self = Self {
        max_block_threads: 0,
        block: [0; 3],
        min_blocks: 0,
        max_registers: 0,
        cluster: [0; 3],
    };

    /// These limits, and where they say nothing, those of another place.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let number = |own: u32, other| if own > 0 { own } else { other };
        let sizes = |own: [u32; 3], other| if own == [0; 3] { other } else { own };
        Self {
            max_block_threads: number(self.max_block_threads, other.max_block_threads),
            block: sizes(self.block, other.block),
            min_blocks: number(self.min_blocks, other.min_blocks),
            max_registers: number(self.max_registers, other.max_registers),
            cluster: sizes(self.cluster, other.cluster),
        }
    }

    /// The most threads in a block, by what is said of its threads or its size; `None` where
    /// nothing is said.
    #[must_use]
    pub fn most_threads(&self) -> Option<u32> {
        let exact = self.block.iter().product();
        [exact, self.max_block_threads].into_iter().find(|threads| *threads > 0)
    }
}

/// Whether a kernel's wrapper is a safe function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Safety {
    /// The kernel's own language, or a contract, upholds memory safety.
    Safe,
    /// The caller does.
    Unsafe,
}

/// A type that can cross between host and device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// A scalar.
    Scalar(Scalar),
    /// A `#[repr(C)]` struct.
    Struct(Nested<StructLayout>),
    /// An enumeration of C++: a number, whose values that have names are known.
    Enum(Nested<EnumLayout>),
    /// `[T; N]`.
    Array(Nested<ValueType>, u64),
    /// `DeviceFn<fn(..) -> ..>`: what [`DeviceFunction::id`](crate::DeviceFunction::id) gives.
    Function(Nested<FunctionType>),
}

/// Size and alignment of what names a function.
const FUNCTION_BYTES: u64 = 8;

impl ValueType {
    /// The types of functions in it, and in the types of these.
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

/// A scalar, under its name in Rust. Size and alignment are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the Rust type of that name")]
pub enum Scalar {
    Bool,
    Char,
    I8,
    I16,
    I32,
    I64,
    I128,
    Isize,
    U8,
    U16,
    U32,
    U64,
    U128,
    Usize,
    F16,
    Bf16,
    F32,
    F64,
}

impl Scalar {
    /// Every scalar.
    pub const ALL: [Self; 18] = [
        Self::Bool,
        Self::Char,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::I128,
        Self::Isize,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::U128,
        Self::Usize,
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::F64,
    ];

    /// Size in bytes, on every device that kernelmill compiles for.
    #[must_use]
    pub const fn size(self) -> u64 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::Char | Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::Isize | Self::Usize | Self::F64 => 8,
            Self::I128 | Self::U128 => 16,
        }
    }

    /// Whether boxes of tensors can be copied whose elements are such.
    #[must_use]
    pub const fn is_copied_in_boxes(self) -> bool {
        use Scalar as S;
        match self {
            S::I8 | S::I16 | S::I32 | S::I64 | S::F32 | S::F64 => true,
            S::U8 | S::U16 | S::U32 | S::U64 => true,
            S::Bool | S::Char | S::I128 | S::U128 | S::Isize | S::Usize | S::F16 | S::Bf16 => false,
        }
    }

    /// The name in Rust; `f16` and `bf16` are those of the crate `half`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Char => "char",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::I128 => "i128",
            Self::Isize => "isize",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::U128 => "u128",
            Self::Usize => "usize",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The scalar of this name in Rust.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scalar| scalar.name() == name)
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
}

/// An enumeration of C++ that crosses between host and device. Any value of its scalar may come
/// from C++, so on the host it is a struct with constants and no `enum`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnumLayout {
    /// The name in the source.
    pub name: Cow<'static, str>,
    /// What it is made of: an integer.
    pub scalar: Scalar,
    /// The values that have names, in source order.
    pub variants: Cow<'static, [Variant]>,
}

/// A value of an [`EnumLayout`] with its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The name in the source.
    pub name: Cow<'static, str>,
    /// The value, within its scalar's range.
    pub value: i128,
}
