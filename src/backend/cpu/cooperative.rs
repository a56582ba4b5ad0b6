//! Cooperative launches: all blocks of a grid are alive at once, each in an arena of its own.
//!
//! Each block runs until its threads wait at a barrier of the grid, the blocks in parallel. When all have come there, the
//! barrier opens, and all go on. No thread of the host waits within a block, so that a few of them run any number of
//! blocks. Guaranteed: the memory of all blocks together is bounded, and is there before the first one begins.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::{
    arena::{Arena, Lacking, frame_bytes},
    available::Share,
    blocks::{Blocks, Strategy},
    scheduler::{GridWait, Progress, Scheduler, Stuck, report_deadlock},
    stack,
};
use crate::embedded::abi::Block;

/// The most bytes that the blocks of a launch take together.
const MOST_BYTES: usize = 1 << 30;

/// The most blocks of a launch: as many as have room in memory.
pub(super) fn most_blocks(strategy: Strategy, block: [u32; 3], shared_bytes: usize) -> u64 {
    (MOST_BYTES / bytes_of_block(strategy, block, shared_bytes)) as u64
}

/// The bytes that a block takes, at least 1.
fn bytes_of_block(strategy: Strategy, block: [u32; 3], shared_bytes: usize) -> usize {
    let threads = block.iter().fold(1_usize, |all, &n| all.saturating_mul(n as usize));
    match strategy {
        Strategy::Loop { .. } => 1,
        Strategy::Coroutine { stride, .. } => frame_bytes(threads, stride)
            .saturating_add(shared_bytes.saturating_mul(2))
            .saturating_add(size_of::<Arena>()),
    }
}

/// A block that has begun.
struct Resident {
    scheduler: Scheduler,
    block: *mut Block,
    progress: Progress,
    /// What the pointers are to.
    _arena: Box<Arena>,
}

// SAFETY: the memory is its own, and one thread at a time runs the block.
unsafe impl Send for Resident {}

impl Blocks<'_> {
    /// Runs the first `count` blocks of a launch, which is all of them, until they have ended or one of their threads has
    /// panicked; none where their memory cannot be had.
    ///
    /// # Safety
    ///
    /// The arguments are those of the kernel, and nobody else runs its blocks.
    pub(super) unsafe fn run_together(
        &self,
        count: usize,
        is_parallel: bool,
    ) -> Result<(), Lacking> {
        let Strategy::Coroutine { .. } = self.strategy else {
            // SAFETY: promised; no thread of it waits.
            return unsafe { self.run(0..count) };
        };
        let each = bytes_of_block(self.strategy, self.geometry.block, self.shared_bytes);
        let bytes = each.saturating_mul(count);
        let _share = Share::take(bytes).ok_or(Lacking(bytes))?;
        // SAFETY: promised.
        let begun = (0..count).map(|index| unsafe { self.begin(index) });
        let mut residents: Vec<_> = begun.collect::<Result<_, _>>()?;
        // SAFETY: the record outlives the launch, and kernels use its state as an atomic too.
        let panicked = unsafe { AtomicU32::from_ptr(&raw mut (*self.record).state) };
        loop {
            // SAFETY: promised; each block is in one chunk.
            let run = |chunk: &mut [Resident]| unsafe { self.advance(chunk) };
            if is_parallel {
                let chunk = count.div_ceil(4 * rayon::current_num_threads()).max(1);
                residents.par_chunks_mut(chunk).map(run).collect::<Result<Vec<_>, _>>()?;
            } else {
                run(&mut residents)?;
            }
            let is_over = residents.iter().all(|it| matches!(it.progress, Progress::Ended));
            if is_over || panicked.load(Ordering::Acquire) != 0 {
                return Ok(());
            }
            if let Some((stuck, block)) = find_stuck(&residents) {
                // SAFETY: the block and its record are there.
                unsafe { report_deadlock(&stuck, block) };
                return Ok(());
            }
            // SAFETY: no block runs.
            residents.iter().for_each(|resident| unsafe { resident.scheduler.open_grid() });
        }
    }

    /// Makes the threads of the block with this linear index.
    ///
    /// # Safety
    ///
    /// As for `run_together`.
    unsafe fn begin(&self, index: usize) -> Result<Resident, Lacking> {
        let mut arena = Box::new(Arena::new(self.guard_pages));
        let scheduler = self.scheduler(&mut arena)?.expect("a coroutine has one");
        let block = arena.block(self.shared_bytes, 0)?;
        // SAFETY: the block is there, and nobody else knows it; arguments are promised.
        unsafe {
            (*block).geometry = self.geometry;
            (*block).panic = self.record;
            (*block).index = self.geometry.index_of(index, self.order);
            scheduler.start_all(block);
        }
        Ok(Resident { scheduler, block, progress: Progress::Ended, _arena: arena })
    }

    /// Runs blocks until each waits at a barrier of the grid or has ended, on a thread with as much stack as they need.
    ///
    /// # Safety
    ///
    /// As for `run_together`.
    unsafe fn advance(&self, residents: &mut [Resident]) -> Result<(), Lacking> {
        let mut run = || {
            for resident in residents.iter_mut() {
                // SAFETY: promised; the block has begun. Another thread of the host may have run it before.
                unsafe {
                    (*resident.block).stack_limit = stack::limit();
                    resident.progress = resident.scheduler.advance(resident.block);
                }
            }
        };
        if stack::has(self.stack_bytes) {
            run();
            return Ok(());
        }
        stack::with(self.stack_bytes, run).map_err(|_| Lacking(self.stack_bytes))
    }
}

/// Why the barrier of the grid does not open, and a block that waits there; `None` where it does.
fn find_stuck(residents: &[Resident]) -> Option<(Stuck, *mut Block)> {
    let waits: Vec<(GridWait, *mut Block)> = residents
        .iter()
        .filter_map(|resident| match resident.progress {
            Progress::AtGrid(wait) => Some((wait, resident.block)),
            Progress::Ended => None,
        })
        .collect();
    let (first, block) = *waits.first()?;
    if let Some((other, block)) = waits.iter().find(|(it, _)| it.barrier != first.barrier) {
        let message = "deadlock in the grid: its blocks wait at different barriers".to_owned();
        return Some((Stuck { thread: other.thread, message }, *block));
    }
    let waiting: usize = waits.iter().map(|(wait, _)| wait.waiting).sum();
    let ended: usize = waits.iter().map(|(wait, _)| wait.ended).sum();
    let left = residents.len() - waits.len();
    if ended == 0 && left == 0 {
        return None;
    }
    let message = format!(
        "deadlock in the grid: {waiting} threads wait at its barrier, {ended} threads of their blocks have exited, \
         {left} blocks have ended"
    );
    Some((Stuck { thread: first.thread, message }, block))
}
