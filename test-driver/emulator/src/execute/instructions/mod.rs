//! The handlers of instructions, by the chapters of the PTX ISA.

pub(crate) mod address;
mod area;
pub(crate) mod async_copy;
mod atomic;
mod barrier;
mod call;
mod collective;
pub(crate) mod control_flow;
mod generic;
mod global;
mod guard;
mod load_store;
pub(crate) mod mbarrier;
mod observe;
pub(crate) mod register;
mod spaces;
mod special;
mod system_call;
pub(crate) mod tma;
mod wmma;

pub(crate) use atomic::{AtomicOperation, atomic_handler, atomic_handler_by_space};
pub(crate) use barrier::{arrive, synchronise};
pub(crate) use call::{call_direct, call_indirect, leave};
pub(crate) use collective::wait;
pub(crate) use guard::guarded;
pub(crate) use load_store::{Target, mark_unused, memory_handler, shape};
pub(crate) use special::{Special, read_special};
pub(crate) use wmma::fragment_handler;
