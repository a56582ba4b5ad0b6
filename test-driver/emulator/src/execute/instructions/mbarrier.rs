//! Handlers of `mbarrier`.
//!
//! An mbarrier object is a word of shared memory: the phase, the bytes that copies still have to bring
//! (tx-count), the arrivals expected and those still pending. (PTX ISA, "Parallel Synchronization and
//! Communication Instructions: mbarrier".)

use super::area::Area;
use super::generic::Generic;
use super::spaces::Shared;
use crate::execute::machine::{Instruction, Machine, STOP, Stop};
use crate::launch::FaultKind;
use crate::memory::AccessKind;

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
        let reason = format!("an mbarrier for {expected} arrivals, which must be 1 to {COUNT}");
        return m.fail(FaultKind::InvalidOperand { reason });
    }
    let word = State { phase: 0, bytes: 0, expected, pending: expected }.word();
    let at = m.address(i.a, i.e);
    let kind = AccessKind(AccessKind::WRITES | AccessKind::STRONG | AccessKind::RELEASE);
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
