//! Deferred references: external device functions, which a kernel names and another source defines.
//!
//! A source names a function by the symbol `__kernelmill_deferred_NAME`, which is declared and
//! nowhere defined; `deferred!` of the device crate writes it. The definition is found when the kernel
//! is compiled: in its own source, or in one of those that are given with it. What such a function
//! names in turn is found in the same way, until nothing is left.

mod faults;
mod reaches;
mod resolve;
mod symbols;

use kernelmill_llvm::{inkwell::context::Context, ir::parse_bitcode};

use crate::{Error, job::Symbols};
pub(crate) use resolve::{Sources, resolve};

/// What the modules of a source define and name. LLVM must be open.
pub(crate) fn symbols(modules: &[Vec<u8>]) -> Result<Symbols, Error> {
    let context = Context::create();
    let parsed: Result<Vec<_>, _> =
        modules.iter().map(|bitcode| parse_bitcode(&context, bitcode, "symbols")).collect();
    let parsed = parsed?;
    Ok(Symbols { reaches: reaches::of(&parsed), ..symbols::of(&parsed) })
}
