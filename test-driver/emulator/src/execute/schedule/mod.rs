//! Schedulers: of the grid, of a block, of a thread.

mod barrier;
mod block;
mod endless;
mod grid;
mod random;
mod resume;
mod starvation;
mod worker;

pub(crate) use grid::run;
