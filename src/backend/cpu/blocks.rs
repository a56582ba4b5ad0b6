//! CPU blocks: what a launch runs on one thread of the host, by the kernel's lowering strategy.
//!
//! Needs arguments and a record that outlive it. Guaranteed: blocks run one after the other, none after a
//! panic, and none where their memory cannot be had, which is an error.

use std::{
    ops::Range,
    sync::atomic::{AtomicU32, Ordering},
};

use kernelmill_artifact::PanicRecord;

use super::{
    arena::{Arena, Lacking, Lease},
    guard_pages::Placement,
    scheduler::Scheduler,
    stack,
};
use crate::embedded::abi::{Block, BlockOrder, Geometry, ROW, Resume, Run, Start};

/// The lowering strategy of a kernel, and its functions.
#[derive(Clone, Copy)]
pub(super) enum Strategy {
    /// `joined_threads`: neighbours in that order may be run as one larger block, which should have so many threads along the
    /// axis; they may not where it is 0.
    Loop {
        run: Run,
        thread_bytes: usize,
        order: BlockOrder,
        joined_threads: u32,
    },
    Coroutine {
        start: Start,
        resume: Resume,
        stride: usize,
        align: usize,
    },
}

impl Strategy {
    /// The order of blocks in which those that access the same rows of memory come after each other.
    pub(super) fn order(self) -> BlockOrder {
        match self {
            Self::Loop { order, .. } => order,
            Self::Coroutine { .. } => BlockOrder::AlongX,
        }
    }

    /// The axis along which neighbouring blocks may be run as one larger block, and the threads that this should have there.
    pub(super) fn joined_axis(self) -> Option<(usize, u32)> {
        let Self::Loop { order, joined_threads, .. } = self else { return None };
        let axis = match order {
            BlockOrder::AlongX => 0,
            BlockOrder::AlongY => 1,
        };
        (joined_threads > 0).then_some((axis, joined_threads))
    }
}

/// How many blocks a grid has.
pub(super) fn count(grid: [u32; 3]) -> usize {
    grid.iter().map(|&n| n as usize).product()
}

/// The blocks of a launch.
pub(super) struct Blocks<'a> {
    pub(super) strategy: Strategy,
    pub(super) order: BlockOrder,
    pub(super) geometry: &'a Geometry,
    pub(super) arguments: *const *const u8,
    pub(super) record: *mut PanicRecord,
    pub(super) shared_bytes: usize,
    pub(super) guard_pages: Option<Placement>,
    /// The bytes of stack that a block needs.
    pub(super) stack_bytes: usize,
}

// SAFETY: arguments are only read; the record is claimed by one thread before it is written.
unsafe impl Sync for Blocks<'_> {}

impl Blocks<'_> {
    /// Runs the blocks with these linear indices in the arena of the calling thread, or of another where the calling
    /// one has too little stack.
    ///
    /// # Safety
    ///
    /// The arguments are those of the kernel, and nobody else runs these blocks.
    pub(super) unsafe fn run(&self, blocks: Range<usize>) -> Result<(), Lacking> {
        // SAFETY: promised; the arena is that of the thread which runs this.
        let run = || unsafe { self.run_in(Lease::take(self.guard_pages).arena(), blocks) };
        if stack::has(self.stack_bytes) {
            return run();
        }
        stack::with(self.stack_bytes, run).unwrap_or(Err(Lacking(self.stack_bytes)))
    }

    /// Runs the only block of a launch in the arena of the calling thread; the record of its panic, if it has panicked. The
    /// launch needs no record: clearing one and copying it take longer than the rest.
    ///
    /// # Safety
    ///
    /// As for `run`; the calling thread has the stack that the block needs.
    pub(super) unsafe fn run_only(&self) -> Result<Option<Box<PanicRecord>>, Lacking> {
        let mut lease = Lease::take(self.guard_pages);
        let arena = lease.arena();
        let scheduler = self.scheduler(arena)?;
        let block = arena.block(self.shared_bytes, self.scratch_bytes())?;
        let record = &raw mut arena.record;
        // SAFETY: block and record are this thread's until the lease ends; arguments are promised.
        unsafe {
            (*block).geometry = self.geometry;
            (*block).panic = record;
            (*block).index = [0; 3];
            self.run_block(scheduler.as_ref(), block);
            if !(*record).is_set() {
                return Ok(None);
            }
            Ok(Some(Box::new(record.replace(PanicRecord::EMPTY))))
        }
    }

    /// The bytes that a block keeps for its threads between barriers.
    fn scratch_bytes(&self) -> usize {
        let Strategy::Loop { thread_bytes, .. } = self.strategy else { return 0 };
        let [width, height, depth] = self.geometry.block.map(|n| n as usize);
        let rows = height.saturating_mul(depth);
        thread_bytes.saturating_mul(width.next_multiple_of(ROW)).saturating_mul(rows)
    }

    /// Runs one block.
    ///
    /// # Safety
    ///
    /// The arguments are those of the kernel, the scheduler is that of its blocks, and the block is complete.
    unsafe fn run_block(&self, scheduler: Option<&Scheduler>, block: *mut Block) {
        // SAFETY: promised.
        unsafe {
            match (&self.strategy, scheduler) {
                (Strategy::Loop { run, .. }, _) => run(self.arguments, block),
                (Strategy::Coroutine { .. }, Some(scheduler)) => scheduler.run(block),
                (Strategy::Coroutine { .. }, None) => unreachable!("made before"),
            }
        }
    }

    /// Runs the blocks with these linear indices until one panics; none where their memory cannot be had.
    ///
    /// # Safety
    ///
    /// As for `run`; nobody else uses the arena.
    unsafe fn run_in(&self, arena: &mut Arena, blocks: Range<usize>) -> Result<(), Lacking> {
        let scheduler = self.scheduler(arena)?;
        let block = arena.block(self.shared_bytes, self.scratch_bytes())?;
        let mut index = self.geometry.index_of(blocks.start, self.order);
        // SAFETY: the block is this thread's; the record outlives the launch, and kernels use its
        // state as an atomic too; arguments are promised.
        unsafe {
            (*block).geometry = self.geometry;
            (*block).panic = self.record;
            let panicked = AtomicU32::from_ptr(&raw mut (*self.record).state);
            for _ in blocks {
                if panicked.load(Ordering::Relaxed) != 0 {
                    return Ok(());
                }
                (*block).index = index;
                self.run_block(scheduler.as_ref(), block);
                index = self.geometry.after(index, self.order);
            }
        }
        Ok(())
    }

    /// What runs the threads of a block as coroutines, in an arena.
    pub(super) fn scheduler(&self, arena: &mut Arena) -> Result<Option<Scheduler>, Lacking> {
        let Strategy::Coroutine { start, resume, stride, align } = self.strategy else {
            return Ok(None);
        };
        let (shape, arguments) = (self.geometry.block, self.arguments);
        let threads = shape.iter().map(|&n| n as usize).product();
        let (items, frames) = arena.threads(threads, stride, align)?;
        Ok(Some(Scheduler { start, resume, arguments, shape, items, frames, stride }))
    }
}
