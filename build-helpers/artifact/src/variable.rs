//! Device variables: memory of a module that the host can read and write, `__constant__` and `__device__` variables of
//! CUDA C++ and HIP.

use std::borrow::Cow;

use crate::ValueType;

/// A variable of a source that lives in the memory of each device that its code is loaded on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VariableDeclaration {
    /// The name of what gives it to the program: the variable's name in the source, without its namespaces unless
    /// another variable has it too.
    pub name: Cow<'static, str>,
    /// Its name in compiled code.
    pub symbol: Cow<'static, str>,
    /// Its type.
    pub ty: ValueType,
    /// The file that defines it, relative to its package.
    pub file: Cow<'static, str>,
    /// The line of its name in that file, from 1; 0 where it is not known.
    pub line: u32,
}
