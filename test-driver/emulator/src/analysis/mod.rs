//! Analysis of decoded functions: control flow, uninitialised registers.

mod control_flow;
mod uninitialised;

pub(crate) use uninitialised::guard;
