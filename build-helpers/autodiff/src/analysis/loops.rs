//! Natural loops in simplified form: one preheader, one latch
//! (<https://llvm.org/docs/LoopTerminology.html>).

use std::collections::BTreeSet;

use super::cfg::Cfg;

/// A loop by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LoopId(pub(crate) usize);

/// One loop.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) header: usize,
    /// The one block with the back edge.
    pub(crate) latch: usize,
    /// The one predecessor of the header outside of the loop.
    pub(crate) preheader: usize,
    pub(crate) parent: Option<LoopId>,
    pub(crate) blocks: BTreeSet<usize>,
}

/// The loops of a function, outer ones before those in them.
#[derive(Debug)]
pub(crate) struct Loops {
    pub(crate) all: Vec<Loop>,
    of_block: Vec<Option<LoopId>>,
}

impl Loops {
    /// The loops of a graph; the error is a block that closes a loop which is not a natural one,
    /// or one with several latches or entries.
    pub(crate) fn of(cfg: &Cfg<'_>) -> Result<Self, usize> {
        let mut all: Vec<Loop> = Vec::new();
        for header in 0..cfg.blocks.len() {
            let before = &cfg.predecessors[header];
            let back: Vec<_> = before.iter().copied().filter(|&from| from >= header).collect();
            if back.is_empty() {
                continue;
            }
            let entries: Vec<_> = before.iter().copied().filter(|&from| from < header).collect();
            let ([latch], [preheader]) = (&back[..], &entries[..]) else { return Err(header) };
            if !cfg.dominates(header, *latch) {
                return Err(*latch);
            }
            let blocks = body(cfg, header, *latch);
            let (latch, preheader) = (*latch, *preheader);
            all.push(Loop { header, latch, preheader, parent: None, blocks });
        }
        // Headers are in reverse postorder, so an outer loop comes before those in it.
        let mut of_block = vec![None; cfg.blocks.len()];
        for number in 0..all.len() {
            all[number].parent = of_block[all[number].header];
            for &block in &all[number].blocks {
                of_block[block] = Some(LoopId(number));
            }
        }
        Ok(Self { all, of_block })
    }

    /// No loops.
    pub(crate) fn none(cfg: &Cfg<'_>) -> Self {
        Self { all: Vec::new(), of_block: vec![None; cfg.blocks.len()] }
    }

    /// The innermost loop that a block is in.
    pub(crate) fn around(&self, block: usize) -> Option<LoopId> {
        self.of_block[block]
    }

    pub(crate) fn get(&self, id: LoopId) -> &Loop {
        &self.all[id.0]
    }

    /// Whether a block is in a loop.
    pub(crate) fn contains(&self, id: LoopId, block: usize) -> bool {
        self.get(id).blocks.contains(&block)
    }

    /// The loop whose header a block is.
    pub(crate) fn headed_by(&self, block: usize) -> Option<LoopId> {
        self.around(block).filter(|id| self.get(*id).header == block)
    }

    /// The loops that an edge leaves, the innermost first.
    pub(crate) fn left_by(&self, from: usize, to: usize) -> Vec<LoopId> {
        let outwards = std::iter::successors(self.around(from), |id| self.get(*id).parent);
        outwards.take_while(|id| !self.contains(*id, to)).collect()
    }
}

/// The blocks from which the latch is reached without passing the header.
fn body(cfg: &Cfg<'_>, header: usize, latch: usize) -> BTreeSet<usize> {
    let mut blocks = BTreeSet::from([header]);
    let mut stack = vec![latch];
    while let Some(block) = stack.pop() {
        if blocks.insert(block) {
            stack.extend(&cfg.predecessors[block]);
        }
    }
    blocks
}
