//! Contexts: current and primary ones, and the order of the work of their streams.

#[expect(clippy::module_inception, reason = "the context itself, beside what belongs to it")]
mod context;
mod current;
mod order;
pub(crate) mod primary;
mod submit;

pub(crate) use context::{CONTEXTS, Context, drain_all, refuse_during_capture};
pub(crate) use current::{current, pop, push, set_current, stack_top, usable};
pub(crate) use submit::{create_stream, destroy_stream, find_stream, resolve};
