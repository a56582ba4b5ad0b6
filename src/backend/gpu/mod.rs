//! What back ends with queued launches share, those of GPUs and the asynchronous processor: the order of accesses,
//! memory, events, panics and modules, over the calls of a driver.
//!
//! A back end implements [`calls`] with its driver's functions and gets from here what is the same for every
//! driver with streams and events. Nothing here names a vendor.

pub(super) mod accesses;
pub(super) mod calls;
pub(super) mod device_times;
pub(super) mod event;
#[cfg(any(feature = "cuda", feature = "hip"))]
pub(super) mod graph;
pub(super) mod host_blocks;
pub(super) mod host_memory;
pub(super) mod image;
pub(super) mod launches;
pub(super) mod memory;
pub(super) mod module;
pub(super) mod panics;
mod print_buffer;
pub(super) mod recorded;
pub(super) mod records;
pub(super) mod shared;
pub(super) mod stream;
pub(super) mod stream_id;
pub(super) mod transfers;
