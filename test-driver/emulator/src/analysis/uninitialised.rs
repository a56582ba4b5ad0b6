//! Undefined registers: which may be read before they are written, after a shuffle from a lane that takes no
//! part, or after a call that has not written its result, and the guards for them.
//!
//! Most registers are written on every path to their uses; a forward must-analysis over the control-flow
//! graph finds that once (definite assignment; Aho, Lam, Sethi and Ullman, "Compilers", 9.2), and it
//! costs nothing when the code runs. The others are watched while it runs.

use super::control_flow::ControlFlow;
use crate::decode::{Body, Build};
use crate::execute::instructions::{guarded, mark_unused};
use crate::execute::{Code, Guard, Instruction, Transfer, Undefined};
use crate::program::Function;
use std::collections::HashSet;

/// A set of slots.
#[derive(Clone, PartialEq)]
struct Slots(Vec<u64>);

impl Slots {
    fn new(count: usize, fill: bool) -> Slots {
        Slots(vec![if fill { u64::MAX } else { 0 }; count.div_ceil(64)])
    }

    fn has(&self, slot: u32) -> bool {
        self.0[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    fn set(&mut self, slot: u32, value: bool) {
        let bit = 1 << (slot % 64);
        let word = &mut self.0[slot as usize / 64];
        *word = if value { *word | bit } else { *word & !bit };
    }

    /// Keeps what both have; whether anything went.
    fn meet(&mut self, other: &Slots) -> bool {
        let mut changed = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            changed |= *mine & !theirs != 0;
            *mine &= theirs;
        }
        changed
    }
}

/// Applies an instruction to the slots that are defined before it.
fn apply(build: &Build, defined: &mut Slots, given: bool) {
    let mut uses = build.uses.iter().map(|&slot| defined.has(slot));
    let value = match build.transfer {
        Transfer::Pack => build.uses.is_empty() || uses.any(|defined| defined),
        Transfer::Compute | Transfer::Select | Transfer::And | Transfer::Or => {
            uses.all(|defined| defined)
        }
        Transfer::Use | Transfer::Store | Transfer::Publish | Transfer::Shuffle => true,
        Transfer::Call => !given,
        Transfer::Return => true,
    };
    let undefined = usize::from(given && build.transfer == Transfer::Shuffle);
    for (place, &slot) in build.defines.iter().enumerate() {
        defined.set(slot, value && place >= undefined);
    }
}

/// The slots defined at the start of each basic block, on every path to it.
struct Analysis<'b> {
    flow: &'b ControlFlow<'b>,
    entry: Vec<Slots>,
    /// Whether what shuffles and calls give may be undefined.
    given: bool,
}

impl<'b> Analysis<'b> {
    fn new(flow: &'b ControlFlow<'b>, registers: &[bool], given: bool) -> Analysis<'b> {
        let count = registers.len();
        let mut first = Slots::new(count, true);
        for (slot, &register) in registers.iter().enumerate() {
            first.set(slot as u32, !register);
        }
        let mut entry = vec![Slots::new(count, true); flow.len()];
        if let Some(slots) = entry.first_mut() {
            *slots = first;
        }
        Analysis { flow, entry, given }
    }

    /// Applies the blocks until nothing changes; whether that took no more than [`MOST_WORK`].
    fn solve(&mut self, words: u64) -> bool {
        let mut work: Vec<usize> = (0..self.flow.len()).rev().collect();
        let mut visited = vec![false; self.flow.len()];
        let mut queued = vec![true; self.flow.len()];
        let mut left = MOST_WORK;
        while let Some(block) = work.pop() {
            (visited[block], queued[block]) = (true, false);
            let mut written = self.entry[block].clone();
            let builds = &self.flow.builds[self.flow.range(block)];
            builds.iter().for_each(|build| apply(build, &mut written, self.given));
            left = left.saturating_sub(words + builds.len() as u64);
            for next in self.flow.successors(block) {
                let changed = self.entry[next].meet(&written) || !visited[next];
                if changed && !std::mem::replace(&mut queued[next], true) {
                    work.push(next);
                }
                // To find the block takes longer than a word does.
                left = left.saturating_sub(words + 16);
            }
            if left == 0 {
                return false;
            }
        }
        true
    }

    /// The slots that some instruction may read undefined.
    fn undefined(&self, slots: usize) -> Vec<bool> {
        let mut found = vec![false; slots];
        for block in 0..self.flow.len() {
            let mut defined = self.entry[block].clone();
            for build in &self.flow.builds[self.flow.range(block)] {
                let undefined = build.uses.iter().filter(|&&slot| !defined.has(slot));
                undefined.for_each(|&slot| found[slot as usize] = true);
                apply(build, &mut defined, self.given);
            }
        }
        found
    }
}

/// Words of sets that an analysis may hold, and that it may touch: past that a function is so large that
/// all its registers are watched while it runs.
const MOST_WORDS: u64 = 1 << 24;
const MOST_WORK: u64 = 1 << 27;

/// The slots that some instruction of a function may read undefined.
fn undefined(flow: &ControlFlow<'_>, registers: &[bool], given: bool) -> Vec<bool> {
    let words = registers.len().div_ceil(64) as u64;
    if words * flow.len() as u64 > MOST_WORDS {
        return vec![true; registers.len()];
    }
    let mut analysis = Analysis::new(flow, registers, given);
    if !analysis.solve(words) {
        return vec![true; registers.len()];
    }
    analysis.undefined(registers.len())
}

/// The code of a function, with guards for the registers that may be read undefined; the function gets
/// their names.
pub(crate) fn guard(body: &Body, function: &mut Function) -> Code {
    let registers = body.registers.slots(function.template.len());
    let flow = ControlFlow::new(&body.builds, &function.tables.pool);
    let unwritten = undefined(&flow, &registers, false);
    let gives = |build: &Build| matches!(build.transfer, Transfer::Shuffle | Transfer::Call);
    let watched = if body.builds.iter().any(gives) {
        undefined(&flow, &registers, true)
    } else {
        unwritten.clone()
    };
    let mut plain: Vec<_> = body.builds.iter().map(|build| build.instruction).collect();
    mark_unused_words(&body.builds, &mut plain);
    let steady = body.builds.iter().map(Build::is_steady).collect();
    let loads = body.builds.iter().map(|build| build.is_load).collect();
    let code = Code { plain, steady, loads, always: unwritten.contains(&true), ..Code::default() };
    if !watched.contains(&true) {
        return code;
    }
    let is_named = |slot: &usize| registers[*slot] && watched[*slot];
    let named = (0..watched.len()).filter(is_named);
    function.names = named.map(|slot| (slot as u32, body.registers.name(slot as u32))).collect();
    for build in body.builds.iter().filter(|build| build.transfer == Transfer::Shuffle) {
        let slot = build.defines[0];
        function.names.insert(slot, body.registers.name(slot));
    }
    let calls = body.builds.iter().filter(|build| build.transfer == Transfer::Call);
    for &slot in calls.flat_map(|build| &build.defines) {
        function.names.insert(slot, body.registers.name(slot));
    }
    if code.always {
        let unwritten = |slot: usize| unwritten[slot] && registers[slot];
        let number = |slot: usize| Undefined::Unwritten(slot as u32).number();
        let initial = |slot| if unwritten(slot) { number(slot) } else { 0 };
        function.undefined = (0..watched.len()).map(initial).collect();
    }
    guard_watched(&body.builds, &watched, code)
}

/// Marks the words of vectors that are loaded into registers that nothing reads.
fn mark_unused_words(builds: &[Build], code: &mut [Instruction]) {
    let used: HashSet<u32> = builds.iter().flat_map(|it| it.uses.iter().copied()).collect();
    for (build, instruction) in builds.iter().zip(code) {
        if build.is_load && build.defines.len() > 1 {
            let unused = |(word, slot): (usize, &u32)| u32::from(!used.contains(slot)) << word;
            let mask = build.defines.iter().enumerate().map(unused).sum();
            mark_unused(&mut instruction.x, mask);
        }
    }
}

/// Adds the code that watches slots.
fn guard_watched(builds: &[Build], watched: &[bool], code: Code) -> Code {
    let mut guarded_code = code.plain.clone();
    let mut guards = Vec::with_capacity(guarded_code.len());
    let only_watched = |slots: &[u32]| -> Vec<u32> {
        slots.iter().filter(|&&slot| watched[slot as usize]).copied().collect()
    };
    for (build, instruction) in builds.iter().zip(&mut guarded_code) {
        let (needs, flows) = build.uses.split_at(build.transfer.needed(build.uses.len()));
        let guard = Guard {
            run: build.instruction.run,
            needs: only_watched(needs),
            flows: flows.to_vec(),
            // The first result of a shuffle is not known before the lanes have met.
            defines: match build.transfer {
                Transfer::Shuffle => build.defines.clone(),
                _ => only_watched(&build.defines),
            },
            transfer: build.transfer,
        };
        let flowing = guard.flows.iter().any(|&slot| watched[slot as usize]);
        if !guard.defines.is_empty() || !guard.needs.is_empty() || flowing {
            instruction.run = guarded;
        }
        guards.push(guard);
    }
    Code { guarded: Some(guarded_code), guards, ..code }
}
