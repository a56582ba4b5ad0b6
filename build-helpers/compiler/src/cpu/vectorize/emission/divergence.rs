//! Divergent control flow of a vector body: the blocks of all paths one after the other, each under the
//! mask of the threads that come to it, and loops until no thread is left ([Karrenberg and
//! Hack](https://doi.org/10.1109/CGO.2011.5764682), section 4).

use std::collections::HashMap;

use kernelmill_llvm::ir::{Block, Opcode, Value};

use super::{
    super::analysis::plan::{DivergentRegion, Plan},
    code::Mask,
    emitter::Emitter,
};
use crate::{
    ScalarReason,
    cpu::uniformity::{Graph, Loop},
};

/// Blocks of this many instructions at most are built without a test whether any thread comes to
/// them, if they may be.
const CHEAP: usize = 6;

impl<'c> Emitter<'_, 'c> {
    /// Builds a divergent region, where the builder stands, for the threads of the mask.
    pub(in crate::cpu::vectorize) fn divergent_region(
        &mut self,
        divergent_region: &DivergentRegion,
        mask: Mask<'c>,
    ) -> Result<(), ScalarReason> {
        self.values.reset_phis(divergent_region.exit);
        self.masked_blocks(&divergent_region.blocks, divergent_region.root, mask, None)
    }

    /// Builds blocks in an order in which all that lead to a block come before it. With `around`
    /// they are the body of that loop.
    fn masked_blocks(
        &mut self,
        blocks: &[usize],
        root: usize,
        mask: Mask<'c>,
        around: Option<usize>,
    ) -> Result<(), ScalarReason> {
        let sequence = Sequence::new(self.values.plan, blocks, root, around)?;
        for &node in sequence.order.iter().filter(|&&node| node != root) {
            let none = self.values.code.vectors.mask().null();
            let slot = self.mask_slot(node);
            self.values.code.builder.store(none, slot);
            if !sequence.holder.contains_key(&node) {
                self.values.reset_phis(node);
            }
        }
        for &node in &sequence.order {
            let mask = if node == root {
                mask
            } else {
                let slot = self.mask_slot(node);
                Some(self.values.code.builder.load(self.values.code.vectors.mask(), slot))
            };
            match sequence.loops.iter().find(|found| found.header == node) {
                Some(found) => self.masked_loop(found, node != root, mask)?,
                None => self.masked_chain(&sequence.chain(node), node != root, mask)?,
            }
        }
        Ok(())
    }

    /// Builds a loop for the threads of the mask, of which there may be none if it is guarded.
    fn masked_loop(
        &mut self,
        found: &Loop,
        is_guarded: bool,
        mask: Mask<'c>,
    ) -> Result<(), ScalarReason> {
        self.guarded(is_guarded, mask, |emitter, after| {
            if emitter.values.plan.divergent_loops.contains(&found.header) {
                emitter.divergent_loop(found, mask)?;
                emitter.values.code.builder.branch(after);
                return Ok(());
            }
            let within = found.nodes.clone();
            emitter.uniform_blocks(&within, found.header, mask, Some(after))
        })
    }

    /// Builds blocks that follow each other, with a guard where they may be reached by no thread and need one.
    fn masked_chain(
        &mut self,
        chain: &[usize],
        may_be_empty: bool,
        mask: Mask<'c>,
    ) -> Result<(), ScalarReason> {
        if !may_be_empty || !chain.iter().any(|node| needs_guard(self.values.plan, *node)) {
            return self.chain(chain, mask);
        }
        self.guarded(true, mask, |emitter, after| {
            emitter.chain(chain, mask)?;
            emitter.values.code.builder.branch(after);
            Ok(())
        })
    }

    /// Builds blocks that the same threads pass one after the other.
    fn chain(&mut self, chain: &[usize], mask: Mask<'c>) -> Result<(), ScalarReason> {
        for &node in chain {
            self.versions(node, mask)?;
            self.diverge(node, mask)?;
        }
        Ok(())
    }

    fn mask_slot(&mut self, node: usize) -> Value<'c> {
        let ty = self.values.code.vectors.mask();
        let slots = &self.values.code.slots;
        *self.masks.entry(node).or_insert_with(|| slots.alloca(ty))
    }

    /// Builds what `inside` builds, passed over where no thread is in the mask. The builder
    /// stands in the block after it then; `inside` goes there itself.
    fn guarded(
        &mut self,
        tested: bool,
        mask: Mask<'c>,
        inside: impl FnOnce(&mut Self, Block<'c>) -> Result<(), ScalarReason>,
    ) -> Result<(), ScalarReason> {
        let (into, after) = (self.values.code.edge_block(), self.values.code.edge_block());
        match mask {
            Some(mask) if tested => {
                let any = self.values.code.vectors.any(&self.values.code.builder, mask);
                self.values.code.builder.branch_if(any, into, after);
            }
            _ => {
                self.values.code.builder.branch(into);
            }
        }
        self.values.code.builder.at_end(into);
        inside(self, after)?;
        self.values.code.builder.at_end(after);
        Ok(())
    }

    /// Iterates as long as any thread does.
    fn divergent_loop(&mut self, found: &Loop, mask: Mask<'c>) -> Result<(), ScalarReason> {
        let ty = self.values.code.vectors.mask();
        let live = self.values.code.slots.alloca(ty);
        let first = mask.unwrap_or_else(|| self.values.code.vectors.every());
        self.live.insert(found.header, live);
        let current = self.values.code.slots.alloca(ty);
        self.values.code.builder.store(first, current);
        let (head, after) = (self.values.code.edge_block(), self.values.code.edge_block());
        self.values.code.builder.branch(head);
        self.values.code.builder.at_end(head);
        let mask = self.values.code.builder.load(ty, current);
        self.values.code.builder.store(ty.null(), live);
        self.masked_blocks(&found.nodes, found.header, Some(mask), Some(found.header))?;
        let next = self.values.code.builder.load(ty, live);
        self.values.code.builder.store(next, current);
        let any = self.values.code.vectors.any(&self.values.code.builder, next);
        self.values.code.builder.branch_if(any, head, after);
        self.values.code.builder.at_end(after);
        Ok(())
    }

    /// Builds the end of a block of a divergent region: its threads go on by one way or the other.
    fn diverge(&mut self, node: usize, mask: Mask<'c>) -> Result<(), ScalarReason> {
        let flow = &self.values.plan.flow;
        let end = flow.blocks[node].terminator().ok_or(ScalarReason::UnterminatedBlock)?;
        let next: Vec<_> =
            flow.blocks[node].successors().iter().map(|next| flow.number(*next)).collect();
        match end.opcode() {
            Opcode::Unreachable => return Ok(()),
            Opcode::Br | Opcode::CondBr => {}
            _ => return Err(ScalarReason::DivergentExit),
        }
        if next.len() == 1 || next[0] == next[1] {
            self.send(node, next[0], mask, None);
            return Ok(());
        }
        let condition = end.branch_condition().ok_or(ScalarReason::DivergentExit)?;
        let condition = self.values.read(condition, node);
        if let Some(bad) = next.iter().position(|&next| flow.panics[next]) {
            self.exits.check(&mut self.values, node, condition, bad == 0, next[bad], mask);
            self.send(node, next[1 - bad], mask, None);
            return Ok(());
        }
        for (next, negate) in [(next[0], false), (next[1], true)] {
            let (taken, threads) = if condition.is_uniform() {
                let mut taken = condition.once();
                if negate {
                    taken = self.values.code.vectors.not(&self.values.code.builder, taken);
                }
                let every = mask.unwrap_or_else(|| self.values.code.vectors.every());
                (
                    taken,
                    self.values.code.builder.select(
                        taken,
                        every,
                        self.values.code.vectors.mask().null(),
                    ),
                )
            } else {
                let mut holds = self.values.code.vectors.all(&self.values.code.builder, condition);
                if negate {
                    holds = self.values.code.vectors.not(&self.values.code.builder, holds);
                }
                let threads =
                    self.values.code.vectors.where_holds(&self.values.code.builder, mask, holds);
                (self.values.code.vectors.any(&self.values.code.builder, threads), threads)
            };
            self.send(node, next, Some(threads), Some(taken));
        }
        Ok(())
    }

    /// Sends threads from one block to another.
    fn send(&mut self, from: usize, to: usize, mask: Mask<'c>, taken: Option<Value<'c>>) {
        let of_loop = self.values.plan.loops.iter().find(|found| found.header == to);
        let is_back = of_loop.is_some_and(|found| found.nodes.contains(&from));
        // Lanes that do not come this way do not come to the header at all.
        let ways = &self.values.plan.flow.graph.predecessors[to];
        let only = match of_loop {
            Some(found) => {
                let like = |other: &&usize| found.nodes.contains(other) == is_back;
                ways.iter().filter(like).count() == 1
            }
            // Threads come out of a loop in different iterations.
            None => {
                let leaves =
                    |found: &&Loop| found.nodes.contains(&from) && !found.nodes.contains(&to);
                ways.len() == 1 && !self.values.plan.loops.iter().any(|found| leaves(&found))
            }
        };
        self.values.set_phis(from, to, if only { None } else { mask }, taken);
        let back = self.live.get(&to).copied().filter(|_| is_back);
        match back {
            Some(live) => {
                let old = self.values.code.builder.load(self.values.code.vectors.mask(), live);
                let new = mask.unwrap_or_else(|| self.values.code.vectors.every());
                let both = self.values.code.builder.binary(Opcode::Or, old, new);
                self.values.code.builder.store(both, live);
            }
            None => self.arrive(to, mask),
        }
    }
}

/// The blocks that all threads of the block before come to, and no others: after a check that ends
/// in a panic, for the most part. `holder` has the loops of blocks.
fn chains(
    plan: &Plan<'_>,
    blocks: &[usize],
    order: &[usize],
    holder: &HashMap<usize, usize>,
    around: Option<usize>,
) -> HashMap<usize, usize> {
    let graph = &plan.flow.graph;
    let plain = |node: usize| !holder.contains_key(&node);
    let follower = |node: usize| match *graph.successors[node] {
        [next]
            if *graph.predecessors[next] == [node]
                && plain(next)
                && Some(next) != around
                && blocks.binary_search(&next).is_ok() =>
        {
            Some((node, next))
        }
        _ => None,
    };
    order.iter().copied().filter(|&node| plain(node)).filter_map(follower).collect()
}

/// The order in which the blocks of a divergent region are built: every block after all that lead to it, and
/// a loop as one.
struct Sequence {
    /// The largest loops.
    loops: Vec<Loop>,
    /// The header of the loop that a block is in.
    holder: HashMap<usize, usize>,
    /// The first blocks of chains, and the headers of loops.
    order: Vec<usize>,
    /// The next block of a chain.
    chains: HashMap<usize, usize>,
}

impl Sequence {
    /// The order of blocks from `root` on; with `around` they are the body of that loop.
    fn new(
        plan: &Plan<'_>,
        blocks: &[usize],
        root: usize,
        around: Option<usize>,
    ) -> Result<Self, ScalarReason> {
        let loops = loops_in(plan, blocks, around);
        let in_loop = |found: &Loop| {
            let header = found.header;
            found.nodes.clone().into_iter().map(move |node| (node, header))
        };
        let holder: HashMap<_, _> = loops.iter().flat_map(in_loop).collect();
        let top = |block: usize| holder.get(&block).copied().unwrap_or(block);
        let mut edges = vec![Vec::new(); plan.flow.graph.len()];
        for &block in blocks {
            let next = plan.flow.graph.successors[block].iter();
            for &next in next.filter(|next| blocks.binary_search(next).is_ok()) {
                if top(next) != top(block) && Some(next) != around {
                    edges[top(block)].push(top(next));
                }
            }
        }
        let graph = Graph::new(edges);
        let order = graph.reverse_post_order(top(root));
        let mut place = vec![usize::MAX; graph.len()];
        order.iter().enumerate().for_each(|(index, &node)| place[node] = index);
        let backwards =
            |&node: &usize| graph.successors[node].iter().any(|&next| place[next] <= place[node]);
        if order.iter().any(backwards) {
            return Err(ScalarReason::IrreducibleLoop);
        }
        let chains = chains(plan, blocks, &order, &holder, around);
        let follows = |node: &usize| chains.values().any(|next| next == node);
        let order = order.into_iter().filter(|node| !follows(node)).collect();
        Ok(Self { loops, holder, order, chains })
    }

    /// A block and those that follow it.
    fn chain(&self, first: usize) -> Vec<usize> {
        std::iter::successors(Some(first), |node| self.chains.get(node).copied()).collect()
    }
}

/// The largest loops among some blocks.
fn loops_in(plan: &Plan<'_>, blocks: &[usize], around: Option<usize>) -> Vec<Loop> {
    let mut found: Vec<Loop> = Vec::new();
    for candidate in &plan.loops {
        let inside = candidate.nodes.iter().all(|node| blocks.binary_search(node).is_ok());
        let known = found.iter().any(|outer| outer.nodes.contains(&candidate.header));
        if inside && !known && Some(candidate.header) != around {
            found.push(candidate.clone());
        }
    }
    found
}

/// Whether a block must not, or should not, be built for no thread at all.
fn needs_guard(plan: &Plan<'_>, node: usize) -> bool {
    let flow = &plan.flow;
    let block = flow.blocks[node];
    let shapes = &plan.shapes;
    let instructions = block.instructions();
    let end = block.terminator();
    let once = end.is_some_and(|end| {
        end.branch_condition().is_some_and(|condition| shapes.shape(condition).is_uniform())
    });
    let phis = block.successors().iter().any(|next| {
        flow.panics[flow.number(*next)]
            || next.instructions().into_iter().any(|phi| {
                phi.opcode() == Opcode::Phi
                    && shapes.shape(phi) != crate::cpu::uniformity::Shape::Varying
            })
    });
    let costly = instructions.iter().any(|instruction| {
        matches!(
            instruction.opcode(),
            Opcode::Load
                | Opcode::Store
                | Opcode::Call
                | Opcode::AtomicRmw
                | Opcode::AtomicCmpXchg
                | Opcode::Fence
                | Opcode::UDiv
                | Opcode::SDiv
                | Opcode::URem
                | Opcode::SRem
                | Opcode::FDiv
        )
    });
    once || phis || costly || instructions.len() > CHEAP
}
