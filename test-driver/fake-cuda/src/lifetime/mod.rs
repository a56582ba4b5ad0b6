//! Lifetime: startup, the end of contexts, and what a program has not given back.

pub(crate) mod leak;
mod startup;
mod teardown;

pub(crate) use startup::initialize;
pub(crate) use teardown::{destroy, release_primary, reset_primary};
