//! The CUDA back end: NVIDIA's driver, through cudarc.
//!
//! No other folder names a type of cudarc's. Programs that use cudarc themselves pass its slices
//! to wrappers, and launch on its streams, by `unsafe` functions: see [`interop`].
//!
//! What is the same for every driver is in [`gpu`](super::gpu). The driver is opened at run time, and nothing here calls it before
//! [`driver::present`] has found it.

mod calls;
mod capture;
pub(super) mod context;
mod driver;
mod driver_context;
pub(super) mod element;
mod event;
mod graph;
mod interop;
mod launch;
mod memory;
mod module;
#[cfg(feature = "jit")]
pub(crate) mod nvrtc;
mod order;
mod stack;
mod stream;
pub(super) mod support;
mod tensor_map;

pub use interop::CudarcSlice;
