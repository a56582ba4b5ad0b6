//! Base: errors, handles, and what crosses the boundary to C.

pub(crate) mod abi;
pub(crate) mod error;
pub(crate) mod handle;
pub(crate) mod names;
