//! Entries: the functions that a device starts, made of the shims that `#[kernel]` generates.

mod functions;
mod gpu;
mod mangled;
mod parts;
mod promises;
mod rename;
mod sharing;
mod shim;
mod unit;

pub(crate) use functions::{exported, functions};
pub(crate) use gpu::{GpuAbi, gpu};
pub(crate) use mangled::{mangle_entries, name_functions, shown_names};
pub(crate) use parts::{drop_bodies, keep_only};
pub(crate) use promises::find_sharing;
pub(crate) use rename::rename;
pub(crate) use sharing::{KernelSharing, KernelsSharing, Sharing};
pub(crate) use shim::{Argument, address_attributes, arguments, shim};
pub(crate) use unit::{Entry, Unit};
