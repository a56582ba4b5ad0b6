//! Structured control flow: the branches of a function as the `if` and `loop` of WGSL.
//!
//! LLVM's passes `fix-irreducible`, `unify-loop-exits` and `structurizecfg`, which it has for AMD's processors, leave a
//! function whose loops have one exit and whose branches meet again. What is left is to find where: the nearest
//! post-dominator, in the loop that the branch is in. A jump to the start of that loop is a `continue`, one to what comes
//! behind it a `break`. Guaranteed: each block is in the tree once, or there is no tree.

use std::collections::HashMap;

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, Opcode, Value},
};

use crate::cpu::{Graph, Loop};

/// Passes that a function goes through before. The names of passes are known to every LLVM.
pub(super) const PASSES: &str = "function(lower-switch,fix-irreducible,loop-simplify,unify-loop-exits,\
                                 structurizecfg,instsimplify,dce)";

/// Has a kernel return in one place.
pub(super) fn join_returns<'c>(context: &'c Context, kernel: Value<'c>) {
    let builder = Builder::new(context);
    let ends: Vec<_> = { kernel.blocks().into_iter().filter_map(Block::terminator) }
        .filter(|it| matches!(it.opcode(), Opcode::Ret | Opcode::Unreachable))
        .collect();
    let end = Block::append(context, kernel, "end");
    builder.at_end(end);
    builder.ret(None);
    for it in ends {
        builder.before(it);
        builder.branch(end);
        it.erase();
    }
}

/// A part of a function.
#[derive(Debug)]
pub(super) enum Node {
    /// The instructions of a block, by its number.
    Block(usize),
    /// The values that a block gives those of another when it jumps there.
    Edge(usize, usize),
    /// The branch at the end of a block.
    If {
        block: usize,
        yes: Vec<Self>,
        no: Vec<Self>,
    },
    Loop(Vec<Self>),
    Break,
    Continue,
    Return,
}

/// A function as a tree.
pub(super) struct Structure<'c> {
    pub(super) blocks: Vec<Block<'c>>,
    pub(super) numbers: HashMap<Block<'c>, usize>,
    pub(super) body: Vec<Node>,
    /// The nested parts that each block is in, by numbers of their own.
    pub(super) scopes: Vec<Vec<usize>>,
}

impl<'c> Structure<'c> {
    /// The tree of a function; `None` where its control flow is not structured.
    pub(super) fn of(function: Value<'c>) -> Option<Self> {
        let blocks = function.blocks();
        let numbers: HashMap<_, _> =
            blocks.iter().enumerate().map(|(number, block)| (*block, number)).collect();
        let next = |block: &Block<'c>| block.successors().iter().map(|it| numbers[it]).collect();
        let graph = Graph::new(blocks.iter().map(next).collect());
        let regions = Region::all(&graph)?;
        let scopes = vec![None; blocks.len()];
        let mut builder = Tree { graph: &graph, regions, scopes, last_scope: 0, scope: vec![0] };
        let body = builder.sequence(0, None, WHOLE)?;
        // Blocks that nothing leads to are in no part.
        let scopes = builder.scopes.into_iter().map(Option::unwrap_or_default).collect();
        Some(Self { blocks, numbers, body, scopes })
    }
}

/// The number of the region that is the whole function.
const WHOLE: usize = 0;

/// A loop, or the whole function.
struct Region {
    header: Option<usize>,
    /// What comes behind the loop.
    exit: Option<usize>,
    /// Where branches of each block meet again within it.
    meets: Vec<Option<usize>>,
}

impl Region {
    /// The whole function, and its loops; `None` where a loop has several exits.
    fn all(graph: &Graph) -> Option<Vec<Self>> {
        let every = (0..graph.len()).collect();
        let whole = Self::new(graph, &Loop { header: usize::MAX, nodes: every })?;
        let mut regions = vec![Self { header: None, ..whole }];
        for it in graph.loops(0) {
            regions.push(Self::new(graph, &it)?);
        }
        Some(regions)
    }

    fn new(graph: &Graph, it: &Loop) -> Option<Self> {
        let is_in = |node: &usize| it.nodes.binary_search(node).is_ok();
        let mut exits: Vec<_> = { it.nodes.iter() }
            .flat_map(|&node| &graph.successors[node])
            .filter(|next| !is_in(next))
            .copied()
            .collect();
        exits.sort_unstable();
        exits.dedup();
        if exits.len() > 1 {
            return None;
        }
        let mut within = vec![Vec::new(); graph.len()];
        let mut ends = Vec::new();
        for &node in &it.nodes {
            let next = &graph.successors[node];
            within[node] =
                { next.iter().copied() }.filter(|next| is_in(next) && *next != it.header).collect();
            if within[node].len() < next.len() || next.is_empty() {
                ends.push(node);
            }
        }
        let meets = Graph::new(within).post_dominators(&ends);
        Some(Self { header: Some(it.header), exit: exits.first().copied(), meets })
    }
}

struct Tree<'a> {
    graph: &'a Graph,
    regions: Vec<Region>,
    scopes: Vec<Option<Vec<usize>>>,
    last_scope: usize,
    scope: Vec<usize>,
}

impl Tree<'_> {
    /// Builds a part in a scope of its own.
    fn nested(&mut self, build: impl FnOnce(&mut Self) -> Option<Vec<Node>>) -> Option<Vec<Node>> {
        self.last_scope += 1;
        self.scope.push(self.last_scope);
        let built = build(self);
        self.scope.pop();
        built
    }

    /// The parts from a block on, up to another, in a region.
    fn sequence(&mut self, start: usize, stop: Option<usize>, region: usize) -> Option<Vec<Node>> {
        let (mut nodes, mut at) = (Vec::new(), start);
        while Some(at) != stop {
            let own = self.regions[region].header == Some(at);
            let inner = self.regions.iter().position(|it| it.header == Some(at));
            if let Some(inner) = inner.filter(|_| !own || !nodes.is_empty()) {
                let body = self.nested(|it| it.body(inner))?;
                nodes.push(Node::Loop(body));
                let Some(exit) = self.regions[inner].exit else { return Some(nodes) };
                if let Some(jump) = self.jump(exit, region) {
                    nodes.push(jump);
                    return Some(nodes);
                }
                at = exit;
                continue;
            }
            self.place(at, &mut nodes)?;
            match self.step(at, region, &mut nodes)? {
                Some(next) => at = next,
                None => return Some(nodes),
            }
        }
        Some(nodes)
    }

    /// The body of a loop.
    fn body(&mut self, region: usize) -> Option<Vec<Node>> {
        let header = self.regions[region].header?;
        self.sequence(header, None, region)
    }

    /// Puts the instructions of a block here.
    fn place(&mut self, block: usize, nodes: &mut Vec<Node>) -> Option<()> {
        if self.scopes[block].replace(self.scope.clone()).is_some() {
            return None;
        }
        nodes.push(Node::Block(block));
        Some(())
    }

    /// What comes behind the instructions of a block: the block that goes on, where one does.
    fn step(&mut self, at: usize, region: usize, nodes: &mut Vec<Node>) -> Option<Option<usize>> {
        let successors = self.graph.successors[at].clone();
        let (yes, no) = match *successors {
            [] => {
                nodes.push(Node::Return);
                return Some(None);
            }
            [next] => {
                nodes.push(Node::Edge(at, next));
                let jump = self.jump(next, region);
                let goes_on = jump.is_none().then_some(next);
                nodes.extend(jump);
                return Some(goes_on);
            }
            [yes, no] => (yes, no),
            _ => return None,
        };
        let jumps = [yes, no].map(|it| self.jump(it, region).is_some());
        let meet = match jumps {
            [true, false] => Some(no),
            [false, true] => Some(yes),
            _ => self.regions[region].meets[at],
        };
        let [yes, no] = [yes, no].map(|it| {
            self.nested(|builder| {
                let mut part = vec![Node::Edge(at, it)];
                match builder.jump(it, region) {
                    Some(jump) => part.push(jump),
                    None => part.extend(builder.sequence(it, meet, region)?),
                }
                Some(part)
            })
        });
        nodes.push(Node::If { block: at, yes: yes?, no: no? });
        Some(meet)
    }

    /// How a jump to a block is written, where it leaves the loop or starts it again.
    fn jump(&self, to: usize, region: usize) -> Option<Node> {
        let Region { header, exit, .. } = self.regions[region];
        match Some(to) {
            to if to == header => Some(Node::Continue),
            to if to == exit => Some(Node::Break),
            _ => None,
        }
    }
}
