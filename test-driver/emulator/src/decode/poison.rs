//! Which registers may be read before they are written, and the guards for them.
//!
//! Most registers are written on every path to their uses; that is found here, once, and costs nothing
//! when the code runs. The others are watched while it runs.

use super::build::{Build, Flow};
use crate::execute::guarded;
use crate::program::{Function, Guard, Instruction, Transfer};
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

/// Where control can go after an instruction.
fn successors(build: &Build, instruction: &Instruction, at: u32, pool: &[u32]) -> Vec<u32> {
    match build.flow {
        Flow::Next => vec![at + 1],
        Flow::Jump => vec![instruction.e],
        Flow::Branch => vec![at + 1, instruction.e],
        Flow::Table => {
            pool[instruction.e as usize..(instruction.e + instruction.c) as usize].to_vec()
        }
        Flow::End => Vec::new(),
    }
}

/// Applies an instruction to the slots written before it.
fn apply(build: &Build, written: &mut Slots) {
    let copies = build.transfer == Transfer::Copy && !build.uses.is_empty();
    let value = !copies || build.uses.iter().any(|&slot| written.has(slot));
    build.defines.iter().for_each(|&slot| written.set(slot, value));
}

/// Per straight run of instructions: those written at its start on every path.
struct Analysis<'b> {
    builds: &'b [Build],
    code: &'b [Instruction],
    pool: &'b [u32],
    /// The first instruction of each run.
    starts: Vec<u32>,
    entry: Vec<Slots>,
}

impl<'b> Analysis<'b> {
    fn new(builds: &'b [Build], function: &'b Function, registers: &[bool]) -> Analysis<'b> {
        let code = &function.code;
        let mut leaders = BTreeSet::from([0]);
        for (at, instruction) in code.iter().enumerate() {
            let next = successors(&builds[at], instruction, at as u32, &function.pool);
            if next != [at as u32 + 1] {
                leaders.extend(next);
                leaders.insert(at as u32 + 1);
            }
        }
        let starts: Vec<u32> =
            leaders.into_iter().filter(|&at| (at as usize) < code.len()).collect();
        let count = registers.len();
        let mut first = Slots::new(count, true);
        for (slot, &register) in registers.iter().enumerate() {
            first.set(slot as u32, !register);
        }
        let mut entry = vec![Slots::new(count, true); starts.len()];
        if let Some(slots) = entry.first_mut() {
            *slots = first;
        }
        Analysis { builds, code, pool: &function.pool, starts, entry }
    }

    fn range(&self, run: usize) -> std::ops::Range<usize> {
        let end = self.starts.get(run + 1).map_or(self.code.len(), |&end| end as usize);
        self.starts[run] as usize..end
    }

    fn solve(&mut self) {
        let mut work: Vec<usize> = (0..self.starts.len()).rev().collect();
        let mut visited = vec![false; self.starts.len()];
        while let Some(run) = work.pop() {
            visited[run] = true;
            let mut written = self.entry[run].clone();
            let range = self.range(run);
            self.builds[range.clone()].iter().for_each(|build| apply(build, &mut written));
            let last = range.end - 1;
            for next in successors(&self.builds[last], &self.code[last], last as u32, self.pool) {
                let Ok(next) = self.starts.binary_search(&next) else { continue };
                if self.entry[next].meet(&written) || !visited[next] {
                    work.push(next);
                }
            }
        }
    }

    /// The registers that some instruction may read unwritten.
    fn unwritten(&self, registers: &[bool]) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for run in 0..self.starts.len() {
            let mut written = self.entry[run].clone();
            for build in &self.builds[self.range(run)] {
                let unwritten = |slot: &&u32| registers[**slot as usize] && !written.has(**slot);
                found.extend(build.uses.iter().filter(unwritten).copied());
                apply(build, &mut written);
            }
        }
        found
    }
}

/// The registers that must be watched while the function runs.
pub(crate) fn watched(builds: &[Build], function: &Function, registers: &[bool]) -> BTreeSet<u32> {
    let mut flow = Analysis::new(builds, function, registers);
    flow.solve();
    flow.unwritten(registers)
}

/// Makes the code that watches [`Function::names`].
pub(crate) fn guard(builds: &[Build], function: &mut Function) {
    let mut code = function.code.clone();
    function.guards = Vec::with_capacity(code.len());
    for (build, instruction) in builds.iter().zip(&mut code) {
        let is_watched = |slot: &u32| function.names.contains_key(slot);
        let defines: Vec<u32> =
            build.defines.iter().filter(|slot| is_watched(slot)).copied().collect();
        if !defines.is_empty() || build.uses.iter().any(is_watched) {
            instruction.run = guarded;
        }
        function.guards.push(Guard {
            run: build.instruction.run,
            uses: build.uses.clone(),
            defines,
            transfer: build.transfer,
        });
    }
    function.guarded = Some(code);
}
