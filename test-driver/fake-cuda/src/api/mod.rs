//! The functions of the driver, as C calls them.
//!
//! Each is a thin layer: it turns handles and pointers into values, and is wrapped in
//! [`call`](call::call). Names and arguments are those of `cuda.h`, whose documentation
//! holds for them.

mod call;
mod context;
mod copy;
mod copy_rows;
mod device;
mod error;
mod event;
mod external;
mod fill;
mod function;
mod graph;
mod graph_nodes;
mod host;
mod init;
mod launch;
mod memory;
mod module;
mod occupancy;
mod peer;
mod pool;
mod procedures;
mod stream;
mod tensor_map;
mod unified;
