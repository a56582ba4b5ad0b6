//! Handlers of `cp.async` and `cp.async.bulk`.
//!
//! Copies of a thread's own are read when they begin, and written when the thread waits for them; bulk
//! copies are done when they are issued. (PTX ISA, "Data Movement and Conversion Instructions:
//! Asynchronous copy".)

use super::area::{Area, check_alignment};
use super::global::Global;
use super::mbarrier::{arrive, brought};
use super::spaces::Shared;
use crate::execute::machine::{Instruction, Machine, STOP};
use crate::execute::state::Arriving;
use crate::launch::{FaultKind, Space};
use crate::memory::AccessKind;

/// Copies, and groups of them, that a thread has under way: older ones come at once.
const MOST_COPIES: usize = 1024;

/// `cp.async`: to slots `a + e`, from slots `b + d`, `c` of `x` bytes, the rest zero.
pub(crate) fn copy(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let to = m.get(i.a).wrapping_add(m.get(i.e));
    let from = m.get(i.b).wrapping_add(m.get(i.d));
    let limit = m.get(i.c);
    let size = u64::from(i.x);
    if check_both(m, to, from, i.x).is_none() {
        return STOP;
    }
    let mut arriving = Arriving { to, words: [0; 4], count: size as usize / 4 };
    for (place, offset) in (0..size).step_by(4).enumerate() {
        match word(m, pc, from.wrapping_add(offset), limit.saturating_sub(offset).min(4)) {
            Some(value) => arriving.words[place] = value,
            None => return STOP,
        }
    }
    m.thread.copies.open.push(arriving);
    if m.thread.copies.open.len() > MOST_COPIES {
        // They may come at any time.
        let open = std::mem::take(&mut m.thread.copies.open);
        if arrive_at(m, pc, &open).is_none() {
            return STOP;
        }
    }
    pc + 1
}

/// Checks the alignment of the addresses of a copy, in shared and in device memory.
fn check_both(m: &mut Machine<'_>, to: u64, from: u64, bytes: u32) -> Option<()> {
    check_alignment(m, Space::Shared, to, bytes)?;
    check_alignment(m, Space::Global, from, bytes)
}

/// `cp.async.commit_group`: the copies begun since the last are a group.
pub(crate) fn commit(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let group = std::mem::take(&mut m.thread.copies.open);
    m.thread.copies.groups.push_back(group);
    if m.thread.copies.groups.len() > MOST_COPIES {
        return wait(m, &Instruction { x: MOST_COPIES as u32, ..*i }, pc);
    }
    pc + 1
}

/// `cp.async.wait_group`: all groups but the latest `x` have come.
pub(crate) fn wait(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    while m.thread.copies.groups.len() > i.x as usize {
        let group = m.thread.copies.groups.pop_front().unwrap_or_default();
        if arrive_at(m, pc, &group).is_none() {
            return STOP;
        }
    }
    pc + 1
}

/// `cp.async.wait_all`: everything has come.
pub(crate) fn wait_for_all(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    commit(m, i, pc);
    wait(m, &Instruction { x: 0, ..*i }, pc)
}

/// `cp.async.mbarrier.arrive`, which a memory barrier learns of: the latest moment is not looked for
/// here, the copies come at once.
pub(crate) fn copies_arrive(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    match wait_for_all(m, i, pc) {
        STOP => STOP,
        _ => arrive(m, i, pc),
    }
}

/// The same where the arrival is not one that the memory barrier counts.
pub(crate) fn uncounted_copies_arrive(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    wait_for_all(m, i, pc)
}

/// Writes what has come.
fn arrive_at(m: &mut Machine<'_>, pc: u32, group: &[Arriving]) -> Option<()> {
    for arriving in group {
        for (place, value) in arriving.words[..arriving.count].iter().enumerate() {
            Shared::store(
                m,
                pc,
                arriving.to.wrapping_add(4 * place as u64),
                *value,
                AccessKind::WRITE,
            )?;
        }
    }
    Some(())
}

/// The first `bytes` bytes of a word, the others zero.
fn word(m: &mut Machine<'_>, pc: u32, address: u64, bytes: u64) -> Option<u32> {
    if bytes == 4 {
        return Global::load::<u32>(m, pc, address, AccessKind::READ);
    }
    let mut value = 0;
    for byte in 0..bytes {
        value |=
            u32::from(Global::load::<u8>(m, pc, address.wrapping_add(byte), AccessKind::READ)?)
                << (8 * byte);
    }
    Some(value)
}

/// `cp.async.bulk`: to `a`, from `b`, `c` bytes, of which the memory barrier at `e` learns.
pub(crate) fn bulk_copy(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    const UNIT: u64 = 16;
    let (to, from, bytes) = (m.get(i.a), m.get(i.b), m.get(i.c) & 0xffff_ffff);
    if check_both(m, to, from, UNIT as u32).is_none() {
        return STOP;
    }
    if bytes % UNIT != 0 {
        let reason = format!("a bulk copy of {bytes} bytes, which is not a multiple of {UNIT}");
        return m.fail(FaultKind::InvalidOperand { reason });
    }
    for offset in (0..bytes).step_by(4) {
        let Some(value) = word(m, pc, from.wrapping_add(offset), 4) else { return STOP };
        if Shared::store(m, pc, to.wrapping_add(offset), value, AccessKind::WRITE).is_none() {
            return STOP;
        }
    }
    brought(m, pc, i.e, bytes)
}
