//! The state of a launch: grid, blocks and threads.

mod block;
mod grid;
mod thread;

pub(crate) use block::Block;
pub(crate) use grid::Grid;
pub(crate) use thread::{
    Arriving, BarrierWait, Frame, LOCAL_FILL, Reduction, Thread, Undefined, Wait,
};
