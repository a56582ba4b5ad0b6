//! Passes over a kernel's module, in LLVM's intermediate representation. The pipeline runs them in order.

pub(crate) mod address_spaces;
pub(crate) mod atomic_additions;
pub(crate) mod call_chains;
pub(crate) mod check;
pub(crate) mod deferred;
pub(crate) mod denormals;
pub(crate) mod dispatch;
pub(crate) mod edge_values;
pub(crate) mod entry;
pub(crate) mod fast_math;
pub(crate) mod index_width;
pub(crate) mod launch_state;
pub(crate) mod lengths;
pub(crate) mod link;
pub(crate) mod locations;
pub(crate) mod panic_record;
pub(crate) mod parameters;
pub(crate) mod relocations;
pub(crate) mod retarget;
