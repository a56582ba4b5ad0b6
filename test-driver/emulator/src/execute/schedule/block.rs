//! The block scheduler: threads take turns until all have ended, or none can go on.

use super::barrier;
use super::random::{next_random, seeded};
use super::resume::resume;
use super::worker::Worker;
use crate::checks::Clock;
use crate::execute::state::{Block, Grid, Thread, Wait};
use crate::execute::warp;
use crate::launch::{Fault, FaultKind, Order};

/// Instructions that a thread runs before others get a turn, unless the order is random.
const TURN: u64 = 1 << 16;

/// A block that runs: its state and its threads.
#[derive(Default)]
pub(crate) struct ResidentBlock {
    pub(crate) block: Block,
    threads: Vec<Thread>,
    random: u64,
}

/// How far a turn of all threads got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Advanced,
    /// Threads have polled memory and found it as it was, and nothing else was done.
    Polled,
    /// Since the block was last asked about it, every thread that can run has polled memory and found it as it was.
    Waits,
    Ended,
}

impl ResidentBlock {
    /// Starts over as block `number` of a grid.
    pub(crate) fn start(&mut self, grid: &Grid<'_>, number: u32) {
        let [x, y, _] = grid.grid;
        let block = &mut self.block;
        block.index = [number % x, number / x % y, number / x / y];
        block.number = number;
        block.shared.clear();
        block.shared.resize(grid.shared_bytes as usize, 0xcd);
        block.shared_written.clear();
        if grid.options.poison {
            block.shared_written.resize(grid.shared_bytes as usize, false);
        }
        block.watched = grid.options.poison || grid.options.detect_races;
        block.printed.clear();
        block.arrived.iter_mut().for_each(|arrivals| arrivals.threads.clear());
        block.stack_bytes = 0;
        let count: u32 = grid.block.iter().product();
        block.clocks.clear();
        if grid.options.detect_races {
            block.clocks.resize(count as usize, Clock::default());
        }
        self.threads.resize_with(count as usize, Thread::default);
        for (linear, thread) in self.threads.iter_mut().enumerate() {
            thread.start(grid, linear as u32);
        }
        if let Order::Random(seed) = grid.options.order {
            self.random = seeded(seed, u64::from(number) + 1);
        }
    }

    /// Gives every thread that can run a turn, then completes what they wait for.
    pub(crate) fn turn(
        &mut self,
        grid: &Grid<'_>,
        worker: &mut Worker<'_>,
    ) -> Result<Progress, Fault> {
        self.block.observer = worker.detector.take();
        let result = self.observed_turn(grid, worker);
        worker.detector = self.block.observer.take();
        result
    }

    fn observed_turn(
        &mut self,
        grid: &Grid<'_>,
        worker: &mut Worker<'_>,
    ) -> Result<Progress, Fault> {
        let mut advanced = self.run_ready(grid, worker)?;
        for number in 0..self.threads.len().div_ceil(32) {
            advanced |= warp::complete(&mut self.block, &mut self.threads, grid, number)?;
        }
        advanced |= barrier::complete(&mut self.block, &mut self.threads, grid)?;
        if advanced {
            self.threads.iter_mut().for_each(|thread| thread.has_looked = false);
            return Ok(Progress::Advanced);
        }
        if self.threads.iter().any(Thread::is_ready) {
            return Ok(self.polled());
        }
        if self.threads.iter().all(Thread::has_ended) {
            if let Some(detector) = &mut self.block.observer {
                detector.end_block(self.block.number);
            }
            return Ok(Progress::Ended);
        }
        Err(self.stuck(grid))
    }

    /// What a turn was in which threads that can run did nothing but look.
    fn polled(&mut self) -> Progress {
        if !self.threads.iter().all(|thread| thread.has_looked || !thread.is_ready()) {
            // A random turn may miss some.
            return Progress::Polled;
        }
        self.threads.iter_mut().for_each(|thread| thread.has_looked = false);
        Progress::Waits
    }

    /// Gives `true` where a thread did more than to look at memory that it polls.
    fn run_ready(&mut self, grid: &Grid<'_>, worker: &mut Worker<'_>) -> Result<bool, Fault> {
        let count = self.threads.len();
        let mut advanced = false;
        for turn in 0..count {
            let (number, quantum) = match grid.options.order {
                Order::Forward => (turn, TURN),
                Order::Reverse => (count - 1 - turn, TURN),
                Order::Random(_) => self.draw(count),
            };
            if self.threads[number].is_ready() {
                let ran = self.run_thread(grid, worker, number, quantum)?;
                self.threads[number].has_looked = !ran;
                advanced |= ran;
            }
        }
        Ok(advanced)
    }

    fn draw(&mut self, count: usize) -> (usize, u64) {
        let number = (next_random(&mut self.random) >> 20) as usize % count;
        let quantum = match next_random(&mut self.random) >> 20 & 3 {
            0 => 1 + (next_random(&mut self.random) >> 20) % 8,
            1 | 2 => 1 + (next_random(&mut self.random) >> 20) % 64,
            _ => TURN,
        };
        (number, quantum)
    }

    fn run_thread(
        &mut self,
        grid: &Grid<'_>,
        worker: &mut Worker<'_>,
        number: usize,
        quantum: u64,
    ) -> Result<bool, Fault> {
        let before = worker.steps;
        let thread = &mut self.threads[number];
        let result = resume(grid, worker, &mut self.block, thread, quantum);
        let fault = |kind| self.threads[number].fault(grid, self.block.index, kind);
        let ran = result.map_err(fault)?;
        grid.charge(worker.steps - before).map_err(fault)?;
        Ok(ran)
    }

    /// The fault of a block that polls memory which nothing changes any more, where `waiting_blocks` of the launch have not
    /// begun.
    pub(crate) fn starved(&self, grid: &Grid<'_>, waiting_blocks: usize) -> Fault {
        let polls = self.threads.iter().find(|thread| thread.is_ready());
        let thread = polls.unwrap_or(&self.threads[0]);
        let mut waiting = self.waiting();
        if waiting_blocks > 0 {
            let blocks: u32 = grid.grid.iter().product();
            let kernel = &grid.program.functions[grid.entry].name;
            waiting += &format!(
                "; {waiting_blocks} of {blocks} blocks have not begun, as the launch of `{kernel}` is not cooperative"
            );
        }
        thread.fault(grid, self.block.index, FaultKind::Deadlock { waiting })
    }

    /// The fault of a block in which nothing can go on.
    fn stuck(&self, grid: &Grid<'_>) -> Fault {
        if let Some(fault) = warp::missing(&self.block, &self.threads, grid) {
            return fault;
        }
        let first = self.threads.iter().find(|thread| !thread.has_ended());
        let thread = first.unwrap_or(&self.threads[0]);
        thread.fault(grid, self.block.index, FaultKind::Deadlock { waiting: self.waiting() })
    }

    /// How many threads wait for what, in the order of their first threads, and how many have ended.
    fn waiting(&self) -> String {
        let mut groups: Vec<(String, usize)> = Vec::new();
        for thread in self.threads.iter().filter(|thread| !thread.has_ended()) {
            let what = match thread.wait {
                Wait::Barrier(wait) => match wait.count {
                    Some(count) => {
                        format!("barrier {}, which expects {count} threads", wait.barrier)
                    }
                    None => format!("barrier {}", wait.barrier),
                },
                Wait::Ready => "memory that no thread changes".to_string(),
                _ => "other lanes of their warp".to_string(),
            };
            match groups.iter_mut().find(|(known, _)| *known == what) {
                Some((_, count)) => *count += 1,
                None => groups.push((what, 1)),
            }
        }
        let ended = self.threads.iter().filter(|thread| thread.has_ended()).count();
        let groups: Vec<String> = groups
            .into_iter()
            .map(|(what, count)| format!("{count} threads wait for {what}"))
            .collect();
        format!("{}, {ended} have exited", groups.join(", "))
    }
}
