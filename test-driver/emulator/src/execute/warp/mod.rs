//! Warps: the collectives that their lanes perform together.

mod collective;
mod complete;
mod lanes;
mod mma;
mod wgmma;
mod wmma;

pub(crate) use complete::{complete, missing};
