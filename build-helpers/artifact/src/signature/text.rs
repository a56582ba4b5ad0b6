//! Signatures and types as people read them: as they are written in Rust.

use super::{Access, ParameterKind, Safety, Signature, ValueType};
use std::fmt;

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
            Self::TensorMap { element, rank, access: Access::Read } => {
                write!(formatter, "&TensorMap<{element}, {rank}>")
            }
            Self::TensorMap { element, rank, access: Access::Write } => {
                write!(formatter, "&TensorMapMut<{element}, {rank}>")
            }
        }
    }
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
