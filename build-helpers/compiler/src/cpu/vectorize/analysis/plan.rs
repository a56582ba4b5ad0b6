//! The plan of a kernel's vector code: regions between barriers, and in them the divergent regions that
//! some threads of a vector pass and others do not.

use std::collections::{BTreeSet, HashMap, HashSet};

use kernelmill_llvm::ir::{Opcode, Type, Value};

use super::{affine::Affine, private_arrays::PrivateArrays};
use crate::{
    ScalarReason,
    cpu::{
        context::AtBarrier,
        instructions::{at_end, changes_memory, ends_at_barrier, waits_for_memory, writes_panic},
        uniformity::{Asked, Flow, Graph, Loop, Shape, Uniformity, dominates},
    },
};

/// Where a region starts: the kernel's entry, or the block after a barrier.
pub(in crate::cpu::vectorize) struct Region {
    pub(in crate::cpu::vectorize) entry: usize,
    /// The blocks that control can reach before the next barrier.
    pub(in crate::cpu::vectorize) blocks: Vec<bool>,
    /// For each block, the immediate dominator within the region.
    pub(in crate::cpu::vectorize) dominators: Vec<Option<usize>>,
}

/// Blocks that threads of a vector pass by different ways: they are built one after the other,
/// each under the mask of the threads that come to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cpu::vectorize) struct DivergentRegion {
    pub(in crate::cpu::vectorize) root: usize,
    /// Sorted, with the root.
    pub(in crate::cpu::vectorize) blocks: Vec<usize>,
    /// Where all threads are together again.
    pub(in crate::cpu::vectorize) exit: usize,
}

/// What the emission follows.
pub(in crate::cpu::vectorize) struct Plan<'c> {
    pub(in crate::cpu::vectorize) function: Value<'c>,
    pub(in crate::cpu::vectorize) lanes: u32,
    /// The threads of a vector are neighbours along x, 0, or along y, 1.
    pub(in crate::cpu::vectorize) axis: usize,
    pub(in crate::cpu::vectorize) flow: Flow<'c>,
    pub(in crate::cpu::vectorize) shapes: Uniformity<'c>,
    pub(in crate::cpu::vectorize) regions: Vec<Region>,
    pub(in crate::cpu::vectorize) loops: Vec<Loop>,
    pub(in crate::cpu::vectorize) divergent_loops: HashSet<usize>,
    /// Values that other blocks than their own read.
    pub(in crate::cpu::vectorize) escaping: HashSet<Value<'c>>,
    /// Blocks that end at a barrier, with the region that comes after.
    pub(in crate::cpu::vectorize) barriers: HashMap<usize, usize>,
    /// The immediate dominators of the whole body, panics included.
    pub(in crate::cpu::vectorize) dominators: Vec<Option<usize>>,
    /// The comparisons that the threads of a vector are taken to agree on.
    pub(in crate::cpu::vectorize) speculated: HashSet<Value<'c>>,
    /// For each block, whether a vector can be left to another function at its start.
    pub(in crate::cpu::vectorize) can_restart: Vec<bool>,
    /// Memory of threads that lies lane by lane.
    pub(in crate::cpu::vectorize) private: PrivateArrays<'c>,
    pub(in crate::cpu::vectorize) affine: Affine<'c>,
    /// Whether a vector in which affine values are none is left to another function.
    pub(in crate::cpu::vectorize) is_long: bool,
}

impl<'c> Plan<'c> {
    /// Plans vectors of `lanes` threads that are neighbours along an axis, `thread` being their index along it; `Err`
    /// says why that cannot be.
    pub(in crate::cpu::vectorize) fn new(
        function: Value<'c>,
        lanes: u32,
        size: &dyn Fn(Type<'c>) -> u64,
        along: (usize, Value<'c>),
    ) -> Result<Self, ScalarReason> {
        Self::where_uniform(function, lanes, size, along, HashSet::new())
    }

    /// As [`Plan::new`], for vectors whose threads have the same result of comparisons.
    pub(in crate::cpu::vectorize) fn where_uniform(
        function: Value<'c>,
        lanes: u32,
        size: &dyn Fn(Type<'c>) -> u64,
        (axis, thread): (usize, Value<'c>),
        speculated: HashSet<Value<'c>>,
    ) -> Result<Self, ScalarReason> {
        let flow = Flow::of_regions(function, writes_panic, ends_at_barrier);
        let source = |value: Value<'c>| {
            if lanes == 1 || speculated.contains(&value) {
                Some(Shape::UNIFORM)
            } else {
                (value == thread).then_some(Shape::Strided(1))
            }
        };
        let private = match lanes {
            1 => PrivateArrays::none(),
            _ => PrivateArrays::find(function, &flow, size),
        };
        let element = |address| private.element(address);
        let asked = Asked { lanes, source: &source, size, element: &element };
        let shapes = Uniformity::new(function, &flow, &asked);
        let dominators = all_dominators(&flow);
        let (regions, barriers) = regions(&flow);
        // The masked body would find changed what an earlier region has spilled.
        let can_restart = match regions.len() {
            1 => can_restart(&flow),
            _ => vec![false; flow.blocks.len()],
        };
        let mut plan = Self {
            function,
            lanes,
            axis,
            escaping: escaping(&flow, function),
            loops: Vec::new(),
            divergent_loops: HashSet::new(),
            flow,
            shapes,
            regions,
            barriers,
            dominators,
            speculated,
            can_restart,
            private,
            affine: Affine::default(),
            is_long: false,
        };
        if lanes > 1 {
            plan.loops = plan.flow.loops.clone();
            plan.find_divergent_loops()?;
            plan.check_uses()?;
            let is_private = |address| plan.private.element(address).is_some();
            let crossing = crossing(&plan);
            plan.affine = Affine::find((&plan.flow, &plan.shapes), &is_private, lanes, crossing);
        }
        Ok(plan)
    }

    fn find_divergent_loops(&mut self) -> Result<(), ScalarReason> {
        // Threads that leave a cycle in different iterations are kept apart at the header of a loop.
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

    /// Whether a loop may wait for what another thread of the vector does.
    fn waits_for_memory(&self, found: &Loop) -> bool {
        let blocks = found.nodes.iter().flat_map(|&node| self.flow.blocks[node].instructions());
        blocks.into_iter().any(waits_for_memory)
    }

    /// A value of a cycle that threads leave in different iterations is used outside by phis on the
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

    /// The divergent regions among some blocks, none within another.
    pub(in crate::cpu::vectorize) fn divergent_regions(
        &self,
        within: &[bool],
    ) -> Result<Vec<DivergentRegion>, ScalarReason> {
        let mut divergent_regions: Vec<DivergentRegion> = Vec::new();
        let mut branches: Vec<_> =
            self.shapes.divergent.iter().copied().filter(|&branch| within[branch]).collect();
        branches.sort_unstable();
        for branch in branches {
            if divergent_regions
                .iter()
                .any(|divergent_region| divergent_region.blocks.contains(&branch))
            {
                continue;
            }
            let mut seeds = BTreeSet::from([branch]);
            loop {
                let divergent_region = self.close(&seeds)?;
                let shares = |other: &DivergentRegion| {
                    other.blocks.iter().any(|b| divergent_region.blocks.contains(b))
                };
                let overlaps = divergent_regions.iter().position(shares);
                let Some(overlaps) = overlaps else {
                    divergent_regions.push(divergent_region);
                    break;
                };
                seeds.extend(divergent_region.blocks);
                seeds.extend(divergent_regions.swap_remove(overlaps).blocks);
            }
        }
        let outside = |divergent_region: &DivergentRegion| {
            divergent_region.blocks.iter().any(|&block| !within[block])
        };
        if divergent_regions.iter().any(outside) {
            return Err(ScalarReason::DivergentBranchLeavesLoop);
        }
        Ok(divergent_regions)
    }

    /// The smallest region with these blocks that has one way in and one way out.
    fn close(&self, seeds: &BTreeSet<usize>) -> Result<DivergentRegion, ScalarReason> {
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
                // All threads are in the region until they are at its exit.
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
                return Ok(DivergentRegion { root, blocks: next.into_iter().collect(), exit });
            }
            blocks = next;
        }
    }

    /// The regions that may come after one, in order; `None` first where the kernel may end in it.
    pub(in crate::cpu::vectorize) fn regions_after(&self, region: usize) -> Vec<Option<usize>> {
        let blocks = &self.regions[region].blocks;
        let ends = self.flow.ends.iter().filter(|&&end| blocks[end]);
        let next: BTreeSet<_> = ends.map(|end| self.barriers.get(end).copied()).collect();
        next.into_iter().collect()
    }

    /// For each region, what happens at the barrier before it.
    pub(in crate::cpu::vectorize) fn arrivals(&self) -> Vec<AtBarrier> {
        let mut arrivals = vec![AtBarrier::Nothing; self.regions.len()];
        for (&end, &region) in &self.barriers {
            let happens = at_end(self.flow.blocks[end]);
            if happens != AtBarrier::Nothing {
                assert_eq!(arrivals[region], AtBarrier::Nothing, "each barrier has a region");
                arrivals[region] = happens;
            }
        }
        arrivals
    }

    /// For each region, whether threads may have exited before, or be absent.
    pub(in crate::cpu::vectorize) fn lacking_regions(&self) -> Vec<bool> {
        let mut lacking = vec![false; self.regions.len()];
        let arrivals = self.arrivals().into_iter().enumerate();
        let mut work: Vec<_> = arrivals
            .filter(|(_, it)| matches!(it, AtBarrier::ThreadsChange { .. }))
            .map(|(region, _)| Some(region))
            .collect();
        while let Some(next) = work.pop() {
            if let Some(region) = next
                && !std::mem::replace(&mut lacking[region], true)
            {
                work.extend(self.regions_after(region));
            }
        }
        lacking
    }

    /// Whether control can come to a region again.
    pub(in crate::cpu::vectorize) fn comes_again(&self, region: usize) -> bool {
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
    pub(in crate::cpu::vectorize) fn is_at_hand(
        &self,
        region: usize,
        defined: usize,
        block: usize,
    ) -> bool {
        let region = &self.regions[region];
        region.blocks[defined] && dominates(&region.dominators, defined, block)
    }
}

fn all_dominators(flow: &Flow<'_>) -> Vec<Option<usize>> {
    let edges = flow
        .blocks
        .iter()
        .map(|block| block.successors().iter().map(|next| flow.number(*next)).collect())
        .collect();
    Graph::new(edges).dominators(0)
}

fn regions(flow: &Flow<'_>) -> (Vec<Region>, HashMap<usize, usize>) {
    let mut barriers = HashMap::new();
    let regions = flow.entries.iter().enumerate().map(|(number, &entry)| {
        for &from in &flow.region_ends {
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

/// The values that the emission reads in other blocks than their own.
fn escaping<'c>(flow: &Flow<'c>, function: Value<'c>) -> HashSet<Value<'c>> {
    let mut found = HashSet::new();
    // A check makes its comparison again, for all lanes at once.
    for (node, block) in flow.blocks.iter().enumerate() {
        let compare = flow.check(node).filter(|condition| {
            condition.is_instruction()
                && condition.opcode() == Opcode::ICmp
                && condition.block() != *block
        });
        let operands = compare.into_iter().flat_map(Value::operands);
        found.extend(operands.filter(|operand| operand.is_instruction()));
    }
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

/// For each block, whether the vector can still be left to another function at its start: no block before
/// it changes memory that is not the thread's own.
fn can_restart(flow: &Flow<'_>) -> Vec<bool> {
    let changes = |node: &usize| flow.blocks[*node].instructions().into_iter().any(changes_memory);
    let after: Vec<_> = (0..flow.blocks.len())
        .filter(changes)
        .flat_map(|node| flow.graph.successors[node].clone())
        .collect();
    flow.graph.reachable(&after, None).into_iter().map(|after| !after).collect()
}

/// The values that are used in a region without having been computed in it before.
pub(in crate::cpu::vectorize) fn crossing<'c>(plan: &Plan<'c>) -> Vec<Value<'c>> {
    if plan.regions.len() == 1 {
        return Vec::new();
    }
    let mut found = Vec::new();
    for instruction in plan.function.instructions() {
        if plan.escaping.contains(&instruction) && crosses(plan, instruction) {
            found.push(instruction);
        }
    }
    found
}

fn crosses<'c>(plan: &Plan<'c>, value: Value<'c>) -> bool {
    let defined = plan.flow.number(value.block());
    value.users().into_iter().any(|user| {
        let is_phi = user.opcode() == Opcode::Phi;
        let places: Vec<_> = if is_phi {
            (0..user.operands().len() as u32)
                .filter(|&index| user.operand(index) == value)
                .filter_map(|index| user.incoming_block(index))
                .map(|from| plan.flow.number(from))
                .collect()
        } else {
            vec![plan.flow.number(user.block())]
        };
        places.into_iter().any(|used| used != defined && is_needed(plan, defined, used))
    })
}

/// Whether any region comes to `used`, or from it to a panic, without `defined`.
fn is_needed(plan: &Plan<'_>, defined: usize, used: usize) -> bool {
    let places: Vec<usize> = if plan.flow.panics[used] { sources(plan, used) } else { vec![used] };
    places.into_iter().any(|used| {
        (0..plan.regions.len()).any(|region| {
            plan.regions[region].blocks[used] && !plan.is_at_hand(region, defined, used)
        })
    })
}

/// The blocks that lead to a panicking block and do not panic themselves.
pub(in crate::cpu::vectorize) fn sources(plan: &Plan<'_>, block: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut seen = vec![false; plan.flow.blocks.len()];
    let mut work = vec![block];
    while let Some(block) = work.pop() {
        for (from, _) in plan.flow.blocks.iter().enumerate().filter(|(_, from)| {
            from.successors().iter().any(|next| plan.flow.number(*next) == block)
        }) {
            if !plan.flow.panics[from] {
                found.push(from);
            } else if !std::mem::replace(&mut seen[from], true) {
                work.push(from);
            }
        }
    }
    found
}
