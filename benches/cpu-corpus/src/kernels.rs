//! The wrappers of the kernels.
#![allow(
    clippy::all,
    clippy::pedantic,
    missing_docs,
    dead_code,
    nonstandard_style,
    reason = "they are generated"
)]

kernelmill::include_kernels!();
