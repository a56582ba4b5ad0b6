//! The asynchronous CPU back end: the processor as a device whose launches are queued, as a GPU's are.
//!
//! Kernels are those of [`cpu`](super::cpu), and so are buffers. A stream is a thread that does what it is given
//! in order ([`queue`]), so that a launch returns before its kernel has run, and streams run beside each other. The
//! order of accesses, events and panics are those that the back ends of GPUs share ([`gpu`](super::gpu)): a program
//! that forgets to wait, or to order two streams, goes wrong here as it does there. Guaranteed: what is queued keeps
//! its arguments, and memory is freed after what uses it.

mod calls;
pub(crate) mod context;
mod driver_context;
mod event;
mod in_use;
mod launch;
mod memory;
mod module;
mod queue;
pub(super) mod support;
#[cfg(test)]
mod tests;
