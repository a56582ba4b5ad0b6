//! The HIP back end: AMD's GPUs, through the HIP run time.
//!
//! [HIP API reference](https://rocm.docs.amd.com/projects/HIP/en/latest/reference/hip_runtime_api_reference.html).
//! The library is opened when the program runs ([`library`]), and only the functions that are needed are
//! declared. What is the same for every driver is in [`gpu`](super::gpu). HIP has no context that is
//! made current: each thread has a current device, and the context is that device's own.

mod calls;
pub(super) mod context;
mod driver;
mod driver_context;
mod event;
mod graph;
mod interop;
mod launch;
mod library;
mod memory;
mod module;
mod properties;
pub(super) mod support;
