//! The coroutine scheduler: runs the threads of a block as coroutines, on one thread of the host.
//!
//! Warp by warp, each lane runs until it waits or ends; warp operations complete as soon as their
//! lanes are there. When every warp is stuck, all threads that have not ended wait at one barrier of
//! the kernel, and it opens. Otherwise they wait for each other for ever, which is reported as a panic: at
//! different barriers, or at warp operations whose lanes do not come. Threads that have ended do not count,
//! neither at the barrier nor in a warp, as for `__syncthreads` since
//! [Volta](https://docs.nvidia.com/cuda/volta-tuning-guide/index.html#independent-thread-scheduling).

use std::sync::atomic::{AtomicU32, Ordering};

use kernelmill_artifact::{PanicKind, PanicRecord};

use super::warp::{self, LANES};
use crate::embedded::abi::{
    Block, Item, Resume, Start, WAIT_BARRIER, WAIT_ENDED, WAIT_NONE, WAIT_WARP,
};

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
        // SAFETY: `block` is valid.
        let record = unsafe { (*block).panic };
        // SAFETY: the record outlives the launch, and kernels use its state as an atomic too.
        let panicked = unsafe { AtomicU32::from_ptr(&raw mut (*record).state) };
        // SAFETY: promised by the caller.
        unsafe { self.start_all(block) };
        loop {
            for first in (0..self.threads()).step_by(LANES) {
                // SAFETY: promised by the caller, and all threads are started.
                unsafe { self.run_warp(first) };
            }
            if panicked.load(Ordering::Acquire) != 0 {
                return;
            }
            // SAFETY: no coroutine runs, so nobody else uses the items.
            let items = unsafe { std::slice::from_raw_parts_mut(self.items, self.threads()) };
            if items.iter().all(|item| item.wait == WAIT_ENDED) {
                return;
            }
            if let Some(stuck) = Stuck::find(items) {
                // SAFETY: `block` and its record are valid.
                return unsafe { report_deadlock(&stuck, (*block).index, panicked, record) };
            }
            for item in items.iter_mut().filter(|item| item.wait == WAIT_BARRIER) {
                item.wait = WAIT_NONE;
            }
        }
    }

    fn threads(&self) -> usize {
        self.shape.iter().map(|&n| n as usize).product()
    }

    /// # Safety
    ///
    /// As for `run`.
    unsafe fn start_all(&self, block: *mut Block) {
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

/// A block whose threads wait for each other for ever.
struct Stuck {
    /// The first thread that is not where others wait for it.
    thread: [u32; 3],
    message: String,
}

impl Stuck {
    /// Why the barrier does not open once every warp is stuck; `None` where it does.
    fn find(items: &[Item]) -> Option<Self> {
        if let Some(first) = items.iter().find(|item| item.wait == WAIT_WARP) {
            return Some(Self { thread: first.thread, message: at_warp_operations(items) });
        }
        let mut waiting = items.iter().filter(|item| item.wait == WAIT_BARRIER);
        let barrier = waiting.next()?.argument;
        let first = waiting.find(|item| item.argument != barrier)?;
        Some(Self { thread: first.thread, message: at_barriers(items) })
    }
}

fn count(items: &[Item], is: impl Fn(&Item) -> bool) -> usize {
    items.iter().filter(|item| is(item)).count()
}

#[cold]
fn at_warp_operations(items: &[Item]) -> String {
    format!(
        "the threads of a block wait for each other for ever: {} at a warp operation whose other \
         lanes do not come, {} at the block's barrier, {} ended",
        count(items, |item| item.wait == WAIT_WARP),
        count(items, |item| item.wait == WAIT_BARRIER),
        count(items, |item| item.wait == WAIT_ENDED)
    )
}

#[cold]
fn at_barriers(items: &[Item]) -> String {
    let waiting = || items.iter().filter(|item| item.wait == WAIT_BARRIER);
    let mut barriers: Vec<u32> = Vec::new();
    for item in waiting() {
        if !barriers.contains(&item.argument) {
            barriers.push(item.argument);
        }
    }
    let at = |barrier: &u32| waiting().filter(|item| item.argument == *barrier).count().to_string();
    format!(
        "the threads of a block wait at {} different barriers: {} threads, {} ended",
        barriers.len(),
        barriers.iter().map(at).collect::<Vec<_>>().join(" and "),
        count(items, |item| item.wait == WAIT_ENDED)
    )
}

/// Records that the threads of the block with this index wait for each other for ever, unless a panic is
/// recorded.
///
/// # Safety
///
/// `record` is valid, and `state` is its state.
#[cold]
unsafe fn report_deadlock(
    stuck: &Stuck,
    block: [u32; 3],
    state: &AtomicU32,
    record: *mut PanicRecord,
) {
    if state.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
        return;
    }
    // SAFETY: this thread has claimed the record, so nobody else writes it.
    let record = unsafe { &mut *record };
    record.kind = PanicKind::Deadlock as u32;
    record.location = u32::MAX;
    record.block = block;
    record.thread = stuck.thread;
    let length = stuck.message.len().min(record.message.len());
    record.message[..length].copy_from_slice(&stuck.message.as_bytes()[..length]);
    record.message_len = length as u32;
    state.store(2, Ordering::Release);
}

#[cfg(test)]
mod tests;
