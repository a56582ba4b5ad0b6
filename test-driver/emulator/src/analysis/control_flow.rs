//! The control-flow graph: successors of instructions, basic blocks.
//!
//! Aho, Lam, Sethi and Ullman, "Compilers: Principles, Techniques, and Tools", 8.4.

use crate::decode::{Build, Flow};
use std::collections::BTreeSet;
use std::ops::Range;

/// The basic blocks of a function.
pub(super) struct ControlFlow<'b> {
    pub(super) builds: &'b [Build],
    pool: &'b [u32],
    /// The first instruction of each block.
    starts: Vec<u32>,
}

impl<'b> ControlFlow<'b> {
    pub(super) fn new(builds: &'b [Build], pool: &'b [u32]) -> ControlFlow<'b> {
        let mut leaders = BTreeSet::from([0]);
        for (at, build) in builds.iter().enumerate() {
            let next = successors(build, at as u32, pool);
            if next != [at as u32 + 1] {
                leaders.extend(next);
                leaders.insert(at as u32 + 1);
            }
        }
        let starts = leaders.into_iter().filter(|&at| (at as usize) < builds.len()).collect();
        ControlFlow { builds, pool, starts }
    }

    /// The number of basic blocks.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The instructions of a basic block.
    pub(super) fn range(&self, block: usize) -> Range<usize> {
        let end = self.starts.get(block + 1).map_or(self.builds.len(), |&end| end as usize);
        self.starts[block] as usize..end
    }

    /// The basic blocks that can follow one.
    pub(super) fn successors(&self, block: usize) -> impl Iterator<Item = usize> {
        let last = self.range(block).end - 1;
        let next = successors(&self.builds[last], last as u32, self.pool);
        next.into_iter().filter_map(|next| self.starts.binary_search(&next).ok())
    }
}

/// Where control can go after an instruction.
fn successors(build: &Build, at: u32, pool: &[u32]) -> Vec<u32> {
    let instruction = &build.instruction;
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
