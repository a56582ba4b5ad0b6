//! The processor: kernels that are linked into the application.
//!
//! A launch has run when it returns. Its blocks run on rayon's pool, or on the calling thread
//! where that is faster; the threads of a block run on one thread, as a loop (road 0 of the
//! [`abi`](crate::embedded::abi)) or as coroutines that the [`scheduler`] resumes in turn.

mod arena;
pub(crate) mod context;
mod dispatch;
mod launch;
mod memory;
mod module;
mod scheduler;
mod stream;
mod warp;
