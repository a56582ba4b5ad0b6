//! Device functions that the host passes to kernels: function pointers, called through a table.

use crate::FunctionType;
use std::{borrow::Cow, fmt};

/// A function that the host can pass to kernels: `#[device_fn]` in its source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceFunction {
    /// The package that has it.
    pub package: Cow<'static, str>,
    /// Its name in the source.
    pub name: Cow<'static, str>,
    /// Its type.
    pub ty: FunctionType,
    /// The file that defines it, relative to its package.
    pub file: Cow<'static, str>,
    /// The line of its name in that file, from 1.
    pub line: u32,
}

impl DeviceFunction {
    /// The number that stands for the function in memory, the same on every device: the FNV-1a hash
    /// of package, name and type, never 0.
    ///
    /// ```
    /// use kernelmill_artifact::*;
    /// let float = ValueType::Scalar(Scalar::F32);
    /// let square = DeviceFunction {
    ///     package: "shapes".into(),
    ///     name: "square".into(),
    ///     ty: FunctionType {
    ///         safety: Safety::Safe,
    ///         parameters: vec![float.clone()].into(),
    ///         result: Some(float),
    ///     },
    ///     file: "kernels/square.rs".into(),
    ///     line: 4,
    /// };
    /// let moved = DeviceFunction { line: 9, ..square.clone() };
    /// let other = DeviceFunction { package: "colors".into(), ..square.clone() };
    /// assert_eq!(square.to_string(), "shapes::square: fn(f32) -> f32");
    /// assert_eq!(square.id(), moved.id());
    /// assert_ne!(square.id(), other.id());
    /// ```
    #[must_use]
    pub fn id(&self) -> u64 {
        let digest = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        format!("{self}").bytes().fold(0xcbf2_9ce4_8422_2325, digest).max(1)
    }
}

impl fmt::Display for DeviceFunction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}::{}: {}", self.package, self.name, self.ty)
    }
}
