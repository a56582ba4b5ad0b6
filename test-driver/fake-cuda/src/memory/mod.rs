//! Memory: allocations, pools, device and host memory, copies and fills.

mod allocation;
pub(crate) mod copy;
mod device;
pub(crate) mod external;
mod graph;
pub(crate) mod host;
pub(crate) mod pool;

pub(crate) use allocation::{
    Allocation, Kind, Owner, add, check, find, forget_global, owned, retire, take,
};
pub(crate) use device::{allocate, give_back, release, release_context};
pub(crate) use graph::GraphMemory;
