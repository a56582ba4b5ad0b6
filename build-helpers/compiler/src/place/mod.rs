//! Puts what a module holds where the target wants it: source locations in one table, shared
//! memory and other globals in their address spaces.

mod backtraces;
mod locations;
mod memory;
mod reach;
mod uses;

pub(crate) use backtraces::Backtraces;
pub(crate) use locations::{LOCATION_BASE, collect as locations};
pub(crate) use memory::{
    AddressSpaces, SHARED_TAG, move_allocations, move_globals, shared_globals,
};
pub(crate) use reach::{calls_of, reachable, users_in_code};
pub(crate) use uses::replace_uses;
