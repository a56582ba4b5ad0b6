//! Kernels in PTX, written by hand or by another compiler. The text stays as it is: for PTX targets it is embedded, and
//! for cubins ptxas assembles it. What a kernel takes is declared in the settings, or known from its `.param`s
//! ([PTX ISA, "Kernel and Function Directives"][isa]).
//!
//! [isa]: https://docs.nvidia.com/cuda/parallel-thread-execution/#kernel-and-function-directives

mod assemble;
mod header;
mod kernels;
mod parameters;
mod source;

pub use header::Header;
pub use kernels::kernels;
pub use source::PtxSource;

pub(crate) use assemble::compile;

/// A text of PTX with an entry of another text in place of its own of that name.
///
/// # Errors
///
/// Why it cannot be: the other text has no such entry, or one with other parameters.
pub fn with_entry(text: &str, other: &str, entry: &str) -> Result<String, String> {
    crate::target::replace_entry(text, other, entry, false)
}
