//! The grid scheduler: blocks spread over cores, or all at once for a cooperative launch.

use super::block::{Progress, ResidentBlock};
use super::random::{next_random, seeded};
use super::starvation::{Runner, Starvation};
use super::worker::Worker;
use crate::execute::machine::Code;
use crate::execute::state::Grid;
use crate::launch::{Fault, Order};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// What a launch leaves behind, whether it went well or not.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) hits: Vec<Vec<u64>>,
    pub(crate) printed: String,
    pub(crate) fault: Option<Fault>,
}

/// The numbers of all blocks, in the order that the launch asks for.
fn block_order(grid: &Grid<'_>) -> Vec<u32> {
    let count: u32 = grid.grid.iter().product();
    let mut blocks: Vec<u32> = (0..count).collect();
    match grid.options.order {
        Order::Forward => {}
        Order::Reverse => blocks.reverse(),
        Order::Random(seed) => {
            let mut state = seeded(seed, 0);
            for last in (1..blocks.len()).rev() {
                let other = (next_random(&mut state) >> 11) as usize % (last + 1);
                blocks.swap(last, other);
            }
        }
    }
    blocks
}

/// Runs all blocks of a launch.
pub(crate) fn run<'p>(grid: &Grid<'_>, code: &'p [Code]) -> Outcome {
    let blocks = block_order(grid);
    if grid.cooperative {
        let mut worker = Worker::new(grid, code);
        let fault = run_together(grid, &mut worker, &blocks).err();
        return gather(vec![worker], fault);
    }
    let cores = match grid.options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let cores = if grid.options.detect_races { 1 } else { cores.min(blocks.len()).max(1) };
    let queue = Queue {
        blocks,
        next: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
        fault: Mutex::new(None),
        starvation: Starvation::new(cores),
    };
    let workers = if cores == 1 {
        vec![queue.work(grid, code, 0)]
    } else {
        let queue = &queue;
        std::thread::scope(|scope| {
            let handles: Vec<_> =
                (0..cores).map(|core| scope.spawn(move || queue.work(grid, code, core))).collect();
            let join = |handle: std::thread::ScopedJoinHandle<'_, Worker<'p>>| {
                handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            handles.into_iter().map(join).collect()
        })
    };
    let fault = queue.fault.into_inner().unwrap_or_else(PoisonError::into_inner);
    gather(workers, fault.map(|(_, _, fault)| fault))
}

/// Blocks that workers take one by one.
struct Queue {
    blocks: Vec<u32>,
    next: AtomicUsize,
    /// Whether there was a fault.
    is_over: AtomicBool,
    /// The fault of the earliest block, with its place in the queue, and whether the block starved: others come before.
    fault: Mutex<Option<(bool, usize, Fault)>>,
    starvation: Starvation,
}

impl Queue {
    fn work<'p>(&self, grid: &Grid<'_>, code: &'p [Code], core: usize) -> Worker<'p> {
        let mut worker = Worker::new(grid, code);
        let mut runner = self.starvation.runner(core);
        let mut resident = ResidentBlock::default();
        while !self.is_over.load(Ordering::Relaxed) {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&block) = self.blocks.get(place) else { break };
            let ended = self.run_alone(grid, &mut worker, (&mut resident, &mut runner), block);
            if let Err((is_starved, fault)) = ended {
                self.is_over.store(true, Ordering::Relaxed);
                let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
                let is_first = |&(starved, earliest, _): &(bool, usize, Fault)| {
                    (is_starved, place) < (starved, earliest)
                };
                if first.as_ref().is_none_or(is_first) {
                    *first = Some((is_starved, place, fault));
                }
                break;
            }
        }
        runner.end();
        worker
    }

    /// Runs a block to its end; a fault with whether the block starved.
    fn run_alone(
        &self,
        grid: &Grid<'_>,
        worker: &mut Worker<'_>,
        (resident, runner): (&mut ResidentBlock, &mut Runner<'_>),
        block: u32,
    ) -> Result<(), (bool, Fault)> {
        resident.start(grid, block);
        let ended = loop {
            match resident.turn(grid, worker) {
                Ok(Progress::Advanced) => runner.advanced(),
                Ok(Progress::Polled) => {}
                Ok(Progress::Waits) if runner.has_looked() && grid.is_alone() => {
                    let begun = self.next.load(Ordering::Relaxed);
                    let waiting = self.blocks.len().saturating_sub(begun);
                    break Err((true, resident.starved(grid, waiting)));
                }
                // Another core has the block that is waited for, or another launch.
                Ok(Progress::Waits) => std::thread::yield_now(),
                Ok(Progress::Ended) => {
                    runner.advanced();
                    break Ok(());
                }
                Err(fault) => break Err((false, fault)),
            }
        };
        if !resident.block.printed.is_empty() {
            worker.printed.push((block, std::mem::take(&mut resident.block.printed)));
        }
        ended
    }
}

/// Runs all blocks in turns, so that they can wait for each other.
fn run_together(grid: &Grid<'_>, worker: &mut Worker<'_>, blocks: &[u32]) -> Result<(), Fault> {
    let mut residents: Vec<ResidentBlock> = blocks
        .iter()
        .map(|&block| {
            let mut resident = ResidentBlock::default();
            resident.start(grid, block);
            resident
        })
        .collect();
    let ended = take_turns(grid, worker, &mut residents);
    let printed =
        residents.into_iter().map(|resident| (resident.block.number, resident.block.printed));
    worker.printed.extend(printed);
    ended
}

/// Gives every block a turn after the other, until all have ended.
fn take_turns(
    grid: &Grid<'_>,
    worker: &mut Worker<'_>,
    residents: &mut [ResidentBlock],
) -> Result<(), Fault> {
    let starvation = Starvation::new(residents.len());
    let mut running: Vec<_> = residents
        .iter_mut()
        .enumerate()
        .map(|(number, it)| (it, starvation.runner(number)))
        .collect();
    while !running.is_empty() {
        let mut still = Vec::with_capacity(running.len());
        for (resident, mut runner) in running {
            match resident.turn(grid, worker)? {
                Progress::Advanced => runner.advanced(),
                Progress::Polled => {}
                Progress::Waits if runner.has_looked() && grid.is_alone() => {
                    return Err(resident.starved(grid, 0));
                }
                Progress::Waits => {}
                Progress::Ended => {
                    runner.end();
                    continue;
                }
            }
            still.push((resident, runner));
        }
        running = still;
    }
    Ok(())
}

/// Adds up what the workers did.
fn gather(workers: Vec<Worker<'_>>, fault: Option<Fault>) -> Outcome {
    let mut workers = workers.into_iter();
    let Some(mut first) = workers.next() else {
        return Outcome { fault, ..Outcome::default() };
    };
    for worker in workers {
        for (sum, hits) in first.hits.iter_mut().zip(worker.hits) {
            sum.iter_mut().zip(hits).for_each(|(sum, hits)| *sum += hits);
        }
        first.printed.extend(worker.printed);
    }
    first.printed.sort_by_key(|(block, _)| *block);
    let printed = first.printed.into_iter().map(|(_, text)| text).collect();
    Outcome { hits: first.hits, printed, fault }
}
