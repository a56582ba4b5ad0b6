//! Running decoded code: threads, warps, blocks and grids.

mod access;
pub(crate) mod asynchronous;
mod atomic;
mod barrier;
mod block;
pub(crate) mod boxes;
mod call;
mod fragment;
mod global;
mod grid;
mod group;
mod guard;
mod load;
mod machine;
mod matrix;
mod observe;
pub(crate) mod ops;
mod print;
mod special;
mod thread;
mod warp;

pub(crate) use atomic::{AtomicOperation, atomic_handler};
pub(crate) use barrier::{arrive, synchronise};
pub(crate) use call::{call_direct, call_indirect, leave};
pub(crate) use fragment::{Fragment, FragmentMultiply, fragment_handler};
pub(crate) use grid::{Grid, run};
pub(crate) use group::GroupMultiply;
pub(crate) use guard::guarded;
pub(crate) use load::{Target, memory_handler, shape};
pub(crate) use machine::Machine;
pub(crate) use matrix::{Element, LoadMatrix, Multiply, Product};
pub(crate) use observe::Kind;
pub(crate) use special::{Special, read_special};
pub(crate) use thread::Reduction;
pub(crate) use warp::{Shuffle, Vote, WarpOperation, wait};
