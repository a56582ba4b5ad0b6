//! Barriers of a block: opened when enough threads wait.

use crate::execute::state::{BarrierWait, Block, Grid, Reduction, Thread, Wait};
use crate::launch::{Fault, FaultKind};

/// Opens the barriers at which enough threads wait.
pub(super) fn complete(
    block: &mut Block,
    threads: &mut [Thread],
    grid: &Grid<'_>,
) -> Result<bool, Fault> {
    let mut any = false;
    for barrier in 0..16 {
        let waiting: Vec<usize> = (0..threads.len())
            .filter(|&thread| wait_of(&threads[thread], barrier).is_some())
            .collect();
        let arrivals = &mut block.arrived[barrier as usize];
        let arrived = arrivals.threads.len();
        let Some(&first) = waiting.first() else {
            // Arrivals alone end a phase too.
            if arrived > 0 && arrived >= expected(threads, arrivals.wanted as usize) {
                arrivals.threads.clear();
            }
            continue;
        };
        let wait = wait_of(&threads[first], barrier);
        let wanted = wait.and_then(|wait| wait.count).map_or_else(
            || threads.iter().filter(|thread| !thread.has_ended()).count(),
            |count| expected(threads, count as usize),
        );
        if waiting.len() + arrived >= wanted {
            open(block, threads, grid, barrier, &waiting)?;
            any = true;
        }
    }
    Ok(any)
}

/// A count includes the lanes that the block's last warp lacks.
fn expected(threads: &[Thread], count: usize) -> usize {
    let threads = threads.len();
    if count >= threads.next_multiple_of(32) { threads } else { count }
}

fn wait_of(thread: &Thread, number: u32) -> Option<BarrierWait> {
    match thread.wait {
        Wait::Barrier(wait) if wait.barrier == number => Some(wait),
        _ => None,
    }
}

fn open(
    block: &mut Block,
    threads: &mut [Thread],
    grid: &Grid<'_>,
    barrier: u32,
    waiting: &[usize],
) -> Result<(), Fault> {
    check_alignment(block, threads, grid, barrier, waiting)?;
    let votes = || waiting.iter().filter_map(|&thread| wait_of(&threads[thread], barrier));
    let count = votes().filter(|wait| wait.vote).count();
    let total = votes().count();
    order(block, threads, barrier, waiting);
    for &thread in waiting {
        let thread = &mut threads[thread];
        if let Some((slot, reduction)) = wait_of(thread, barrier).and_then(|wait| wait.reduction) {
            thread.registers[slot as usize] = match reduction {
                Reduction::Count => count as u64,
                Reduction::All => u64::from(count == total),
                Reduction::Any => u64::from(count > 0),
            };
        }
        thread.wait = Wait::Ready;
        thread.pc += 1;
    }
    Ok(())
}

/// Tells the race detector whom the barrier orders.
fn order(block: &mut Block, threads: &[Thread], barrier: u32, waiting: &[usize]) {
    let arrived = std::mem::take(&mut block.arrived[barrier as usize].threads);
    let running = threads.iter().filter(|thread| !thread.has_ended()).count();
    let Some(detector) = &mut block.observer else { return };
    if waiting.len() == running && arrived.is_empty() {
        detector.block_barrier(&mut block.clocks);
    } else {
        let members: Vec<usize> = waiting.iter().copied().chain(arrived).collect();
        detector.partial_barrier(&mut block.clocks, &members);
    }
}

/// With `.aligned`, all threads of a warp must have come to the same instruction.
fn check_alignment(
    block: &Block,
    threads: &[Thread],
    grid: &Grid<'_>,
    barrier: u32,
    waiting: &[usize],
) -> Result<(), Fault> {
    for pair in waiting.windows(2) {
        let (first, second) = (&threads[pair[0]], &threads[pair[1]]);
        let aligned = wait_of(second, barrier).is_some_and(|wait| wait.aligned);
        let same = first.pc == second.pc && first.function == second.function;
        if aligned && !same && first.warp() == second.warp() {
            let line = |thread: &Thread| {
                let function = &grid.program.functions[thread.function as usize];
                function.origins[thread.pc as usize].line
            };
            let kind = FaultKind::DivergentBarrier { barrier, lines: [line(first), line(second)] };
            return Err(second.fault(grid, block.index, kind));
        }
    }
    Ok(())
}
