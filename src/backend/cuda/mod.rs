//! The CUDA back end: NVIDIA's driver, through cudarc.
//!
//! No other folder names a type of cudarc's. Programs that use cudarc themselves pass its streams and
//! slices to wrappers: see [`interop`].
//!
//! Each block of memory knows the launches and copies that use it ([`accesses`]), whose events keep the
//! order between streams. The driver is opened at run time, and nothing here calls it before
//! [`driver::present`] has found it.

mod accesses;
mod capture;
pub(super) mod context;
mod driver;
mod driver_context;
pub(super) mod element;
mod event;
mod graph;
mod host_blocks;
mod host_memory;
mod image;
mod interop;
mod launch;
mod launches;
mod memory;
mod module;
mod order;
mod panics;
mod recorded;
mod records;
mod shared;
mod stream;
mod stream_id;
mod tensor_map;
