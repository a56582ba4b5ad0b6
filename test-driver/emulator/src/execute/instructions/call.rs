//! Calls and returns.
//!
//! PTX ISA, "call" and "Application Binary Interface".

use super::system_call;
use crate::execute::machine::{Instruction, Machine, Stop};
use crate::execute::state::{Frame, LOCAL_FILL, Undefined};
use crate::launch::FaultKind;
use crate::memory::CODE_BASE;
use crate::program::{CallSite, Parts, Slice};

/// A thread's stack, in bytes of local memory and in calls.
const STACK_BYTES: usize = 4 << 20;
const STACK_CALLS: usize = 20_000;

/// What the stacks of all threads of a block may take, with the registers of callers, in bytes.
const BLOCK_STACK_BYTES: usize = 1 << 30;

/// `call` of function `a` at call site `e`.
pub(crate) fn call_direct(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    enter(m, i.a as usize, i.e as usize, pc)
}

/// `call` of the function whose address is in slot `a`, at call site `e`.
pub(crate) fn call_indirect(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let address = m.get(i.a);
    let offset = address.wrapping_sub(CODE_BASE);
    let index = (offset / 16).wrapping_sub(1) as usize;
    if !offset.is_multiple_of(16) || index >= m.grid.program.functions.len() {
        return m.fail(FaultKind::CallTarget { address });
    }
    let call = &m.function.tables.calls[i.e as usize];
    let callee = &m.grid.program.functions[index];
    let same = |ours: &[Slice], theirs: &[Slice]| {
        ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| a.bytes == b.bytes)
    };
    let fits = same(&call.arguments, &callee.parameters) && same(&call.returns, &callee.returns);
    if callee.entry || !fits {
        return m.fail(FaultKind::CallTarget { address });
    }
    enter(m, index, i.e as usize, pc)
}

fn enter(m: &mut Machine<'_>, callee: usize, site: usize, pc: u32) -> u32 {
    let function = &m.grid.program.functions[callee];
    let call: &CallSite = &m.function.tables.calls[site];
    if !function.defined {
        return system_call::call_builtin(m, &function.name, call, pc);
    }
    let base = m.thread.local.len().next_multiple_of(16);
    let end = base + function.frame_bytes as usize;
    let kept = (end - m.thread.local.len()) + 8 * m.registers.len() + 4 * m.thread.undefined.len();
    let full = m.block.stack_bytes + kept > BLOCK_STACK_BYTES;
    if m.thread.frames.len() >= STACK_CALLS || end > STACK_BYTES || full {
        let depth = m.thread.frames.len() as u32;
        return m.fail(FaultKind::StackOverflow { depth });
    }
    m.block.stack_bytes += kept;
    m.thread.local.resize(end, LOCAL_FILL);
    let caller = m.thread.base;
    for (from, to) in call.arguments.iter().zip(&function.parameters) {
        let from = (caller + from.offset) as usize..;
        let length = to.bytes as usize;
        m.thread.local.copy_within(from.start..from.start + length, base + to.offset as usize);
    }
    let registers = m.grid.templates[callee].clone();
    let frame = Frame {
        registers: std::mem::replace(&mut m.registers, registers),
        undefined: std::mem::take(&mut m.thread.undefined),
        function: m.thread.function,
        pc,
        base: caller,
        site: site as u32,
        kept,
    };
    m.thread.frames.push(frame);
    m.thread.base = base as u32;
    m.thread.function = callee as u32;
    m.thread.forget_registers(m.grid, function);
    m.thread.pc = 0;
    m.stop(Stop::Switch)
}

/// The slots of a caller's results that the function which ends leaves undefined.
fn undefined_results(m: &Machine<'_>, parts: &[Parts]) -> Vec<u32> {
    let mut found = Vec::new();
    if m.thread.undefined.is_empty() {
        return found;
    }
    for (to, from) in parts.iter().zip(&m.function.result_parts) {
        for part in 0..to.count {
            let mut own = from.within(part * to.bytes, to.bytes);
            if !own.is_empty() && own.all(|slot| m.thread.undefined(slot).is_some()) {
                found.push(to.first + part);
            }
        }
    }
    found
}

/// `ret`: back to the caller, or the end of the thread.
pub(crate) fn leave(m: &mut Machine<'_>, _: &Instruction, _: u32) -> u32 {
    let Some(frame) = m.thread.frames.pop() else { return m.stop(Stop::End) };
    let base = m.thread.base;
    m.block.stack_bytes -= frame.kept;
    let caller = &m.grid.program.functions[frame.function as usize];
    let site = &caller.tables.calls[frame.site as usize];
    let undefined = undefined_results(m, &site.parts);
    for (to, from) in site.returns.iter().zip(&m.function.returns) {
        let start = (base + from.offset) as usize;
        let length = from.bytes as usize;
        m.thread.local.copy_within(start..start + length, (frame.base + to.offset) as usize);
    }
    m.thread.local.truncate((frame.base + caller.frame_bytes) as usize);
    m.registers = frame.registers;
    m.thread.undefined = frame.undefined;
    for slot in undefined {
        m.thread.tainted = true;
        m.thread.define(slot, Some(Undefined::Returned(slot)));
    }
    m.thread.base = frame.base;
    m.thread.function = frame.function;
    m.thread.pc = frame.pc + 1;
    m.stop(Stop::Switch)
}
