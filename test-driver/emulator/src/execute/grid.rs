//! A launch: its blocks, spread over cores.

use super::block::{Party, Progress, next_random, seeded};
use crate::fault::{Access, Fault, FaultKind};
use crate::launch::{Options, Order};
use crate::memory::{Store, Window};
use crate::program::{Function, Instruction, Program};
use crate::races::{Detector, Thread};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Everything that stays the same during a launch.
pub(crate) struct Grid<'a> {
    pub(crate) program: &'a Program,
    /// Slots of each function that the kernel reaches, when it is entered.
    pub(crate) templates: Vec<Vec<u64>>,
    pub(crate) entry: usize,
    pub(crate) parameters: Vec<u8>,
    pub(crate) store: &'a Store,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    pub(crate) dynamic_shared_bytes: u32,
    pub(crate) multiprocessors: u32,
    pub(crate) cooperative: bool,
    /// Device address of a cooperative launch's workspace.
    pub(crate) workspace: u64,
    pub(crate) options: &'a Options,
    pub(crate) used: AtomicU64,
}

/// What one core keeps while it runs blocks.
pub(crate) struct Worker {
    /// Instructions run.
    pub(crate) steps: u64,
    /// How often each instruction of each function ran.
    pub(crate) hits: Vec<Vec<u64>>,
    pub(crate) windows: Vec<Vec<Window>>,
    pub(crate) detector: Option<Box<Detector>>,
    pub(crate) printed: Vec<(u32, String)>,
}

impl Worker {
    fn new(grid: &Grid<'_>) -> Worker {
        let mut lengths = vec![0; grid.program.functions.len()];
        for index in grid.program.reachable(grid.entry) {
            lengths[index] = grid.program.functions[index].code.len();
        }
        Worker {
            steps: 0,
            hits: lengths.iter().map(|&length| vec![0; length]).collect(),
            windows: lengths.iter().map(|&length| vec![Window::default(); length]).collect(),
            detector: grid.options.detect_races.then(|| Box::new(Detector::new())),
            printed: Vec::new(),
        }
    }
}

/// What a launch leaves behind, whether it went well or not.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) hits: Vec<Vec<u64>>,
    pub(crate) printed: String,
    pub(crate) fault: Option<Fault>,
}

impl Grid<'_> {
    pub(crate) fn code<'f>(&self, function: &'f Function) -> &'f [Instruction] {
        match &function.guarded {
            Some(guarded) if self.options.poison => guarded,
            _ => &function.code,
        }
    }

    /// Takes instructions off the budget.
    pub(crate) fn charge(&self, steps: u64) -> Result<(), FaultKind> {
        let Some(budget) = self.options.step_budget else { return Ok(()) };
        let used = self.used.fetch_add(steps, Ordering::Relaxed) + steps;
        if used > budget { Err(FaultKind::StepBudget { budget }) } else { Ok(()) }
    }

    /// A thread's access for a message.
    pub(crate) fn access(&self, party: Thread, write: bool) -> Access {
        let split = |number: u32, [x, y, _]: [u32; 3]| [number % x, number / x % y, number / x / y];
        Access {
            block: split(party.block, self.grid),
            thread: split(party.linear, self.block),
            line: party.line,
            write,
        }
    }

    fn blocks(&self) -> Vec<u32> {
        let count: u32 = self.grid.iter().product();
        let mut blocks: Vec<u32> = (0..count).collect();
        match self.options.order {
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
}

/// Runs all blocks of a launch.
pub(crate) fn run(grid: &Grid<'_>) -> Outcome {
    let blocks = grid.blocks();
    if grid.cooperative {
        let mut worker = Worker::new(grid);
        let fault = run_together(grid, &mut worker, &blocks).err();
        return gather(vec![worker], fault);
    }
    let cores = match grid.options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let cores = if grid.options.detect_races { 1 } else { cores.min(blocks.len()).max(1) };
    let queue = Queue { blocks, next: AtomicUsize::new(0), fault: Mutex::new(None) };
    let workers = if cores == 1 {
        vec![queue.work(grid)]
    } else {
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..cores).map(|_| scope.spawn(|| queue.work(grid))).collect();
            let join = |handle: std::thread::ScopedJoinHandle<'_, Worker>| {
                handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            handles.into_iter().map(join).collect()
        })
    };
    let fault = queue.fault.into_inner().unwrap_or_else(PoisonError::into_inner);
    gather(workers, fault.map(|(_, fault)| fault))
}

/// Blocks that workers take one by one.
struct Queue {
    blocks: Vec<u32>,
    next: AtomicUsize,
    /// The fault of the earliest block, with its place in the queue.
    fault: Mutex<Option<(usize, Fault)>>,
}

impl Queue {
    fn work(&self, grid: &Grid<'_>) -> Worker {
        let mut worker = Worker::new(grid);
        let mut party = Party::default();
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&block) = self.blocks.get(place) else { return worker };
            if let Err(fault) = run_alone(grid, &mut worker, &mut party, block) {
                self.next.store(self.blocks.len(), Ordering::Relaxed);
                let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(earliest, _)| place < *earliest) {
                    *first = Some((place, fault));
                }
                return worker;
            }
        }
    }
}

fn run_alone(
    grid: &Grid<'_>,
    worker: &mut Worker,
    party: &mut Party,
    block: u32,
) -> Result<(), Fault> {
    party.start(grid, block);
    let ended = loop {
        match party.turn(grid, worker) {
            Ok(Progress::Advanced) => {}
            Ok(Progress::Ended) => break Ok(()),
            Err(fault) => break Err(fault),
        }
    };
    if !party.block.printed.is_empty() {
        worker.printed.push((block, std::mem::take(&mut party.block.printed)));
    }
    ended
}

/// Runs all blocks in turns, so that they can wait for each other.
fn run_together(grid: &Grid<'_>, worker: &mut Worker, blocks: &[u32]) -> Result<(), Fault> {
    let mut parties: Vec<Party> = blocks
        .iter()
        .map(|&block| {
            let mut party = Party::default();
            party.start(grid, block);
            party
        })
        .collect();
    let ended = take_turns(grid, worker, &mut parties);
    let printed = parties.into_iter().map(|party| (party.block.number, party.block.printed));
    worker.printed.extend(printed);
    ended
}

/// Gives every block a turn after the other, until all have ended.
fn take_turns(grid: &Grid<'_>, worker: &mut Worker, parties: &mut [Party]) -> Result<(), Fault> {
    let mut running: Vec<usize> = (0..parties.len()).collect();
    while !running.is_empty() {
        let mut still = Vec::with_capacity(running.len());
        for number in running {
            if parties[number].turn(grid, worker)? == Progress::Advanced {
                still.push(number);
            }
        }
        running = still;
    }
    Ok(())
}

/// Adds up what the workers did.
fn gather(workers: Vec<Worker>, fault: Option<Fault>) -> Outcome {
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
