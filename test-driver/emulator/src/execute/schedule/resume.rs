//! The interpreter loop: runs a thread until it waits, ends, faults or has had its turn.

use super::endless::{self, Look};
use super::worker::Worker;
use crate::execute::machine::{Machine, STOP, Stop};
use crate::execute::state::{Block, Grid, Thread, Wait};
use crate::launch::FaultKind;

/// Instructions of a turn after which a loop that does not end by itself is looked for.
const LONG: u64 = 1 << 16;

/// Runs a thread until it waits, ends, faults, or has run `quantum` instructions. Gives `false` where it polled memory and
/// does so still: it has done nothing else.
pub(crate) fn resume(
    grid: &Grid<'_>,
    worker: &mut Worker<'_>,
    block: &mut Block,
    thread: &mut Thread,
    quantum: u64,
) -> Result<bool, FaultKind> {
    let mut left = quantum;
    let registers = std::mem::take(&mut thread.registers);
    let polled = std::mem::take(&mut thread.polls);
    let mut machine = Machine {
        registers,
        windows: Vec::new(),
        thread,
        block,
        grid,
        function: &grid.program.functions[0],
        guards: &[],
        clock: worker.steps,
        stop: Stop::Switch,
    };
    let first = if polled { endless::look(&mut machine, worker) } else { Look::Goes };
    let result = match first {
        Look::Polls => {
            machine.thread.polls = true;
            Ok(false)
        }
        Look::Goes => run(&mut machine, worker, (quantum, &mut left), None),
        Look::Stops(stop) => run(&mut machine, worker, (quantum, &mut left), Some(stop)),
    };
    worker.steps += quantum - left;
    machine.thread.registers = machine.registers;
    result
}

/// Runs a thread that has already stopped for a reason, or has not; always gives `true`.
fn run<'a, 'p: 'a>(
    machine: &mut Machine<'a>,
    worker: &mut Worker<'p>,
    (quantum, left): (u64, &mut u64),
    mut first: Option<Stop>,
) -> Result<bool, FaultKind> {
    loop {
        let mut stop = first.take().or_else(|| run_function(machine, worker, left));
        if *left == 0 && quantum >= LONG && matches!(stop, Some(Stop::Switch) | None) {
            stop = match endless::look(machine, worker) {
                Look::Goes => None,
                Look::Polls => {
                    machine.thread.polls = true;
                    None
                }
                Look::Stops(stop) => Some(stop),
            };
        }
        match stop {
            Some(Stop::Switch) if *left > 0 => {}
            Some(Stop::Switch | Stop::Wait | Stop::Pause) | None => return Ok(true),
            Some(Stop::End) => {
                machine.thread.wait = Wait::Ended;
                return Ok(true);
            }
            Some(Stop::Fault(kind)) => return Err(*kind),
        }
    }
}

/// Runs within one function; `None` when the quantum is used up.
fn run_function<'a, 'p: 'a>(
    machine: &mut Machine<'a>,
    worker: &mut Worker<'p>,
    left: &mut u64,
) -> Option<Stop> {
    let number = machine.thread.function as usize;
    let grid = machine.grid;
    let function = &grid.program.functions[number];
    let tainted = machine.thread.tainted;
    let code = worker.code[number].instructions(grid.options.poison, tainted);
    machine.function = function;
    machine.guards = &worker.code[number].guards;
    std::mem::swap(&mut machine.windows, &mut worker.windows[number]);
    let hits = &mut worker.hits[number][..code.len()];
    let mut pc = machine.thread.pc;
    let mut at = pc;
    let mut remaining = *left;
    while remaining > 0 {
        let Some(instruction) = code.get(pc as usize) else { break };
        hits[pc as usize] += 1;
        remaining -= 1;
        at = pc;
        pc = (instruction.run)(machine, instruction, pc);
    }
    *left = remaining;
    std::mem::swap(&mut machine.windows, &mut worker.windows[number]);
    if pc != STOP {
        machine.thread.pc = pc;
        return None;
    }
    let stop = std::mem::take(&mut machine.stop);
    match stop {
        Stop::Switch => {}
        Stop::Pause => machine.thread.pc = at + 1,
        _ => machine.thread.pc = at,
    }
    Some(stop)
}
