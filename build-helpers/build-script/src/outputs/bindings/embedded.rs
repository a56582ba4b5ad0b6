//! An embedded binary, as the bindings name it.

use crate::compile::binary::Binary;

/// A binary as the bindings name it.
pub(crate) struct Embedded<'a> {
    pub(crate) binary: &'a Binary,
    pub(crate) target: String,
    /// Its file beside the bindings.
    pub(crate) file: String,
    /// Its source, which tells the run time which binaries are alternatives to each other.
    pub(crate) source: &'a str,
}
