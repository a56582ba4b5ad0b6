//! Uninitialised registers: which may be read before they are written, and the guards for them.
//!
//! Most registers are written on every path to their uses; a forward must-analysis over the control-flow
//! graph finds that once (definite assignment; Aho, Lam, Sethi and Ullman, "Compilers", 9.2), and it
//! costs nothing when the code runs. The others are watched while it runs.

use super::control_flow::ControlFlow;
use crate::decode::{Body, Build};
use crate::execute::instructions::guarded;
use crate::execute::{Code, Guard, Transfer};
use crate::program::Function;
use std::collections::BTreeSet;

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

/// Applies an instruction to the slots written before it.
fn apply(build: &Build, written: &mut Slots) {
    let copies = build.transfer == Transfer::Copy && !build.uses.is_empty();
    let value = !copies || build.uses.iter().any(|&slot| written.has(slot));
    build.defines.iter().for_each(|&slot| written.set(slot, value));
}

/// The slots written at the start of each basic block, on every path to it.
struct Analysis<'b> {
    flow: ControlFlow<'b>,
    entry: Vec<Slots>,
}

impl<'b> Analysis<'b> {
    fn new(flow: ControlFlow<'b>, registers: &[bool]) -> Analysis<'b> {
        let count = registers.len();
        let mut first = Slots::new(count, true);
        for (slot, &register) in registers.iter().enumerate() {
            first.set(slot as u32, !register);
        }
        let mut entry = vec![Slots::new(count, true); flow.len()];
        if let Some(slots) = entry.first_mut() {
            *slots = first;
        }
        Analysis { flow, entry }
    }

    /// Applies the blocks until nothing changes.
    fn solve(&mut self) {
        let mut work: Vec<usize> = (0..self.flow.len()).rev().collect();
        let mut visited = vec![false; self.flow.len()];
        while let Some(block) = work.pop() {
            visited[block] = true;
            let mut written = self.entry[block].clone();
            let builds = &self.flow.builds[self.flow.range(block)];
            builds.iter().for_each(|build| apply(build, &mut written));
            for next in self.flow.successors(block) {
                if self.entry[next].meet(&written) || !visited[next] {
                    work.push(next);
                }
            }
        }
    }

    /// The registers that some instruction may read unwritten.
    fn unwritten(&self, registers: &[bool]) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for block in 0..self.flow.len() {
            let mut written = self.entry[block].clone();
            for build in &self.flow.builds[self.flow.range(block)] {
                let unwritten = |slot: &&u32| registers[**slot as usize] && !written.has(**slot);
                found.extend(build.uses.iter().filter(unwritten).copied());
                apply(build, &mut written);
            }
        }
        found
    }
}

/// The code of a function, with guards for the registers that may be read before they are written; the
/// function gets their names.
pub(crate) fn guard(body: &Body, function: &mut Function) -> Code {
    let registers = body.registers.slots();
    let flow = ControlFlow::new(&body.builds, &function.tables.pool);
    let mut analysis = Analysis::new(flow, &registers);
    analysis.solve();
    let watched = analysis.unwritten(&registers);
    let plain = body.builds.iter().map(|build| build.instruction).collect();
    let code = Code { plain, ..Code::default() };
    if watched.is_empty() {
        return code;
    }
    let named = watched.into_iter().map(|slot| (slot, body.registers.name(slot)));
    function.names = named.collect();
    guard_watched(&body.builds, function, code)
}

/// Adds the code that watches [`Function::names`].
fn guard_watched(builds: &[Build], function: &Function, code: Code) -> Code {
    let mut guarded_code = code.plain.clone();
    let mut guards = Vec::with_capacity(guarded_code.len());
    for (build, instruction) in builds.iter().zip(&mut guarded_code) {
        let is_watched = |slot: &u32| function.names.contains_key(slot);
        let defines: Vec<u32> =
            build.defines.iter().filter(|slot| is_watched(slot)).copied().collect();
        if !defines.is_empty() || build.uses.iter().any(is_watched) {
            instruction.run = guarded;
        }
        guards.push(Guard {
            run: build.instruction.run,
            uses: build.uses.clone(),
            defines,
            transfer: build.transfer,
        });
    }
    Code { guarded: Some(guarded_code), guards, ..code }
}
