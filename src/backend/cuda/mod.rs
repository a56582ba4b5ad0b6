//! NVIDIA's driver, through cudarc.
//!
//! Buffers are cudarc's slices, whose events keep the order between streams. The driver is opened
//! at run time, and nothing here calls it before [`driver::present`] has found it.

pub(crate) mod context;
mod driver;
mod interop;
mod launch;
mod memory;
mod module;
mod panics;
pub(crate) mod stream;
mod tensor_map;
