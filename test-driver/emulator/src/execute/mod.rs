//! Execution of decoded code.
//!
//! Top down: `schedule` runs grids, blocks and threads; `warp` performs collectives; `instructions` are
//! the handlers; `machine` is what a handler works on; `state` is what grids, blocks and threads hold.

pub(crate) mod instructions;
mod machine;
mod schedule;
mod state;
mod warp;

pub(crate) use machine::{Code, Guard, Handler, Instruction, Machine, Transfer};
pub(crate) use schedule::run;
pub(crate) use state::{Grid, Reduction, Undefined};
