//! Lifetime: startup, the end of contexts, and what a program has not given back.

mod fork;
pub(crate) mod leak;
mod startup;
mod teardown;

pub(crate) use fork::is_forked;
pub(crate) use startup::initialize;
pub(crate) use teardown::{destroy, release_primary, reset_primary};
