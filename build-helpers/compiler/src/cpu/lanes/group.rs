//! Builds the function that runs one region for a group of threads.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::ir::{Block, Builder, Linkage, ModuleExt, Opcode, Place, Type, Value};

use super::{
    assume::Assumptions,
    form::{Form, Vectors},
    panic::Panics,
    plan::{Part, Plan},
    state::State,
};
use crate::{cpu::uniformity::Shape, passes::entry::Unit};

/// What a group's function returns where a thread of it has panicked.
pub(super) const PANICKED: u64 = 0xffff_ffff;
/// What it returns where the kernel has ended; else the number of the next region.
pub(super) const ENDED: u64 = 0xffff_fffe;

/// The parameters of a group's function after those of the body.
pub(super) struct Extra<'c> {
    /// What is kept for each thread.
    pub(super) threads: Value<'c>,
    /// What is kept for the block, as the region before has left it.
    pub(super) block: Value<'c>,
    /// The same for the region after, which the groups of this one all write alike.
    pub(super) next: Value<'c>,
    /// The number of threads, rows padded.
    pub(super) padded: Value<'c>,
    /// The number of the group's first thread.
    pub(super) at: Value<'c>,
}

/// Stack slots that hold a value between blocks; LLVM makes registers of them.
#[derive(Clone, Copy)]
pub(super) struct Slots<'c> {
    pub(super) first: Option<Value<'c>>,
    pub(super) holds: Option<Value<'c>>,
    pub(super) vector: Option<Value<'c>>,
}

/// Under which mask code is built; `None` for all lanes.
pub(super) type Mask<'c> = Option<Value<'c>>;

/// Which groups a function is for.
#[derive(Clone, Copy)]
pub(super) enum Kind<'c> {
    /// Those with a thread in every lane. Where what it assumes does not hold, it calls the other.
    Full { any: Option<Value<'c>> },
    /// All, by a mask.
    Any,
}

/// The builder of one group's function.
pub(super) struct Group<'a, 'c> {
    pub(super) unit: &'a Unit<'a, 'c>,
    pub(super) plan: &'a Plan<'c>,
    pub(super) state: &'a State<'c>,
    pub(super) size: &'a dyn Fn(Type<'c>) -> u64,
    pub(super) region: usize,
    pub(super) kind: Kind<'c>,
    pub(super) function: Value<'c>,
    pub(super) extra: Extra<'c>,
    pub(super) builder: Builder<'c>,
    /// Stands before the end of the first block, where stack slots are.
    pub(super) slots: Builder<'c>,
    pub(super) vectors: Vectors<'c>,
    pub(super) parameters: HashMap<Value<'c>, Form<'c>>,
    /// What the block that is built has computed or read.
    pub(super) cached: HashMap<Value<'c>, Form<'c>>,
    pub(super) memory: HashMap<Value<'c>, Form<'c>>,
    pub(super) values: HashMap<Value<'c>, Slots<'c>>,
    pub(super) phis: HashMap<Value<'c>, Slots<'c>>,
    /// Values of other regions that have been loaded.
    pub(super) brought: HashSet<Value<'c>>,
    /// What has been computed anew at the start of the function.
    pub(super) anew: HashMap<Value<'c>, Form<'c>>,
    /// For blocks of parts: the threads that come to it.
    pub(super) masks: HashMap<usize, Value<'c>>,
    /// For headers of divergent loops: the threads that go round once more.
    pub(super) live: HashMap<usize, Value<'c>>,
    /// For blocks that all threads of the mask reach together: the block that is built.
    pub(super) blocks: HashMap<usize, Block<'c>>,
    pub(super) parts: HashMap<usize, Part>,
    pub(super) panics: Panics<'c>,
    pub(super) assumptions: Assumptions<'c>,
    /// Where a group is left to the function for any group.
    pub(super) other: Option<Block<'c>>,
    /// Whether the block that is built has changed memory.
    pub(super) changed: bool,
    /// Blocks whose check is known to be passed by all lanes.
    pub(super) checked: HashSet<usize>,
}

/// Builds the function of a region. That for groups with a thread in every lane is given the one for
/// any group, which takes a mask as its last parameter.
pub(super) fn build<'c>(
    unit: &Unit<'_, 'c>,
    plan: &Plan<'c>,
    state: &State<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
    region: usize,
    kind: Kind<'c>,
) -> Result<Value<'c>, &'static str> {
    let context = unit.context;
    let vectors = Vectors { context, lanes: plan.lanes };
    let (pointer, wide) = (Type::pointer(context, 0), Type::int(context, 64));
    let mut types = plan.function.value_type().parameters();
    let own = types.len();
    types.extend([pointer, pointer, pointer, wide, wide]);
    let has_mask = matches!(kind, Kind::Any);
    if has_mask {
        types.push(vectors.mask());
    }
    let name = format!("{}.group{region}x{}", plan.function.name(), plan.lanes);
    let ty = Type::int(context, 32).function(&types);
    let function = unit.module.new_function(&name, ty);
    function.set_linkage(Linkage::Internal);
    // Most blocks have no group that is not full, so that should cost little time to compile.
    let how: &[_] = if has_mask { &["noinline", "cold", "optsize"] } else { &["alwaysinline"] };
    for name in how.iter().chain(&["nounwind"]) {
        function.add_attribute(context, Place::Function, name, 0);
    }
    let values = function.parameters();
    for index in own + 1..own + 3 {
        function.add_attribute(context, Place::Parameter(index as u32), "noalias", 0);
    }
    // An address that a region reads from memory is not derived from any parameter.
    let names: &[_] = if state.keeps_addresses() {
        &["nonnull", "readonly"]
    } else {
        function.add_attribute(context, Place::Parameter(own as u32), "noalias", 0);
        if plan.lanes > 1 {
            // Functions that find shared memory themselves are not called by more lanes.
            for index in own - 2..own {
                function.add_attribute(context, Place::Parameter(index as u32), "noalias", 0);
            }
        }
        &["nonnull", "readonly", "noalias"]
    };
    copy_parameter_attributes(unit, plan.function, function, names);
    let extra = Extra {
        threads: values[own],
        block: values[own + 1],
        next: values[own + 2],
        padded: values[own + 3],
        at: values[own + 4],
    };
    let entry = Block::append(context, function, "slots");
    let start = Block::append(context, function, "start");
    let (builder, slots) = (Builder::new(context), Builder::new(context));
    slots.at_end(entry);
    let end = slots.branch(start);
    slots.before(end);
    builder.at_end(start);
    let form = |(old, new): (Value<'c>, &Value<'c>)| match plan.shapes.shape(old) {
        Shape::Strided(step) => (old, Form::strided(*new, step)),
        Shape::Varying => unreachable!("no parameter varies"),
    };
    let parameters = plan.function.parameters().into_iter().zip(&values).map(form).collect();
    let panics = Panics::new(plan, region, &slots, context);
    let mut group = Group {
        unit,
        plan,
        state,
        size,
        region,
        kind,
        function,
        extra,
        builder,
        slots,
        vectors,
        parameters,
        cached: HashMap::new(),
        memory: HashMap::new(),
        values: HashMap::new(),
        phis: HashMap::new(),
        brought: HashSet::new(),
        anew: HashMap::new(),
        masks: HashMap::new(),
        live: HashMap::new(),
        blocks: HashMap::new(),
        parts: HashMap::new(),
        panics,
        assumptions: Assumptions::new(plan, state, region, kind),
        other: None,
        changed: false,
        checked: HashSet::new(),
    };
    let mask = has_mask.then(|| values[own + 5]);
    let built = group.region(mask);
    if let (Ok(()), Kind::Full { any: Some(any) }) = (&built, kind) {
        group.make_sure(entry, start, any);
    }
    if let Err(why) = built {
        function.delete_function();
        return Err(why);
    }
    Ok(function)
}

/// What is known of the body's parameters is known of the group's.
fn copy_parameter_attributes<'c>(
    unit: &Unit<'_, 'c>,
    from: Value<'c>,
    to: Value<'c>,
    names: &[&str],
) {
    for index in 0..from.parameters().len() as u32 {
        let place = Place::Parameter(index);
        for name in names {
            if from.has_attribute(place, name) {
                to.add_attribute(unit.context, place, name, 0);
            }
        }
    }
}

impl<'c> Group<'_, 'c> {
    fn region(&mut self, mask: Mask<'c>) -> Result<(), &'static str> {
        let region = &self.plan.regions[self.region];
        let within: Vec<usize> =
            (0..self.plan.flow.blocks.len()).filter(|&block| region.blocks[block]).collect();
        self.together(&within, region.entry, mask, None)?;
        self.build_panics()
    }

    /// Builds blocks that all threads of the mask pass together, save for the parts among them.
    /// Control that leaves the blocks goes to `outside`.
    pub(super) fn together(
        &mut self,
        within: &[usize],
        entry: usize,
        mask: Mask<'c>,
        outside: Option<Block<'c>>,
    ) -> Result<(), &'static str> {
        let mut member = vec![false; self.plan.flow.graph.len()];
        within.iter().for_each(|&block| member[block] = true);
        let parts = self.plan.parts(&member)?;
        let mut hidden = vec![false; member.len()];
        for part in &parts {
            if !member[part.exit] {
                return Err("threads meet again outside of their loop only");
            }
            part.blocks.iter().filter(|&&b| b != part.root).for_each(|&b| hidden[b] = true);
        }
        let parts = parts.into_iter().map(|part| (part.root, part)).collect();
        let outer = (std::mem::take(&mut self.blocks), std::mem::replace(&mut self.parts, parts));
        let order = self.plan.flow.graph.reverse_post_order(entry);
        let order: Vec<_> =
            order.into_iter().filter(|&block| member[block] && !hidden[block]).collect();
        for &block in &order {
            let built = Block::append(self.unit.context, self.function, "");
            self.blocks.insert(block, built);
        }
        self.builder.branch(self.blocks[&entry]);
        for block in order {
            self.builder.at_end(self.blocks[&block]);
            if let Some(part) = self.parts.get(&block).cloned() {
                self.part(&part, mask)?;
                let exit = self.blocks[&part.exit];
                self.builder.branch(exit);
            } else {
                self.instructions(block, mask)?;
                self.leave_together(block, mask, outside)?;
            }
        }
        (self.blocks, self.parts) = outer;
        Ok(())
    }

    /// Builds the end of a block whose threads stay together.
    fn leave_together(
        &mut self,
        block: usize,
        mask: Mask<'c>,
        outside: Option<Block<'c>>,
    ) -> Result<(), &'static str> {
        let word = Type::int(self.unit.context, 32);
        if let Some(next) = self.plan.barriers.get(&block) {
            self.builder.ret(Some(word.constant(*next as u64)));
            return Ok(());
        }
        let end = self.plan.flow.blocks[block].terminator().ok_or("a block has no end")?;
        match end.opcode() {
            Opcode::Ret => {
                self.builder.ret(Some(word.constant(ENDED)));
            }
            Opcode::Unreachable => {
                self.builder.unreachable();
            }
            Opcode::Br => {
                let next = self.plan.flow.blocks[block].successors()[0];
                self.go(block, self.plan.flow.number(next), mask, outside)?;
            }
            Opcode::Switch => self.switch_together(block, end, mask, outside)?,
            _ => {
                let condition = end.branch_condition().ok_or("control leaves in an unusual way")?;
                self.branch_together(block, condition, mask, outside)?;
            }
        }
        Ok(())
    }

    fn branch_together(
        &mut self,
        block: usize,
        condition: Value<'c>,
        mask: Mask<'c>,
        outside: Option<Block<'c>>,
    ) -> Result<(), &'static str> {
        let flow = &self.plan.flow;
        let condition = self.read(condition, block);
        let next: Vec<_> =
            flow.blocks[block].successors().iter().map(|next| flow.number(*next)).collect();
        if let Some(bad) = next.iter().position(|&next| flow.panics[next]) {
            let good = next[1 - bad];
            if flow.panics[good] {
                return Err("both ways of a branch panic");
            }
            self.check(block, condition, bad == 0, next[bad], mask);
            return self.go(block, good, mask, outside);
        }
        if next[0] == next[1] {
            return self.go(block, next[0], mask, outside);
        }
        let condition = condition.once();
        let (yes, no) = (self.edge_block(), self.edge_block());
        self.builder.branch_if(condition, yes, no);
        for (edge, next) in [(yes, next[0]), (no, next[1])] {
            self.builder.at_end(edge);
            // What is read on one edge is not at hand on the other.
            let cached = self.cached.clone();
            self.go(block, next, mask, outside)?;
            self.cached = cached;
        }
        Ok(())
    }

    fn switch_together(
        &mut self,
        block: usize,
        end: Value<'c>,
        mask: Mask<'c>,
        outside: Option<Block<'c>>,
    ) -> Result<(), &'static str> {
        let flow = &self.plan.flow;
        let value = self.read(end.operand(0), block).once();
        let targets = flow.blocks[block].successors();
        let edges: Vec<_> = targets.iter().map(|_| self.edge_block()).collect();
        let switch = self.builder.switch(value, edges[0], targets.len() as u32 - 1);
        for (value, edge) in end.switch_cases().into_iter().zip(&edges[1..]) {
            switch.add_case(value, *edge);
        }
        for (edge, target) in edges.into_iter().zip(targets) {
            self.builder.at_end(edge);
            let target = flow.number(target);
            let cached = self.cached.clone();
            if flow.panics[target] {
                self.panic_now(block, target, mask);
            } else {
                self.go(block, target, mask, outside)?;
            }
            self.cached = cached;
        }
        Ok(())
    }

    pub(super) fn edge_block(&self) -> Block<'c> {
        Block::append(self.unit.context, self.function, "")
    }

    /// Goes from one block to another with all threads of the mask.
    fn go(
        &mut self,
        from: usize,
        to: usize,
        mask: Mask<'c>,
        outside: Option<Block<'c>>,
    ) -> Result<(), &'static str> {
        if let Some(block) = self.blocks.get(&to).copied() {
            self.set_phis(from, to, None, None);
            self.builder.branch(block);
            return Ok(());
        }
        let outside = outside.ok_or("control goes where nothing is built")?;
        self.set_phis(from, to, mask, None);
        self.come(to, mask);
        self.builder.branch(outside);
        Ok(())
    }

    /// Adds threads to those that come to a block of a part.
    pub(super) fn come(&mut self, to: usize, mask: Mask<'c>) {
        if let Some(slot) = self.masks.get(&to) {
            let old = self.builder.load(self.vectors.mask(), *slot);
            let new = mask.unwrap_or_else(|| self.vectors.every());
            let both = self.builder.binary(Opcode::Or, old, new);
            self.builder.store(both, *slot);
        }
    }
}
