//! The files of a crate, as they are read.

/// One file of a crate.
#[derive(Clone, Copy, Debug)]
pub struct SourceText<'a> {
    /// The path of the module that the file holds; empty for the crate's root.
    pub module: &'a [String],
    /// Its text.
    pub text: &'a str,
    /// Its path as people know it, for example `kernels/saxpy.rs`.
    pub display: &'a str,
    /// Whether its kernels and functions are read. A file without that is there for its types and constants.
    pub has_kernels: bool,
}
