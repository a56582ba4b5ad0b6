//! Uniformity analysis: which values are the same for all threads of a vector or block, and which
//! branches are divergent, as LLVM's
//! [`UniformityAnalysis`](https://llvm.org/docs/ConvergenceAndUniformity.html) has it, with strides as
//! in ISPC.
//!
//! Needs: canonical control flow. Guarantees: what it calls uniform or strided is so in every launch, for the
//! threads that compute it together.
//!
//! A value is *uniform* if all threads that compute it together compute the same. It is *strided* if it
//! grows by a constant from each thread to the next. Any other value is *varying*. The caller says by
//! the shapes of the values that come from outside what is analysed: for the threads of a block every
//! index varies, for neighbours along x the index along y is uniform.
//!
//! A branch on a varying value is *divergent*. Three things follow from it:
//!
//! - where its paths reconverge, a value that depends on the path varies, even if it is uniform on each;
//! - if control can come to it again before its paths have reconverged, threads leave the cycle in
//!   different iterations, so that what is computed in the cycle varies outside of it, and
//!   so does what is computed in a loop that the paths leave before they reconverge;
//! - what lies between the branch and its immediate post-dominator is not reached by all threads
//!   together: a barrier there is not uniform.
//!
//! Paths that end in a panic are left out: the launch is over then.

mod bits;
mod graph;
mod shape;

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::ir::{Block, Opcode, Value};

pub(crate) use graph::{Graph, Loop, dominates};
pub(crate) use shape::{Shape, clamp_predicate, is_choice, is_pure_intrinsic, wanted_bits};

use bits::Bits;
use shape::Known;

/// The control flow of a function.
pub(crate) struct Flow<'c> {
    pub(crate) blocks: Vec<Block<'c>>,
    numbers: HashMap<Block<'c>, usize>,
    /// Without the ways that end in a panic and those past the end of a region. A node after the last block
    /// leads to all entries.
    pub(crate) graph: Graph,
    /// Its immediate dominators.
    dominators: Vec<Option<usize>>,
    /// The natural loops, outer ones first.
    pub(crate) loops: Vec<Loop>,
    /// The first block, and those that come after the end of a region.
    pub(crate) entries: Vec<usize>,
    /// Blocks at whose end a region ends.
    pub(crate) region_ends: Vec<usize>,
    /// Blocks that only lead to a panic.
    pub(crate) panics: Vec<bool>,
    /// Blocks that return.
    pub(crate) ends: Vec<usize>,
}

impl<'c> Flow<'c> {
    /// Reads the control flow; `panics` says which blocks write down a panic and end the thread.
    pub(crate) fn new(function: Value<'c>, panics: impl Fn(Block<'c>) -> bool) -> Self {
        Self::of_regions(function, panics, |_| false)
    }

    /// As [`Flow::new`], where a region ends after the blocks that `region_ends` holds of, and starts
    /// again in the one after each.
    pub(crate) fn of_regions(
        function: Value<'c>,
        panics: impl Fn(Block<'c>) -> bool,
        region_ends: impl Fn(Block<'c>) -> bool,
    ) -> Self {
        Self::read(function, panics, region_ends, &[])
    }

    /// As [`Flow::new`], as it is for threads that do not go the ways `left_out`, each from the first block of a
    /// pair to the second.
    pub(crate) fn without(
        function: Value<'c>,
        panics: impl Fn(Block<'c>) -> bool,
        left_out: &[(usize, usize)],
    ) -> Self {
        Self::read(function, panics, |_| false, left_out)
    }

    fn read(
        function: Value<'c>,
        panics: impl Fn(Block<'c>) -> bool,
        region_ends: impl Fn(Block<'c>) -> bool,
        left_out: &[(usize, usize)],
    ) -> Self {
        let blocks = function.blocks();
        let numbers: HashMap<_, _> =
            blocks.iter().enumerate().map(|(number, block)| (*block, number)).collect();
        let mut successors: Vec<Vec<usize>> = blocks
            .iter()
            .map(|block| {
                let mut next: Vec<_> =
                    block.successors().iter().map(|next| numbers[next]).collect();
                next.dedup();
                next
            })
            .collect();
        let all = Graph::new(successors.clone());
        let panicking: Vec<_> = blocks.iter().map(|block| panics(*block)).collect();
        let normal: Vec<_> = (0..blocks.len())
            .filter(|&node| successors[node].is_empty() && !panicking[node])
            .collect();
        let reaches_end = all.reaching(&normal);
        let reaches_panic =
            all.reaching(&(0..blocks.len()).filter(|&node| panicking[node]).collect::<Vec<_>>());
        let cold: Vec<_> =
            (0..blocks.len()).map(|node| !reaches_end[node] && reaches_panic[node]).collect();
        for (node, next) in successors.iter_mut().enumerate() {
            if cold[node] {
                next.clear();
            } else {
                next.retain(|&next| !cold[next]);
            }
        }
        let region_ends: Vec<_> =
            (0..blocks.len()).filter(|&node| !cold[node] && region_ends(blocks[node])).collect();
        let mut entries = vec![0];
        for &end in &region_ends {
            let after = std::mem::take(&mut successors[end]);
            entries.extend(after);
        }
        let mut ends: Vec<_> = normal.into_iter().filter(|&node| !cold[node]).collect();
        ends.extend(&region_ends);
        ends.extend(leave_out(&mut successors, left_out, &ends));
        successors.push(entries.clone());
        let graph = Graph::new(successors);
        let dominators = graph.dominators(blocks.len());
        let loops = graph.loops(blocks.len());
        Self { blocks, numbers, graph, dominators, loops, entries, region_ends, panics: cold, ends }
    }

    /// The immediate dominator of each block and of the node before all of them.
    pub(crate) fn dominators(&self) -> &[Option<usize>] {
        &self.dominators
    }

    pub(crate) fn number(&self, block: Block<'c>) -> usize {
        self.numbers[&block]
    }

    /// The condition of a block that ends with a check: a branch of whose two ways one panics.
    pub(crate) fn check(&self, block: usize) -> Option<Value<'c>> {
        let next = self.blocks[block].successors();
        let [yes, no] = next[..] else { return None };
        let is_check = self.panics[self.number(yes)] != self.panics[self.number(no)];
        self.blocks[block].terminator().filter(|_| is_check)?.branch_condition()
    }
}

/// Takes edges out of a graph, and gives the blocks they come from that lead to none of `ends` any more:
/// there control ends for those that go the other way for ever.
fn leave_out(
    successors: &mut [Vec<usize>],
    edges: &[(usize, usize)],
    ends: &[usize],
) -> Vec<usize> {
    if edges.is_empty() {
        return Vec::new();
    }
    for &(from, to) in edges {
        successors[from].retain(|&next| next != to);
    }
    let ended = Graph::new(successors.to_vec()).reaching(ends);
    edges.iter().map(|&(from, _)| from).filter(|&from| !ended[from]).collect()
}

/// What is known of a function's values.
pub(crate) struct Uniformity<'c> {
    shapes: HashMap<Value<'c>, Shape>,
    /// The divergent branches, as blocks.
    pub(crate) divergent: HashSet<usize>,
    post_dominators: Vec<Option<usize>>,
    joins: HashSet<usize>,
    /// For each divergent branch that control can come to again before its ways have met: the
    /// blocks on the way.
    pub(crate) cycles: HashMap<usize, Vec<bool>>,
    /// The loops that threads leave in different iterations: their blocks, by header.
    pub(crate) left: HashMap<usize, Vec<bool>>,
    influenced: Vec<bool>,
    /// The instructions whose stride is only right where that is checked when they are computed.
    pub(crate) checked: HashSet<Value<'c>>,
    /// The values that are computed from any of them.
    unsure: HashSet<Value<'c>>,
}

/// What an analysis is told.
pub(crate) struct Asked<'a, 'c> {
    /// The threads of a vector; its first one's index along x is a multiple of it. 1 where vectors
    /// are anything else.
    pub(crate) lanes: u32,
    /// The shape of values that the code itself does not decide. What grows by 1 is the index.
    pub(crate) source: &'a dyn Fn(Value<'c>) -> Option<Shape>,
    /// The bytes of a type in memory.
    pub(crate) size: &'a dyn Fn(kernelmill_llvm::ir::Type<'c>) -> u64,
    /// The bytes of an element, of an address in a private array whose elements lie lane by lane.
    pub(crate) element: &'a dyn Fn(Value<'c>) -> Option<u64>,
}

impl<'c> Uniformity<'c> {
    /// Analyses a function.
    pub(crate) fn new(function: Value<'c>, flow: &Flow<'c>, asked: &Asked<'_, 'c>) -> Self {
        let mut found = Self {
            shapes: HashMap::new(),
            divergent: HashSet::new(),
            post_dominators: flow.graph.post_dominators(&flow.ends),
            joins: HashSet::new(),
            cycles: HashMap::new(),
            left: HashMap::new(),
            influenced: vec![false; flow.graph.len()],
            checked: HashSet::new(),
            unsure: HashSet::new(),
        };
        for parameter in function.parameters() {
            found.shapes.insert(parameter, (asked.source)(parameter).unwrap_or(Shape::UNIFORM));
        }
        let order = flow.graph.reverse_post_order(flow.blocks.len());
        let panics = (0..flow.blocks.len()).filter(|&node| flow.panics[node]);
        let order: Vec<_> = order.into_iter().skip(1).chain(panics).collect();
        while found.pass(flow, &order, asked) {}
        let all = function.instructions().into_iter();
        found.checked = found
            .ask(asked, |known| all.filter(|instruction| known.is_checked(*instruction)).collect());
        found.unsure = found.computed_from(&found.checked);
        found
    }

    /// The strided values that are computed from any of these.
    pub(crate) fn computed_from(&self, these: &HashSet<Value<'c>>) -> HashSet<Value<'c>> {
        let (mut reached, mut work) = (HashSet::new(), these.iter().copied().collect::<Vec<_>>());
        while let Some(value) = work.pop() {
            let strided = !matches!(self.shape(value), Shape::Varying | Shape::UNIFORM);
            if strided && reached.insert(value) {
                work.extend(value.users());
            }
        }
        reached
    }

    /// Asks what follows from what is known now.
    fn ask<R>(&self, asked: &Asked<'_, 'c>, question: impl FnOnce(&Known<'_, 'c>) -> R) -> R {
        let index = |value: Value<'c>| {
            let is_index = !value.is_constant() && (asked.source)(value) == Some(Shape::Strided(1));
            is_index.then(|| Bits::of_thread(asked.lanes))
        };
        let shape = |value| self.known(value);
        let Asked { lanes, size, element, .. } = *asked;
        question(&Known { shape: &shape, bits: &index, size, element, lanes })
    }

    /// One pass over all instructions; whether anything changed.
    fn pass(&mut self, flow: &Flow<'c>, order: &[usize], asked: &Asked<'_, 'c>) -> bool {
        let mut changed = false;
        for &node in order {
            for instruction in flow.blocks[node].instructions() {
                let new = match (asked.source)(instruction) {
                    Some(shape) => Some(shape),
                    None if instruction.opcode() == Opcode::Phi => {
                        self.phi(flow, node, instruction)
                    }
                    None => self.ask(asked, |known| shape::of(instruction, known)),
                };
                if let Some(new) = new
                    && self.shapes.get(&instruction) != Some(&new)
                {
                    self.shapes.insert(instruction, new);
                    changed = true;
                }
            }
            let branches = flow.graph.successors[node].len() > 1;
            if branches && !self.divergent.contains(&node) && self.condition_varies(flow, node) {
                self.diverge(flow, node);
                changed = true;
            }
        }
        changed
    }

    /// The shape of an operand; `None` where nothing is known yet.
    fn known(&self, value: Value<'c>) -> Option<Shape> {
        if value.is_constant() || !(value.is_instruction() || self.shapes.contains_key(&value)) {
            return Some(Shape::UNIFORM);
        }
        self.shapes.get(&value).copied()
    }

    fn condition_varies(&self, flow: &Flow<'c>, node: usize) -> bool {
        let Some(end) = flow.blocks[node].terminator() else { return false };
        end.selector()
            .and_then(|condition| self.known(condition))
            .is_some_and(|shape| shape != Shape::UNIFORM)
    }

    fn phi(&self, flow: &Flow<'c>, node: usize, phi: Value<'c>) -> Option<Shape> {
        let incoming: Vec<_> = (0..phi.operands().len() as u32)
            .filter_map(|index| {
                let from = flow.number(phi.incoming_block(index)?);
                Some((phi.operand(index), from))
            })
            .collect();
        let same = incoming.windows(2).all(|pair| pair[0].0 == pair[1].0);
        if (self.joins.contains(&node) || flow.panics[node]) && !same {
            return Some(Shape::Varying);
        }
        for (value, _) in &incoming {
            if self.leaves_cycle(flow, *value, node) {
                return Some(Shape::Varying);
            }
        }
        let known = incoming.iter().filter_map(|(value, _)| self.known(*value));
        let met = known.reduce(Shape::meet)?;
        // A shape only ever gets worse.
        Some(self.shapes.get(&phi).map_or(met, |old| old.meet(met)))
    }

    /// Whether a value is computed in a cycle that threads leave in different iterations, and used
    /// in a block outside.
    pub(crate) fn leaves_cycle(&self, flow: &Flow<'c>, value: Value<'c>, used: usize) -> bool {
        if !value.is_instruction() {
            return false;
        }
        let defined = flow.number(value.block());
        self.cycles
            .values()
            .chain(self.left.values())
            .any(|blocks| blocks[defined] && !blocks[used])
    }

    /// Notes that a branch is divergent.
    fn diverge(&mut self, flow: &Flow<'c>, node: usize) {
        self.divergent.insert(node);
        let graph = &flow.graph;
        let stop = self.post_dominators[node];
        let between = graph.reachable(&graph.successors[node], stop);
        for (influenced, between) in self.influenced.iter_mut().zip(&between) {
            *influenced |= between;
        }
        if between[node] {
            // A way back through a loop around all of this is none: the ways have met on it.
            self.cycles.insert(node, graph.reaching_within(node, &between));
        }
        for found in &flow.loops {
            let inside = |node: usize| found.nodes.binary_search(&node).is_ok();
            if inside(node) && !stop.is_some_and(inside) {
                let blocks = (0..graph.len()).map(inside).collect();
                self.left.insert(found.header, blocks);
            }
        }
        self.joins.extend(joins(graph, node, stop));
    }

    /// The shape of a value.
    pub(crate) fn shape(&self, value: Value<'c>) -> Shape {
        self.known(value).unwrap_or(Shape::Varying)
    }

    /// Whether a strided value is computed from one whose stride may not hold.
    pub(crate) fn is_unsure(&self, value: Value<'c>) -> bool {
        self.unsure.contains(&value)
    }

    /// Whether all threads reach the block together.
    pub(crate) fn is_reached_together(&self, node: usize) -> bool {
        !self.influenced[node]
    }

    /// The immediate post-dominator of a block, panics left out.
    pub(crate) fn post_dominator(&self, node: usize) -> Option<usize> {
        self.post_dominators[node]
    }
}

/// Where two ways from a branch meet before `stop`, and `stop` itself.
///
/// Every block on a way carries a label: the way's first block, or where ways have met, the block
/// where they did. Two labels meet in a join.
fn joins(graph: &Graph, branch: usize, stop: Option<usize>) -> Vec<usize> {
    let between = graph.reachable(&graph.successors[branch], stop);
    let order: Vec<_> =
        graph.reverse_post_order(branch).into_iter().filter(|&node| between[node]).collect();
    let mut labels: Vec<Option<usize>> = vec![None; graph.len()];
    let mut joined = vec![false; graph.len()];
    loop {
        let mut changed = false;
        for &node in &order {
            let from = graph.predecessors[node].iter();
            let mut ways = from.filter_map(|&from| {
                if from == branch { Some(node) } else { labels[from].filter(|_| between[from]) }
            });
            let Some(first) = ways.next() else { continue };
            joined[node] |= ways.any(|way| way != first);
            let new = Some(if joined[node] { node } else { first });
            changed |= labels[node] != new;
            labels[node] = new;
        }
        if !changed {
            break;
        }
    }
    let inside = (0..graph.len()).filter(|&node| joined[node]);
    inside.chain(stop).collect()
}

#[cfg(test)]
mod tests;
