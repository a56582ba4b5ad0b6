//! The OpenCL back end: every device that an [OpenCL](https://registry.khronos.org/OpenCL/) 2.0 or later
//! implementation drives, GPUs of any vendor and processors.
//!
//! The library is opened when the program runs, by the crate `cl3`, and implementations register with it. What is
//! the same for every driver is in [`gpu`](super::gpu). Memory is coarse-grained [shared virtual memory][svm]: it has
//! an address, which the host computes with and never reads, so that a part of a buffer is an argument like the
//! whole, at any alignment. Buffer objects would need a table from addresses to objects, and sub-buffers,
//! whose start has to be aligned as the device asks.
//!
//! [svm]: https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html#shared-virtual-memory

mod calls;
pub(crate) mod context;
mod devices;
mod driver;
mod driver_context;
mod event;
mod launch;
mod loss;
mod marker;
mod memory;
mod module;
mod program;
mod properties;
pub(super) mod support;
