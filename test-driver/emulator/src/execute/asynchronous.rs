//! `cp.async` and memory barrier objects.
//!
//! Copies of a thread's own are read when they begin, and written when the thread waits for them; bulk
//! copies are done when they are issued. A memory barrier is a word of shared memory: the phase, the
//! bytes that copies still have to bring, the arrivals expected and those still pending.

use super::access::{Area, Generic, Global, Shared, check_alignment};
use super::machine::{Machine, Stop};
use super::observe::Kind;
use super::thread::Arriving;
use crate::fault::{FaultKind, Space};
use crate::program::{Instruction, STOP};

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
        match word(m, pc, from + offset, limit.saturating_sub(offset).min(4)) {
            Some(value) => arriving.words[place] = value,
            None => return STOP,
        }
    }
    m.thread.copies.open.push(arriving);
    pc + 1
}

/// Checks the alignment of the addresses of a copy, in shared and in device memory.
fn check_both(m: &mut Machine<'_>, to: u64, from: u64, bytes: u32) -> Option<()> {
    check_alignment(m, Space::Shared, to, bytes)?;
    check_alignment(m, Space::Global, from, bytes)
}

/// `cp.async.commit_group`: the copies begun since the last are a group.
pub(crate) fn commit(m: &mut Machine<'_>, _: &Instruction, pc: u32) -> u32 {
    let group = std::mem::take(&mut m.thread.copies.open);
    m.thread.copies.groups.push_back(group);
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
            Shared::store(m, pc, arriving.to + 4 * place as u64, *value, Kind::WRITE)?;
        }
    }
    Some(())
}

/// The first `bytes` bytes of a word, the others zero.
fn word(m: &mut Machine<'_>, pc: u32, address: u64, bytes: u64) -> Option<u32> {
    if bytes == 4 {
        return Global::load::<u32>(m, pc, address, Kind::READ);
    }
    let mut value = 0;
    for byte in 0..bytes {
        value |= u32::from(Global::load::<u8>(m, pc, address + byte, Kind::READ)?) << (8 * byte);
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
        let reason = format!("a bulk copy of {bytes} bytes, which is no multiple of {UNIT}");
        return m.fail(FaultKind::InvalidOperand { reason });
    }
    for offset in (0..bytes).step_by(4) {
        let Some(value) = word(m, pc, from + offset, 4) else { return STOP };
        if Shared::store(m, pc, to + offset, value, Kind::WRITE).is_none() {
            return STOP;
        }
    }
    brought(m, pc, i.e, bytes)
}

/// Tells the memory barrier whose address is in a slot of bytes that have come.
pub(super) fn brought(m: &mut Machine<'_>, pc: u32, barrier: u32, bytes: u64) -> u32 {
    let at = m.get(barrier);
    let mut change = |word| State::of(word).brought(bytes).word();
    m.observe_fence();
    Shared::update::<u64>(m, pc, at, &mut change).map_or(STOP, |_| pc + 1)
}

/// The state of a memory barrier, as it lies in its word.
#[derive(Clone, Copy)]
struct State {
    /// Modulo 8.
    phase: u64,
    /// Bytes that copies still have to bring, modulo 2^21: they may come before they are expected.
    bytes: u64,
    expected: u64,
    pending: u64,
}

const COUNT: u64 = (1 << 20) - 1;
const BYTES: u64 = (1 << 21) - 1;

impl State {
    fn of(word: u64) -> State {
        State {
            phase: word >> 61,
            bytes: word >> 40 & BYTES,
            expected: word >> 20 & COUNT,
            pending: word & COUNT,
        }
    }

    fn word(self) -> u64 {
        let (phase, bytes) = (self.phase & 7, self.bytes & BYTES);
        phase << 61 | bytes << 40 | (self.expected & COUNT) << 20 | self.pending & COUNT
    }

    /// The state after `count` arrivals.
    fn arrived(self, count: u64) -> State {
        State { pending: self.pending.saturating_sub(count), ..self }.settled()
    }

    /// The state in which copies have to bring so many bytes more.
    fn expecting(self, bytes: u64) -> State {
        State { bytes: self.bytes.wrapping_add(bytes) & BYTES, ..self }
    }

    /// The state after copies have brought so many bytes.
    fn brought(self, bytes: u64) -> State {
        State { bytes: self.bytes.wrapping_sub(bytes) & BYTES, ..self }.settled()
    }

    /// The next phase, where everything has come.
    fn settled(self) -> State {
        if self.pending == 0 && self.bytes == 0 {
            return State { phase: (self.phase + 1) & 7, pending: self.expected, ..self };
        }
        self
    }
}

fn update(
    m: &mut Machine<'_>,
    i: &Instruction,
    pc: u32,
    change: &mut dyn FnMut(State) -> State,
) -> Option<u64> {
    let at = m.address(i.a, i.e);
    let mut change = |word| change(State::of(word)).word();
    m.observe_fence();
    if i.x == 1 {
        Generic::update::<u64>(m, pc, at, &mut change)
    } else {
        Shared::update::<u64>(m, pc, at, &mut change)
    }
}

/// Changes the state; `d` is the one before.
fn update_and_give(
    m: &mut Machine<'_>,
    i: &Instruction,
    pc: u32,
    change: &mut dyn FnMut(State) -> State,
) -> u32 {
    let Some(before) = update(m, i, pc, change) else { return STOP };
    m.set(i.d, before);
    pc + 1
}

/// `mbarrier.init`: `b` arrivals end a phase.
pub(crate) fn initialise(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let expected = m.get(i.b);
    if expected == 0 || expected > COUNT {
        let reason = format!("a memory barrier for {expected} arrivals");
        return m.fail(FaultKind::InvalidOperand { reason });
    }
    let word = State { phase: 0, bytes: 0, expected, pending: expected }.word();
    let at = m.address(i.a, i.e);
    let kind = Kind(Kind::WRITES | Kind::STRONG | Kind::RELEASE);
    let stored = match i.x {
        1 => Generic::store(m, pc, at, word, kind),
        _ => Shared::store(m, pc, at, word, kind),
    };
    stored.map_or(STOP, |()| pc + 1)
}

/// `mbarrier.inval`
pub(crate) fn invalidate(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    update(m, i, pc, &mut |_| State { phase: 0, bytes: 0, expected: 0, pending: 0 })
        .map_or(STOP, |_| pc + 1)
}

/// `mbarrier.arrive`: `b` arrivals; `d` is the state before.
pub(crate) fn arrive(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let count = m.get(i.b) & 0xffff_ffff;
    update_and_give(m, i, pc, &mut |state| state.arrived(count))
}

/// `mbarrier.arrive.expect_tx`: an arrival, and `b` bytes that copies will bring.
pub(crate) fn arrive_expecting(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let bytes = m.get(i.b) & 0xffff_ffff;
    update_and_give(m, i, pc, &mut |state| state.expecting(bytes).arrived(1))
}

/// `mbarrier.expect_tx`: `b` bytes that copies will bring.
pub(crate) fn expect(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let bytes = m.get(i.b) & 0xffff_ffff;
    update(m, i, pc, &mut |state| state.expecting(bytes)).map_or(STOP, |_| pc + 1)
}

/// `mbarrier.arrive_drop`: an arrival that later phases do not expect.
pub(crate) fn arrive_and_drop(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let count = m.get(i.b) & 0xffff_ffff;
    update_and_give(m, i, pc, &mut |state| {
        let expected = state.expected.saturating_sub(count);
        State { expected, ..state }.arrived(count)
    })
}

fn test(m: &mut Machine<'_>, i: &Instruction, pc: u32, done: impl Fn(State) -> bool) -> u32 {
    let Some(word) = update(m, i, pc, &mut |state| state) else { return STOP };
    let passed = done(State::of(word));
    m.set(i.d, u64::from(passed));
    if passed {
        let linear = m.thread.linear as usize;
        if let Some(detector) = &mut m.block.observer {
            detector.acquire_all(&mut m.block.clocks[linear]);
        }
        return pc + 1;
    }
    // Whoever tests in a loop lets the others arrive.
    m.stop(Stop::Pause)
}

/// `mbarrier.test_wait`: whether the phase of the state in `b` has ended.
pub(crate) fn test_state(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let phase = State::of(m.get(i.b)).phase;
    test(m, i, pc, |state| state.phase != phase)
}

/// `mbarrier.test_wait.parity`: whether the phase of the parity in `b` has ended.
pub(crate) fn test_parity(m: &mut Machine<'_>, i: &Instruction, pc: u32) -> u32 {
    let parity = m.get(i.b) & 1;
    test(m, i, pc, |state| state.phase & 1 != parity)
}
