//! Configuration: what the environment variables say.

mod change;
mod current;
mod environment;
mod failures;

pub(crate) use current::config;
pub(crate) use environment::{Config, MAX_DEVICES, Streams};
