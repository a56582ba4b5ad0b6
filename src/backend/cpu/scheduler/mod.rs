//! The coroutine scheduler: runs the threads of a block as coroutines, on one thread of the host.
//!
//! Warp by warp, each lane runs until it waits or ends; warp operations complete as soon as their
//! lanes are there. When every warp is stuck, all threads that have not ended wait at one barrier of
//! the kernel, and it opens; in CUDA C++ each warp at one of its own, as `bar.sync` of PTX has it. Otherwise they wait for
//! each other for ever, which is reported as a panic: at different barriers, or at warp operations whose lanes do not come. Threads that have ended do not count,
//! neither at the barrier nor in a warp, as for `__syncthreads` since
//! [Volta](https://docs.nvidia.com/cuda/volta-tuning-guide/index.html#independent-thread-scheduling).

use std::sync::atomic::{AtomicU32, Ordering};

use super::warp::{self, LANES};
use crate::embedded::abi::{
    Block, Item, Resume, Start, WAIT_BARRIER, WAIT_ENDED, WAIT_GRID, WAIT_NONE,
};

mod stuck;

pub(super) use stuck::{GridWait, Stuck, report_deadlock};

/// How far a block has come.
#[derive(Clone, Copy, Debug)]
pub(super) enum Progress {
    /// All its threads have ended, or the launch has failed.
    Ended,
    /// Those that have not ended wait at a barrier of the grid.
    AtGrid(GridWait),
}

/// A coroutine kernel, and the memory that its threads run in.
pub(super) struct Scheduler {
    pub(super) start: Start,
    pub(super) resume: Resume,
    pub(super) arguments: *const *const u8,
    /// Threads in a block, x, y, z.
    pub(super) shape: [u32; 3],
    /// Room for as many threads.
    pub(super) items: *mut Item,
    /// Room for as many coroutines.
    pub(super) frames: *mut u8,
    /// Bytes from one coroutine to the next.
    pub(super) stride: usize,
}

impl Scheduler {
    /// Runs one block to its end, or until a thread panics or they wait for ever.
    ///
    /// # Safety
    ///
    /// `block` is valid, nobody else uses it, and the fields are what they say.
    pub(super) unsafe fn run(&self, block: *mut Block) {
        // SAFETY: promised by the caller.
        unsafe {
            self.start_all(block);
            if let Progress::AtGrid(wait) = self.advance(block) {
                // Nobody else runs the other blocks meanwhile.
                report_deadlock(&Stuck::alone(wait), block);
            }
        }
    }

    /// Runs a block whose threads have been started until they all wait at a barrier of the grid or have ended, or one of
    /// them panics or they wait for ever, which is in the record then.
    ///
    /// # Safety
    ///
    /// As for `run`, and all threads are started.
    pub(super) unsafe fn advance(&self, block: *mut Block) -> Progress {
        // SAFETY: `block` is valid.
        let record = unsafe { (*block).panic };
        // SAFETY: the record outlives the launch, and kernels use its state as an atomic too.
        let panicked = unsafe { AtomicU32::from_ptr(&raw mut (*record).state) };
        loop {
            for first in (0..self.threads()).step_by(LANES) {
                // SAFETY: promised by the caller, and all threads are started.
                unsafe { self.run_warp(first) };
            }
            if panicked.load(Ordering::Acquire) != 0 {
                return Progress::Ended;
            }
            // SAFETY: no coroutine runs, so nobody else uses the items.
            let items = unsafe { std::slice::from_raw_parts_mut(self.items, self.threads()) };
            if items.iter().all(|item| item.wait == WAIT_ENDED) {
                return Progress::Ended;
            }
            if let Some(stuck) = Stuck::find(items) {
                // SAFETY: `block` and its record are valid.
                unsafe { report_deadlock(&stuck, block) };
                return Progress::Ended;
            }
            if let Some(wait) = GridWait::of(items) {
                return Progress::AtGrid(wait);
            }
            for item in items.iter_mut().filter(|item| item.wait == WAIT_BARRIER) {
                item.wait = WAIT_NONE;
            }
        }
    }

    /// Opens the barrier of the grid that the threads of a block wait at.
    ///
    /// # Safety
    ///
    /// As for `advance`.
    pub(super) unsafe fn open_grid(&self) {
        // SAFETY: no coroutine runs, so nobody else uses the items.
        let items = unsafe { std::slice::from_raw_parts_mut(self.items, self.threads()) };
        for item in items.iter_mut().filter(|item| item.wait == WAIT_GRID) {
            item.wait = WAIT_NONE;
        }
    }

    fn threads(&self) -> usize {
        self.shape.iter().map(|&n| n as usize).product()
    }

    /// Makes the coroutines of a block, which do not run yet.
    ///
    /// # Safety
    ///
    /// As for `run`.
    pub(super) unsafe fn start_all(&self, block: *mut Block) {
        let [width, height, depth] = self.shape;
        let mut linear = 0;
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    let (thread, lane) = ([x, y, z], (linear % LANES) as u32);
                    let item = Item {
                        block,
                        thread,
                        lane,
                        wait: WAIT_NONE,
                        mask: 0,
                        operation: 0,
                        argument: 0,
                        value: 0,
                        result: 0,
                    };
                    // SAFETY: there is room for that many items and frames.
                    unsafe {
                        let place = self.items.add(linear);
                        place.write(item);
                        let frame = self.frames.add(linear * self.stride);
                        (self.start)(self.arguments, place, frame);
                    }
                    linear += 1;
                }
            }
        }
    }

    /// Runs the warp whose first thread is `first` until no lane of it can run.
    ///
    /// # Safety
    ///
    /// As for `run`, and all threads are started.
    unsafe fn run_warp(&self, first: usize) {
        let end = self.threads().min(first + LANES);
        loop {
            for thread in first..end {
                // SAFETY: the thread is started, and it has not ended where it does not wait.
                unsafe {
                    let item = self.items.add(thread);
                    let frame = self.frames.add(thread * self.stride);
                    if (*item).wait == WAIT_NONE && (self.resume)(frame, item) {
                        (*item).wait = WAIT_ENDED;
                    }
                }
            }
            // SAFETY: no coroutine runs, so nobody else uses the items.
            let lanes =
                unsafe { std::slice::from_raw_parts_mut(self.items.add(first), end - first) };
            if !warp::complete(lanes) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
