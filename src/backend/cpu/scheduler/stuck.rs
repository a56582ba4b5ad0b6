//! Blocks whose threads wait: at a barrier of the grid, or in a deadlock, and how that is reported.

use std::sync::atomic::{AtomicU32, Ordering};

use kernelmill_artifact::PanicKind;

use crate::{
    backend::cpu::warp::LANES,
    embedded::abi::{Block, Item, OF_WARPS, WAIT_BARRIER, WAIT_ENDED, WAIT_GRID, WAIT_WARP},
};

/// Threads of a block that wait at a barrier of the grid.
#[derive(Clone, Copy, Debug)]
pub(in crate::backend::cpu) struct GridWait {
    /// Which of the kernel's barriers it is.
    pub(in crate::backend::cpu) barrier: u32,
    pub(in crate::backend::cpu) waiting: usize,
    pub(in crate::backend::cpu) ended: usize,
    /// The first that waits.
    pub(in crate::backend::cpu) thread: [u32; 3],
}

impl GridWait {
    /// The wait of a block in which nothing is stuck; `None` where it is at no barrier of the grid.
    pub(super) fn of(items: &[Item]) -> Option<Self> {
        let first = items.iter().find(|item| item.wait == WAIT_GRID)?;
        let ended = items.iter().filter(|item| item.wait == WAIT_ENDED).count();
        let (barrier, waiting) = (first.argument, items.len() - ended);
        Some(Self { barrier, waiting, ended, thread: first.thread })
    }
}

/// A block whose threads are in a deadlock.
pub(in crate::backend::cpu) struct Stuck {
    /// The first thread that is not where others wait for it.
    pub(in crate::backend::cpu) thread: [u32; 3],
    pub(in crate::backend::cpu) message: String,
}

impl Stuck {
    /// Why the barrier does not open once every warp is stuck; `None` where it does.
    pub(super) fn find(items: &[Item]) -> Option<Self> {
        if let Some(first) = items.iter().find(|item| item.wait == WAIT_WARP) {
            return Some(Self { thread: first.thread, message: at_warp_operations(items) });
        }
        let mut waiting = items.iter().filter(|item| item.wait == WAIT_BARRIER);
        let Some(barrier) = waiting.next().map(|item| item.argument) else {
            let mut waiting = items.iter().filter(|item| item.wait == WAIT_GRID);
            let barrier = waiting.next()?.argument;
            let first = waiting.find(|item| item.argument != barrier)?;
            return Some(Self { thread: first.thread, message: at_barriers(items, WAIT_GRID) });
        };
        let other = waiting.find(|item| item.argument != barrier);
        if let Some(first) = other.filter(|_| !are_of_warps(items)) {
            return Some(Self { thread: first.thread, message: at_barriers(items, WAIT_BARRIER) });
        }
        let first = items.iter().find(|item| item.wait == WAIT_GRID)?;
        Some(Self { thread: first.thread, message: at_both(items) })
    }

    /// The block of a wait whose other blocks do not run.
    pub(super) fn alone(wait: GridWait) -> Self {
        let GridWait { waiting, thread, .. } = wait;
        let message = format!(
            "{waiting} threads wait at a barrier of the grid, which the other blocks do not reach: the launch is not \
             cooperative"
        );
        Self { thread, message }
    }
}

/// Whether the barriers that threads wait at open together: all are of that kind, and no warp waits at two.
fn are_of_warps(items: &[Item]) -> bool {
    items.chunks(LANES).all(|warp| {
        let mut sites = warp.iter().filter(|it| it.wait == WAIT_BARRIER).map(|it| it.argument);
        let first = sites.next().unwrap_or(OF_WARPS);
        first & OF_WARPS != 0 && sites.all(|site| site == first)
    })
}

fn count(items: &[Item], is: impl Fn(&Item) -> bool) -> usize {
    items.iter().filter(|item| is(item)).count()
}

#[cold]
fn at_warp_operations(items: &[Item]) -> String {
    format!(
        "deadlock in a block: {} threads wait at a warp-level primitive that other lanes do not reach, {} at the \
         block's barrier, {} have exited",
        count(items, |item| item.wait == WAIT_WARP),
        count(items, |item| item.wait == WAIT_BARRIER),
        count(items, |item| item.wait == WAIT_ENDED)
    )
}

#[cold]
fn at_both(items: &[Item]) -> String {
    format!(
        "deadlock in a block: {} threads wait at the block's barrier, {} at the grid's, {} have exited",
        count(items, |item| item.wait == WAIT_BARRIER),
        count(items, |item| item.wait == WAIT_GRID),
        count(items, |item| item.wait == WAIT_ENDED)
    )
}

#[cold]
fn at_barriers(items: &[Item], kind: u32) -> String {
    let waiting = || items.iter().filter(|item| item.wait == kind);
    let mut barriers: Vec<u32> = Vec::new();
    for item in waiting() {
        if !barriers.contains(&item.argument) {
            barriers.push(item.argument);
        }
    }
    let at = |barrier: &u32| waiting().filter(|item| item.argument == *barrier).count().to_string();
    format!(
        "deadlock in a block: its threads wait at {} different barriers{}: {} threads, {} have exited",
        barriers.len(),
        if kind == WAIT_GRID { " of the grid" } else { "" },
        barriers.iter().map(at).collect::<Vec<_>>().join(" and "),
        count(items, |item| item.wait == WAIT_ENDED)
    )
}

/// Records that the threads of a block are in a deadlock, unless a panic is recorded.
///
/// # Safety
///
/// `block` and its record are valid.
#[cold]
pub(in crate::backend::cpu) unsafe fn report_deadlock(stuck: &Stuck, block: *mut Block) {
    // SAFETY: promised.
    let (record, index) = unsafe { ((*block).panic, (*block).index) };
    // SAFETY: the record outlives the launch, and kernels use its state as an atomic too.
    let state = unsafe { AtomicU32::from_ptr(&raw mut (*record).state) };
    if state.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
        return;
    }
    // SAFETY: this thread has claimed the record, so nobody else writes it.
    let record = unsafe { &mut *record };
    record.kind = PanicKind::Deadlock as u32;
    record.location = u32::MAX;
    record.block = index;
    record.thread = stuck.thread;
    let length = stuck.message.len().min(record.message.len());
    record.message[..length].copy_from_slice(&stuck.message.as_bytes()[..length]);
    record.message_len = length as u32;
    state.store(2, Ordering::Release);
}
