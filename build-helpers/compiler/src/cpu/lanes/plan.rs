//! What a kernel's body consists of, before any of it is built: regions between barriers, and in
//! them the parts that some threads of a group pass and others do not.

use std::collections::{BTreeSet, HashMap, HashSet};

use kernelmill_llvm::ir::{Block, Opcode, Value};

use super::{
    super::uniformity::{Asked, Flow, Loop, Shape, Uniformity, dominates},
    agreed,
};
use crate::{
    ScalarReason,
    cpu::context::{is_barrier, reports_panic},
};

/// Where a region starts: the kernel's entry, or the block after a barrier.
pub(super) struct Region {
    pub(super) entry: usize,
    /// The blocks that control can reach before the next barrier.
    pub(super) blocks: Vec<bool>,
    /// For each block, the immediate dominator within the region.
    pub(super) dominators: Vec<Option<usize>>,
}

/// Blocks that threads of a group pass by different ways: they are built one after the other,
/// each under the mask of the threads that come to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) root: usize,
    /// Sorted, with the root.
    pub(super) blocks: Vec<usize>,
    /// Where all threads are together again.
    pub(super) exit: usize,
}

/// What the builder of groups follows.
pub(super) struct Plan<'c> {
    pub(super) function: Value<'c>,
    pub(super) lanes: u32,
    pub(super) flow: Flow<'c>,
    pub(super) shapes: Uniformity<'c>,
    pub(super) regions: Vec<Region>,
    pub(super) loops: Vec<Loop>,
    pub(super) divergent_loops: HashSet<usize>,
    /// Values that another block uses.
    pub(super) escaping: HashSet<Value<'c>>,
    /// Blocks that end at a barrier, with the region that comes after.
    pub(super) barriers: HashMap<usize, usize>,
    /// The immediate dominators of the whole body, panics included.
    pub(super) dominators: Vec<Option<usize>>,
    /// The comparisons that the threads of a group are taken to agree on.
    pub(super) agreed: HashSet<Value<'c>>,
    /// For each block, whether a group can be left to another function at its start.
    pub(super) starts_over: Vec<bool>,
}

/// Whether a block ends at a barrier.
pub(in crate::cpu) fn ends_at_barrier(block: Block<'_>) -> bool {
    block.instructions().iter().any(|call| is_barrier(*call))
}

impl<'c> Plan<'c> {
    /// Plans groups of `lanes` threads; `Err` says why that cannot be.
    pub(super) fn new(
        function: Value<'c>,
        lanes: u32,
        size: &dyn Fn(kernelmill_llvm::ir::Type<'c>) -> u64,
        thread_x: Value<'c>,
    ) -> Result<Self, ScalarReason> {
        Self::where_agreed(function, lanes, size, thread_x, HashSet::new())
    }

    /// As [`Plan::new`], for groups whose threads agree on comparisons.
    fn where_agreed(
        function: Value<'c>,
        lanes: u32,
        size: &dyn Fn(kernelmill_llvm::ir::Type<'c>) -> u64,
        thread_x: Value<'c>,
        agreed: HashSet<Value<'c>>,
    ) -> Result<Self, ScalarReason> {
        let flow = Flow::cut(function, writes_panic, ends_at_barrier);
        let source = |value: Value<'c>| {
            if lanes == 1 || agreed.contains(&value) {
                Some(Shape::UNIFORM)
            } else {
                (value == thread_x).then_some(Shape::Strided(1))
            }
        };
        let asked = Asked { lanes, source: &source, size };
        let shapes = Uniformity::new(function, &flow, &asked);
        let dominators = all_dominators(&flow);
        let (regions, barriers) = regions(&flow);
        // What one region has kept the function for any group would find changed.
        let starts_over = match regions.len() {
            1 => agreed::starts_over(&flow),
            _ => vec![false; flow.blocks.len()],
        };
        let mut plan = Self {
            function,
            lanes,
            escaping: escaping(&flow, function),
            loops: Vec::new(),
            divergent_loops: HashSet::new(),
            flow,
            shapes,
            regions,
            barriers,
            dominators,
            agreed,
            starts_over,
        };
        if lanes > 1 {
            plan.loops = plan.flow.loops.clone();
            plan.find_divergent_loops()?;
            plan.check_uses()?;
        }
        Ok(plan)
    }

    /// The plan for those groups whose threads agree on conditions on their place, of which `place` has
    /// the index along x of the thread and of the block; `None` where there are no such conditions.
    pub(super) fn agreed(
        &self,
        size: &dyn Fn(kernelmill_llvm::ir::Type<'c>) -> u64,
        place: (Value<'c>, Value<'c>),
    ) -> Option<Self> {
        let mut agreed = self.agreeable(place.1);
        while !agreed.is_empty() {
            let plan = Self::where_agreed(self.function, self.lanes, size, place.0, agreed.clone())
                .ok()?;
            let apart = plan.not_together();
            if apart.is_empty() {
                return Some(plan);
            }
            agreed.retain(|compare| !apart.contains(compare));
        }
        None
    }

    fn find_divergent_loops(&mut self) -> Result<(), ScalarReason> {
        // Threads that leave a cycle in different rounds are kept apart at the header of a loop.
        let headed = |(branch, cycle): (&usize, &Vec<bool>)| {
            self.loops.iter().any(|l| cycle[l.header] && l.nodes.binary_search(branch).is_ok())
        };
        if !self.shapes.cycles.iter().all(headed) {
            return Err(ScalarReason::IrreducibleLoop);
        }
        for found in &self.loops {
            for (branch, cycle) in &self.shapes.cycles {
                if !found.nodes.contains(branch) || !cycle[found.header] {
                    continue;
                }
                let meets = self.shapes.post_dominator(*branch);
                if meets.is_none_or(|meets| found.nodes.contains(&meets)) {
                    return Err(ScalarReason::SharedLoopHeader);
                }
                self.divergent_loops.insert(found.header);
            }
            if self.divergent_loops.contains(&found.header) && self.waits_for_memory(found) {
                return Err(ScalarReason::AtomicsInDivergentLoop);
            }
        }
        Ok(())
    }

    /// Whether a loop may wait for what another thread of the group does. An atomic operation of which
    /// it never sees the result makes nothing wait.
    fn waits_for_memory(&self, found: &Loop) -> bool {
        let blocks = found.nodes.iter().flat_map(|&node| self.flow.blocks[node].instructions());
        blocks.into_iter().any(|instruction| match instruction.opcode() {
            Opcode::AtomicRmw => instruction.is_used(),
            Opcode::AtomicCmpXchg | Opcode::Fence => true,
            Opcode::Load | Opcode::Store => instruction.is_exact_access(),
            _ => false,
        })
    }

    /// A value of a cycle that threads leave in different rounds is used outside by phis on the
    /// ways out alone, which keep it when a thread leaves.
    fn check_uses(&self) -> Result<(), ScalarReason> {
        for (node, block) in self.flow.blocks.iter().enumerate() {
            if self.flow.panics[node] {
                continue;
            }
            for instruction in block.instructions() {
                let is_phi = instruction.opcode() == Opcode::Phi;
                for (index, operand) in instruction.operands().into_iter().enumerate() {
                    // A phi takes its value at the end of the block that control comes from.
                    let used = match instruction.incoming_block(index as u32) {
                        Some(from) if is_phi => self.flow.number(from),
                        _ => node,
                    };
                    if self.shapes.leaves_cycle(&self.flow, operand, used) {
                        return Err(ScalarReason::LoopValueWithoutPhi);
                    }
                }
            }
        }
        Ok(())
    }

    /// The parts among some blocks, none within another.
    pub(super) fn parts(&self, within: &[bool]) -> Result<Vec<Part>, ScalarReason> {
        let mut parts: Vec<Part> = Vec::new();
        let mut branches: Vec<_> =
            self.shapes.divergent.iter().copied().filter(|&branch| within[branch]).collect();
        branches.sort_unstable();
        for branch in branches {
            if parts.iter().any(|part| part.blocks.contains(&branch)) {
                continue;
            }
            let mut seeds = BTreeSet::from([branch]);
            loop {
                let part = self.close(&seeds)?;
                let shares = |other: &Part| other.blocks.iter().any(|b| part.blocks.contains(b));
                let overlaps = parts.iter().position(shares);
                let Some(overlaps) = overlaps else {
                    parts.push(part);
                    break;
                };
                seeds.extend(part.blocks);
                seeds.extend(parts.swap_remove(overlaps).blocks);
            }
        }
        let outside = |part: &Part| part.blocks.iter().any(|&block| !within[block]);
        if parts.iter().any(outside) {
            return Err(ScalarReason::DivergentBranchLeavesLoop);
        }
        Ok(parts)
    }

    /// The smallest part with these blocks that has one way in and one way out.
    fn close(&self, seeds: &BTreeSet<usize>) -> Result<Part, ScalarReason> {
        const OPEN: ScalarReason = ScalarReason::NoReconvergence;
        let graph = &self.flow.graph;
        let dominators = self.flow.dominators();
        let mut blocks = seeds.clone();
        loop {
            let mut root = *blocks.first().ok_or(OPEN)?;
            while !blocks.iter().all(|&block| dominates(dominators, root, block)) {
                root = dominators[root].filter(|&next| next != root).ok_or(OPEN)?;
            }
            if root >= self.flow.blocks.len() {
                return Err(OPEN);
            }
            let mut exit = self.shapes.post_dominator(root).ok_or(OPEN)?;
            loop {
                let ahead = graph.reachable(&[root], Some(exit));
                let inside = !blocks.contains(&exit) && blocks.iter().all(|&block| ahead[block]);
                // All threads are in the part until they are at its exit.
                let round = self.loops.iter().any(|found| {
                    found.header == root
                        && self.divergent_loops.contains(&root)
                        && found.nodes.contains(&exit)
                });
                if inside && !round {
                    break;
                }
                exit = self.shapes.post_dominator(exit).ok_or(OPEN)?;
            }
            let ahead = graph.reachable(&[root], Some(exit));
            let next: BTreeSet<_> = (0..ahead.len()).filter(|&block| ahead[block]).collect();
            if next == blocks {
                let inside = |from: &usize| next.contains(from);
                let closed = next
                    .iter()
                    .all(|&block| block == root || graph.predecessors[block].iter().all(inside));
                if !closed {
                    return Err(ScalarReason::SideEntry);
                }
                return Ok(Part { root, blocks: next.into_iter().collect(), exit });
            }
            blocks = next;
        }
    }

    /// The regions that may come after one, in order; `None` first where the kernel may end in it.
    pub(super) fn regions_after(&self, region: usize) -> Vec<Option<usize>> {
        let blocks = &self.regions[region].blocks;
        let ends = self.flow.ends.iter().filter(|&&end| blocks[end]);
        let next: BTreeSet<_> = ends.map(|end| self.barriers.get(end).copied()).collect();
        next.into_iter().collect()
    }

    /// Whether control can come to a region again.
    pub(super) fn comes_again(&self, region: usize) -> bool {
        let (mut seen, mut work) = (BTreeSet::new(), self.regions_after(region));
        while let Some(next) = work.pop() {
            if next == Some(region) {
                return true;
            }
            if let Some(number) = next.filter(|_| seen.insert(next)) {
                work.extend(self.regions_after(number));
            }
        }
        false
    }

    /// Whether `block` is only reached in region `region` through `defined`, so that a value of
    /// it is at hand.
    pub(super) fn is_at_hand(&self, region: usize, defined: usize, block: usize) -> bool {
        let region = &self.regions[region];
        region.blocks[defined] && dominates(&region.dominators, defined, block)
    }
}

/// Whether a block writes down a panic.
pub(in crate::cpu) fn writes_panic(block: Block<'_>) -> bool {
    block.instructions().into_iter().any(|call| call.is_call() && reports_panic(call))
}

fn all_dominators(flow: &Flow<'_>) -> Vec<Option<usize>> {
    let edges = flow
        .blocks
        .iter()
        .map(|block| block.successors().iter().map(|next| flow.number(*next)).collect())
        .collect();
    super::super::uniformity::Graph::new(edges).dominators(0)
}

fn regions(flow: &Flow<'_>) -> (Vec<Region>, HashMap<usize, usize>) {
    let mut barriers = HashMap::new();
    let regions = flow.entries.iter().enumerate().map(|(number, &entry)| {
        for &from in &flow.cuts {
            if flow.number(flow.blocks[from].successors()[0]) == entry {
                barriers.insert(from, number);
            }
        }
        let blocks = flow.graph.reachable(&[entry], None);
        Region { entry, blocks, dominators: flow.graph.dominators(entry) }
    });
    let regions = regions.collect();
    (regions, barriers)
}

fn escaping<'c>(flow: &Flow<'c>, function: Value<'c>) -> HashSet<Value<'c>> {
    let mut found = HashSet::new();
    for instruction in function.instructions() {
        let is_phi = instruction.opcode() == Opcode::Phi;
        for (index, operand) in instruction.operands().into_iter().enumerate() {
            if !operand.is_instruction() {
                continue;
            }
            let used = match instruction.incoming_block(index as u32) {
                Some(from) if is_phi => from,
                _ => instruction.block(),
            };
            if flow.number(operand.block()) != flow.number(used) {
                found.insert(operand);
            }
        }
    }
    found
}
