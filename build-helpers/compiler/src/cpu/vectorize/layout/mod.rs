//! Layout: how values are held by vector code, and where memory lies.

pub(super) mod block_memory;
pub(super) mod block_slots;
pub(super) mod context_arrays;
pub(super) mod region_function;
pub(super) mod vector_value;
