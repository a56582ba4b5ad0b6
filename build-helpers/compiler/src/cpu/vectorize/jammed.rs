//! Vectors of several rows at once: the bodies of jammed rows, and the loop that runs them where the rows agree.

use std::collections::HashMap;

use kernelmill_llvm::ir::{
    Block, Builder, IntPredicate, Linkage, ModuleExt, Opcode, Place, Type, Value,
};

use super::{
    Request,
    analysis::{legality, plan::Plan},
    emission::{code::BodyKind, function::build},
    runner::{Functions, JammedRows, Runner},
};
use crate::{
    cpu::unroll_and_jam::{self, Jammed},
    passes::entry::Unit,
};

impl<'c> Request<'_, '_, 'c> {
    /// Builds the bodies of jammed rows for a plan of one region, whose masked body is given; `thread` is the index of
    /// the thread in the body.
    pub(super) fn jammed(
        &self,
        masked: Value<'c>,
        thread: [Value<'c>; 3],
    ) -> Option<JammedRows<'c>> {
        let own = self.plan.function;
        let jammed = unroll_and_jam::jam(self.unit, own, thread)?;
        let bodies = self.bodies_of_rows(masked, &jammed, thread[1]);
        jammed.function.delete_function();
        let Jammed { rows, agreed, .. } = jammed;
        Some(JammedRows { bodies: bodies?, rows, agreed })
    }

    fn bodies_of_rows(
        &self,
        masked: Value<'c>,
        jammed: &Jammed<'c>,
        y: Value<'c>,
    ) -> Option<Functions<'c>> {
        let (own, parameters) = (self.plan.function.parameters(), jammed.function.parameters());
        let place = |old: Value<'c>| own.iter().position(|it| *it == old);
        let [x, block] = [place(self.place.0)?, place(self.place.1)?].map(|at| parameters[at]);
        let plan = Plan::new(jammed.function, self.plan.lanes, self.size, (0, x)).ok()?;
        legality::check(&plan, self.size).ok()?;
        let masked = masked_rows(self.unit, masked, (place(y)?, jammed.rows));
        let kind = BodyKind::Unmasked { masked: Some(masked) };
        let build = |plan: &Plan<'c>| build(self.unit, plan, self.arrays, self.size, 0, kind).ok();
        let speculated = plan.speculated(self.size, (x, block)).and_then(|plan| build(&plan));
        let Some(unmasked) = speculated.or_else(|| build(&plan)) else {
            masked.delete_function();
            return None;
        };
        Some(Functions { unmasked, masked: Some(masked), long: None })
    }
}

/// The masked body of jammed rows: that of a single row, for each. The index along y is the parameter at `y`.
fn masked_rows<'c>(unit: &Unit<'_, 'c>, masked: Value<'c>, (y, rows): (usize, u32)) -> Value<'c> {
    let context = unit.context;
    let name = format!("{}.rows{rows}", masked.name());
    let function = unit.module.new_function(&name, masked.value_type());
    function.set_linkage(Linkage::Internal);
    for name in ["noinline", "cold", "optsize", "nounwind"] {
        function.add_attribute(context, Place::Function, name, 0);
    }
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, function, "start"));
    let mut values = function.parameters();
    let first = values[y];
    let mut next = builder.call(masked, &values);
    for row in 1..u64::from(rows) {
        values[y] = builder.add_no_wrap(first, Type::int(context, 32).constant(row));
        next = builder.call(masked, &values);
    }
    builder.ret(Some(next));
    function
}

impl<'c> Runner<'_, 'c> {
    /// Runs a region for the lines of a plane: several at once where there are so many and they agree, else one.
    pub(super) fn lines_or_several(
        &self,
        jammed: &JammedRows<'c>,
        z: Value<'c>,
        line: impl FnOnce(Value<'c>),
        several: impl FnOnce(Value<'c>),
    ) {
        let (context, builder) = (self.unit.context, &self.builder);
        let word = Type::int(context, 32);
        let [head, together, alone, after, exit] =
            [(); 5].map(|()| Block::append(context, self.function, ""));
        let outside = builder.block();
        builder.branch(head);
        builder.at_end(head);
        let y = builder.phi(word);
        y.add_incoming(word.constant(0), outside);
        let rows = word.constant(u64::from(jammed.rows));
        let left = builder.binary(Opcode::Sub, self.dims[1], y);
        let fits = builder.compare(IntPredicate::Uge, left, rows);
        let agree = self.agree(jammed, y, z);
        let both = agree.into_iter().fold(fits, |all, one| builder.and(all, one));
        builder.branch_if(both, together, alone);
        builder.at_end(together);
        several(y);
        let together = builder.block();
        builder.branch(after);
        builder.at_end(alone);
        line(y);
        let alone = builder.block();
        builder.branch(after);
        builder.at_end(after);
        let step = builder.phi(word);
        step.add_incoming(rows, together);
        step.add_incoming(word.constant(1), alone);
        let next = builder.add_no_wrap(y, step);
        y.add_incoming(next, after);
        let more = builder.compare(IntPredicate::Ult, next, self.dims[1]);
        builder.branch_if(more, head, exit);
        builder.at_end(exit);
    }

    /// The bits that say whether the rows from `y` on agree on a comparison each.
    fn agree(&self, jammed: &JammedRows<'c>, y: Value<'c>, z: Value<'c>) -> Vec<Value<'c>> {
        let word = Type::int(self.unit.context, 32);
        let zero = word.constant(0);
        let of_thread = |y: Value<'c>| {
            let values = self.arguments.iter().copied().chain([zero, y, z]);
            let values = values.chain(self.context.iter().copied());
            self.plan.function.parameters().into_iter().zip(values).collect::<HashMap<_, _>>()
        };
        let mut rows: Vec<_> = (0..u64::from(jammed.rows))
            .map(|row| of_thread(self.builder.add(y, word.constant(row))))
            .collect();
        let builder = &self.builder;
        let mut agree = Vec::new();
        for compare in &jammed.agreed {
            // No thread of the rows need come to it, and then it can be poison.
            let mut found =
                rows.iter_mut().map(|row| builder.freeze(value_in(builder, *compare, row)));
            let first = found.next().expect("there are rows");
            agree.extend(found.map(|it| builder.compare(IntPredicate::Eq, first, it)));
        }
        agree
    }
}

/// A value of the kernel's body where `known` has its parameters.
fn value_in<'c>(
    builder: &Builder<'c>,
    value: Value<'c>,
    known: &mut HashMap<Value<'c>, Value<'c>>,
) -> Value<'c> {
    if let Some(found) = known.get(&value) {
        return *found;
    }
    if !value.is_instruction() {
        return value;
    }
    let operands: Vec<_> =
        value.operands().into_iter().map(|operand| value_in(builder, operand, known)).collect();
    let copy = builder.copy(value);
    for (index, operand) in operands.into_iter().enumerate() {
        copy.set_operand(index as u32, operand);
    }
    known.insert(value, copy);
    copy
}
