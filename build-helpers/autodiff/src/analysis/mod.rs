//! Analyses of a prepared function, before its derivative is written.
//!
//! `function` runs them all, in this order: `cfg`, `memory`, `elements`, `activity`, `support`, `loops`,
//! `induction`; `choice` answers when it is asked.

mod activity;
mod cfg;
mod choice;
mod elements;
mod floats;
mod function;
mod induction;
mod loops;
mod memory;
mod support;

pub(crate) use cfg::{Cfg, reverse_postorder};
pub(crate) use elements::{Elements, copies_of};
pub(crate) use floats::holds_floats;
pub(crate) use function::Analysis;
pub(crate) use induction::{Induction, TripCount};
pub(crate) use loops::LoopId;
pub(crate) use memory::{Memory, Root, Transfer, is_pure, transfer};
