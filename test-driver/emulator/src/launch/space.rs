//! State spaces of PTX, as far as faults tell them apart.
//!
//! PTX ISA, "State Spaces".

use std::fmt;

/// A state space of PTX, as far as faults tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// An address without a space; it points into one of the others.
    Generic,
    /// Device memory.
    Global,
    /// Memory of one block.
    Shared,
    /// Memory of one thread.
    Local,
    /// Arguments of the kernel.
    Param,
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Generic => "generic",
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Param => "param",
        })
    }
}
