//! Endless loops: a thread that comes back to a state in which it was.
//!
//! Looked for among instructions that only make registers of registers, each time that a thread has used up a
//! long turn: what reads memory may wait for another thread.

use super::worker::Worker;
use crate::execute::machine::{Machine, STOP, Stop};
use crate::launch::FaultKind;

/// The most instructions of a loop that is found.
const LONGEST: u64 = 512;

/// Runs a few instructions more, up to the first that does other things; gives a fault where all registers come
/// to be as they were, and what else stops the thread.
pub(super) fn look(machine: &mut Machine<'_>, worker: &mut Worker<'_>) -> Option<Stop> {
    let number = machine.thread.function as usize;
    let code = &worker.code[number];
    let start = machine.thread.pc;
    if code.steady.get(start as usize) != Some(&true) {
        return None;
    }
    let instructions = code.instructions(machine.grid.options.poison, machine.thread.tainted);
    machine.function = &machine.grid.program.functions[number];
    let (registers, undefined) = (machine.registers.clone(), machine.thread.undefined.clone());
    let carry = machine.thread.carry;
    let mut pc = start;
    for count in 1..=LONGEST {
        if code.steady.get(pc as usize) != Some(&true) {
            break;
        }
        let instruction = &instructions[pc as usize];
        worker.hits[number][pc as usize] += 1;
        worker.steps += 1;
        machine.thread.pc = pc;
        pc = (instruction.run)(machine, instruction, pc);
        if pc == STOP {
            return Some(std::mem::take(&mut machine.stop));
        }
        let same = pc == start
            && carry == machine.thread.carry
            && registers == machine.registers
            && undefined == machine.thread.undefined;
        if same {
            machine.thread.pc = pc;
            return Some(Stop::Fault(Box::new(FaultKind::EndlessLoop { instructions: count })));
        }
    }
    machine.thread.pc = pc;
    None
}
