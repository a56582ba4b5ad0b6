//! Signatures of kernels: name, dimension, and parameters with what crosses for each from host to
//! device.
//!
//! The compiler writes them, generated bindings carry them in `static`s, and the run time checks
//! launches against them. They are printed as Rust writes function signatures.

use crate::{LaunchLimits, Safety, ValueType};
use std::{borrow::Cow, fmt};

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
    /// Its launch bounds.
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

/// The symbol of a kernel with this name in compiled code: every character except ASCII letters and
/// digits becomes an underscore, because ptxas accepts fewer characters in names than LLVM does.
///
/// ```
/// assert_eq!(kernelmill_artifact::symbol("größe_2"), "gr__e_2");
/// ```
#[must_use]
pub fn symbol(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// The most arguments that a kernel has at the level of the device; a slice counts two.
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

    /// The parameter of a kernel for state that a plugin of the compiler asks each launch for, which has a name that
    /// no parameter in a source has.
    ///
    /// ```
    /// use kernelmill_artifact::*;
    /// let seed = Parameter::state("seed", ParameterKind::Value(ValueType::Scalar(Scalar::U64)));
    /// assert_eq!((&*seed.name, seed.state_name()), ("launch.seed", Some("seed")));
    /// ```
    #[must_use]
    pub fn state(name: &str, kind: ParameterKind) -> Self {
        Self { name: format!("{STATE_PREFIX}{name}").into(), kind }
    }

    /// The name of the state that it is; `None` for the kernel's own parameters.
    #[must_use]
    pub fn state_name(&self) -> Option<&str> {
        self.name.strip_prefix(STATE_PREFIX)
    }
}

/// How the name of a parameter starts that is state of the launch.
const STATE_PREFIX: &str = "launch.";

/// What crosses from host to device for one parameter.
///
/// At the level of the device a value is one argument of its size. A slice is two: an address, and a
/// length in elements, of 8 bytes each. A pointer is one address. Shared memory is its number of elements,
/// of 8 bytes. A tensor map is one argument of 256
/// bytes.
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
    /// Elements in dynamic shared memory, whose number the launch gives: `__local T*` of OpenCL C.
    Shared {
        /// The type of an element.
        element: ValueType,
    },
    /// A tensor in device memory whose tiles are copied: `&TensorMap<T, D>` or
    /// `&TensorMapMut<T, D>`, passed as [`TensorMapData`](crate::TensorMapData).
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
    /// The number of arguments at the level of the device.
    #[must_use]
    pub const fn arguments(&self) -> usize {
        match self {
            Self::Slice { .. } => 2,
            Self::Value(_)
            | Self::Pointer { .. }
            | Self::Shared { .. }
            | Self::TensorMap { .. } => 1,
        }
    }

    /// The type of the value, or of an element where the parameter is memory.
    #[must_use]
    pub const fn crossing(&self) -> &ValueType {
        match self {
            Self::Value(ty)
            | Self::Slice { element: ty, .. }
            | Self::Pointer { element: ty, .. }
            | Self::Shared { element: ty }
            | Self::TensorMap { element: ty, .. } => ty,
        }
    }

    /// The alignment of the parts of dynamic shared memory of a kernel with these parameters: each part
    /// starts at a multiple of it, in the parameters' order.
    #[must_use]
    pub fn shared_align(parameters: &[Parameter]) -> u64 {
        let of = |parameter: &Parameter| match &parameter.kind {
            Self::Shared { element } => element.size().next_power_of_two().min(128),
            _ => 1,
        };
        parameters.iter().map(of).max().unwrap_or(1).max(16)
    }
}

/// How a kernel accesses the memory of a parameter.
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
    /// Any, `impl Into<Launch<3>>`: kernels of languages that do not fix it.
    Any = 0,
}

impl fmt::Display for Signature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.safety == Safety::Unsafe {
            formatter.write_str("unsafe ")?;
        }
        write!(formatter, "fn {}(", self.name)?;
        for (index, parameter) in self.parameters.iter().enumerate() {
            if index > 0 {
                formatter.write_str(", ")?;
            }
            write!(formatter, "{}: {}", parameter.name, parameter.kind)?;
        }
        formatter.write_str(")")
    }
}

impl fmt::Display for ParameterKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(ty) => write!(formatter, "{ty}"),
            Self::Slice { element, access: Access::Read } => write!(formatter, "&[{element}]"),
            Self::Slice { element, access: Access::Write } => {
                write!(formatter, "DisjointSlice<{element}>")
            }
            Self::Pointer { element, access: Access::Read } => {
                write!(formatter, "*const {element}")
            }
            Self::Pointer { element, access: Access::Write } => {
                write!(formatter, "*mut {element}")
            }
            Self::Shared { element } => write!(formatter, "shared [{element}]"),
            Self::TensorMap { element, rank, access: Access::Read } => {
                write!(formatter, "&TensorMap<{element}, {rank}>")
            }
            Self::TensorMap { element, rank, access: Access::Write } => {
                write!(formatter, "&TensorMapMut<{element}, {rank}>")
            }
        }
    }
}
