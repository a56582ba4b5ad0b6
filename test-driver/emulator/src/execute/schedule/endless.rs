//! Loops that do not end by themselves: a thread that comes back to a state in which it was.
//!
//! Looked for each time that a thread has used up a long turn. Where the loop only makes registers of registers, it
//! never ends. Where it reads the word that the thread's last atomic operation was on, the thread polls, as at a barrier that
//! counts who has come: the loop ends when another thread changes the word. What else reads memory may wait for anybody, the
//! host among them.

use super::worker::Worker;
use crate::execute::machine::{Machine, STOP, Stop};
use crate::launch::FaultKind;

/// The most instructions of a loop that is found.
const LONGEST: u64 = 512;

/// What a look at a thread finds.
pub(super) enum Look {
    /// No loop.
    Goes,
    /// A loop that waits for other threads of the launch.
    Polls,
    /// What stops the thread, a loop without end among it.
    Stops(Stop),
}

/// Runs a few instructions more, up to the first that does other things than to read memory and to compute, or to where
/// all registers come to be as they were.
pub(super) fn look<'a, 'p: 'a>(machine: &mut Machine<'a>, worker: &mut Worker<'p>) -> Look {
    let number = machine.thread.function as usize;
    machine.function = &machine.grid.program.functions[number];
    machine.guards = &worker.code[number].guards;
    std::mem::swap(&mut machine.windows, &mut worker.windows[number]);
    let found = walk(machine, worker, number);
    std::mem::swap(&mut machine.windows, &mut worker.windows[number]);
    found
}

fn walk(machine: &mut Machine<'_>, worker: &mut Worker<'_>, number: usize) -> Look {
    let code = &worker.code[number];
    let is_in = |list: &[bool], pc: u32| list.get(pc as usize) == Some(&true);
    let start = machine.thread.pc;
    if !is_in(&code.steady, start) && !is_in(&code.loads, start) {
        return Look::Goes;
    }
    let instructions = code.instructions(machine.grid.options.poison, machine.thread.tainted);
    let (registers, undefined) = (machine.registers.clone(), machine.thread.undefined.clone());
    let carry = machine.thread.carry;
    let (mut pc, mut reads, mut polls) = (start, false, false);
    for count in 1..=LONGEST {
        let is_load = is_in(&code.loads, pc);
        if !is_load && !is_in(&code.steady, pc) {
            break;
        }
        let instruction = &instructions[pc as usize];
        reads |= is_load;
        polls |= is_load && is_counted(machine, machine.address(instruction.a, instruction.b));
        worker.hits[number][pc as usize] += 1;
        worker.steps += 1;
        machine.thread.pc = pc;
        pc = (instruction.run)(machine, instruction, pc);
        if pc == STOP {
            return Look::Stops(std::mem::take(&mut machine.stop));
        }
        let same = pc == start
            && carry == machine.thread.carry
            && registers == machine.registers
            && undefined == machine.thread.undefined;
        if same {
            machine.thread.pc = pc;
            return match (polls, reads) {
                (true, _) => Look::Polls,
                (false, true) => Look::Goes,
                (false, false) => {
                    let kind = FaultKind::EndlessLoop { instructions: count };
                    Look::Stops(Stop::Fault(Box::new(kind)))
                }
            };
        }
    }
    machine.thread.pc = pc;
    Look::Goes
}

/// Whether a thread has changed the word at an address by its last atomic operation, and the host has no part in it.
fn is_counted(machine: &Machine<'_>, address: u64) -> bool {
    let is_of_device = || machine.grid.store.find(address, 4).is_some_and(|it| !it.is_of_host());
    machine.thread.counted == Some(address) && is_of_device()
}
