//! CPU lowering strategies: how a compiled kernel says that its blocks are run.

use super::{blocks::Strategy, dispatch};
use crate::embedded::abi::{self, BlockOrder, STRATEGY_COROUTINE, STRATEGY_LOOP};

/// The lowering strategy of a kernel; `None` where it lacks a function it should have.
pub(super) fn strategy(kernel: &abi::Kernel) -> Option<Strategy> {
    match kernel.strategy {
        STRATEGY_LOOP => Some(Strategy::Loop {
            run: dispatch::best(&kernel.run)?,
            thread_bytes: kernel.frame_bytes as usize,
            order: match kernel.blocks_along_y {
                0 => BlockOrder::AlongX,
                _ => BlockOrder::AlongY,
            },
            joined_threads: kernel.joins_blocks,
        }),
        STRATEGY_COROUTINE => Some(Strategy::Coroutine {
            start: kernel.start?,
            resume: kernel.resume?,
            stride: kernel.frame_bytes.next_multiple_of(kernel.frame_align.max(1).into()) as usize,
            align: kernel.frame_align as usize,
        }),
        _ => None,
    }
}
