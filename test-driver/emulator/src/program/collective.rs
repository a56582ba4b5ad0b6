//! Warp collectives: operations that the lanes of a warp perform together.
//!
//! PTX ISA, "Parallel Synchronization and Communication Instructions".

use super::matrix::{FragmentMultiply, LoadMatrix, Multiply, WarpgroupMultiply};

/// Which lane `shfl.sync` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// `shfl.sync`: the destinations `d` and `p`, the value `a`, lane `b` and segment `c`, all slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shuffle {
    pub(crate) mode: ShuffleMode,
    pub(crate) d: u32,
    pub(crate) p: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
}

/// What `vote.sync` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// A collective of a warp; its fields are slots unless they say otherwise.
#[derive(Clone, Debug)]
pub(crate) enum Collective {
    /// `bar.warp.sync`
    Barrier,
    /// `activemask`
    ActiveMask {
        d: u32,
    },
    /// `elect.sync`
    Elect {
        d: u32,
        p: u32,
    },
    Shuffle(Shuffle),
    Vote {
        mode: Vote,
        d: u32,
        a: u32,
    },
    /// `match.any.sync` of values of `width` bits.
    MatchAny {
        d: u32,
        a: u32,
        width: u32,
    },
    MatchAll {
        d: u32,
        p: u32,
        a: u32,
        width: u32,
    },
    /// `redux.sync`
    Reduce {
        d: u32,
        a: u32,
        combine: fn(u64, u64) -> u64,
    },
    Multiply(Box<Multiply>),
    LoadMatrix(Box<LoadMatrix>),
    /// `wmma.mma`
    Fragments(Box<FragmentMultiply>),
    /// `wgmma.mma_async`
    Warpgroup(Box<WarpgroupMultiply>),
}
