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

pub(crate) use resolve::{Sources, resolve};
pub(crate) use symbols::symbols;
