//! The CUDA back end: NVIDIA's driver, through cudarc.
//!
//! No other folder names a type of cudarc's. Programs that use cudarc themselves pass its streams and
//! slices to wrappers: see [`interop`].
//!
//! Buffers are cudarc's slices, whose events keep the order between streams. The driver is opened
//! at run time, and nothing here calls it before [`driver::present`] has found it.

pub(super) mod context;
mod driver;
pub(super) mod element;
mod image;
mod interop;
mod launch;
mod memory;
mod module;
mod order;
mod panics;
mod shared;
mod stream;
mod tensor_map;
