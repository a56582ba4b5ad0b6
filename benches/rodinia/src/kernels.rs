//! The wrappers of the kernels.
#![allow(clippy::all, clippy::pedantic, missing_docs, reason = "they are generated")]

kernelmill::include_kernels!();
