//! The CPU back end: kernels that are linked into the application.
//!
//! A launch has run when it returns. Its blocks run on rayon's pool, or on the calling thread
//! where that is faster; the threads of a block run on one thread, by the kernel's lowering strategy:
//! a function that loops over them, or coroutines that the [`scheduler`] resumes in turn.
//! [`abi`](crate::embedded::abi) is the interface to compiled code. Two debugging aids are turned on by
//! environment variables ([`options`]): the [`watchdog`] runs launches on threads of their own and gives up those that
//! take too long, and [`guard_pages`] let an access beyond a buffer end the process.

mod arena;
mod available;
pub(crate) mod bare;
mod blocks;
pub(crate) mod context;
mod cooperative;
mod dispatch;
mod event;
mod gate;
mod guard_pages;
mod joined;
pub(super) mod launch;
pub(super) mod memory;
pub(super) mod module;
mod options;
pub(super) mod plain;
mod pool;
mod scheduler;
mod sharing;
mod stack;
mod strategy;
mod stream;
pub(super) mod support;
#[cfg(test)]
mod tests;
pub(super) mod variables;
mod warp;
mod watchdog;
