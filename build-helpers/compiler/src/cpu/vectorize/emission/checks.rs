//! Checks whose failure is a panic, such as those of bounds: one comparison for the vector where the number is
//! strided, and one for several checks of one number.

use kernelmill_llvm::ir::{IntPredicate, ModuleExt, Opcode, Type, Value};

use super::{
    super::{
        analysis::{
            comparison::{Comparison, root},
            plan::Plan,
        },
        layout::vector_value::VectorValue,
    },
    code::Mask,
    exits::Exits,
    ranges::Span,
    values::Values,
};
use crate::cpu::uniformity::Shape;

/// The comparison that holds where a block's check is passed; `None` where the block does not end with a
/// check, or with one of another kind.
fn check_of<'c>(plan: &Plan<'c>, block: usize) -> Option<Comparison<'c>> {
    let flow = &plan.flow;
    let found = plan.comparison(flow.check(block)?)?;
    let passed = flow.number(*flow.blocks[block].successors().first()?);
    Some(if flow.panics[passed] { found.inverse() } else { found })
}

/// As [`check_of`], where the operands of the comparison are at hand at the block's end: the comparison may
/// be one that another block makes.
fn check_at_hand<'c>(values: &Values<'_, 'c>, block: usize) -> Option<Comparison<'c>> {
    check_of(values.plan, block).filter(|found| are_at_hand(values, *found, block))
}

fn are_at_hand<'c>(values: &Values<'_, 'c>, found: Comparison<'c>, block: usize) -> bool {
    [found.number, found.limit].into_iter().all(|operand| values.is_at_hand(operand, block))
}

impl<'c> Exits<'c> {
    /// Goes to a panic if the condition is `bad` in any lane of the mask.
    pub(in crate::cpu::vectorize) fn check(
        &mut self,
        values: &mut Values<'_, 'c>,
        from: usize,
        condition: VectorValue<'c>,
        bad: bool,
        to: usize,
        mask: Mask<'c>,
    ) {
        if self.checked.contains(&from) {
            return;
        }
        if self.check_or_restart(values, from, condition, bad, mask) {
            return;
        }
        let (out, go) = (values.code.edge_block(), values.code.edge_block());
        let threads = if condition.is_uniform() {
            let condition = condition.once();
            let (yes, no) = if bad { (out, go) } else { (go, out) };
            values.code.builder.branch_if(condition, yes, no);
            mask
        } else {
            if let Some(fine) = all_pass(values, from) {
                let look = values.code.edge_block();
                values.code.builder.branch_if(fine, go, look);
                values.code.builder.at_end(look);
            }
            let failing = values.code.failing(condition, bad);
            let threads = values.code.vectors.where_holds(&values.code.builder, mask, failing);
            let any = values.code.vectors.any(&values.code.builder, threads);
            values.code.builder.branch_if(any, out, go);
            Some(threads)
        };
        values.code.builder.at_end(out);
        let cached = values.cached.clone();
        self.panics.panic_now(values, from, to, threads);
        // What was read on the way out is not at hand on the way on.
        values.cached = cached;
        values.code.builder.at_end(go);
    }

    /// As [`Exits::check`], where a vector with a thread that fails can be left to the masked body,
    /// which finds it again; whether that is so.
    fn check_or_restart(
        &mut self,
        values: &mut Values<'_, 'c>,
        from: usize,
        condition: VectorValue<'c>,
        bad: bool,
        mask: Mask<'c>,
    ) -> bool {
        let Some(other) = self.restart(values, from, mask) else { return false };
        let go = values.code.edge_block();
        if condition.is_uniform() {
            let (yes, no) = if bad { (other, go) } else { (go, other) };
            values.code.builder.branch_if(condition.once(), yes, no);
        } else if let Some(fine) = self.all_pass_with_those_after(values, from) {
            values.code.builder.branch_if(fine, go, other);
        } else if let Some((fine, narrow)) = narrow_pass(values, from, bad) {
            let failing = values.code.vectors.not(&values.code.builder, fine);
            let any = values.code.vectors.any(&values.code.builder, failing);
            values.code.builder.branch_if(any, other, go);
            values.code.builder.at_end(go);
            know_narrow(values, narrow, from);
            return true;
        } else {
            let failing = values.code.failing(condition, bad);
            let any = values.code.vectors.any(&values.code.builder, failing);
            values.code.builder.branch_if(any, other, go);
        }
        values.code.builder.at_end(go);
        true
    }

    /// As [`all_pass`], for the checks that come next as well, if they are of the same number
    /// but for constants, and of the same limit. They are not made then.
    fn all_pass_with_those_after(
        &mut self,
        values: &mut Values<'_, 'c>,
        block: usize,
    ) -> Option<Value<'c>> {
        let found = check_at_hand(values, block)?;
        let (base, own) = root(found.number);
        let (mut offsets, mut after) = ((0, 0), Vec::new());
        for (node, other) in checks_after(values.plan, block) {
            let (other_base, offset) = root(other.number);
            let like = Comparison { number: found.number, ..other };
            if other_base == base && like == found {
                let offset = offset.wrapping_sub(own);
                offsets = (offsets.0.min(offset), offsets.1.max(offset));
                after.push(node);
            }
        }
        let number = values.read(found.number, block);
        let Some(span) = values.code.span(number, offsets) else { return all_pass(values, block) };
        let fine = passes(values, block, span, found)?;
        self.checked.extend(after);
        Some(fine)
    }
}

/// For a check of a number that grows from lane to lane against a uniform one: a bit that says that
/// every lane passes, active or not, from the first alone.
fn all_pass<'c>(values: &mut Values<'_, 'c>, block: usize) -> Option<Value<'c>> {
    let found = check_at_hand(values, block)?;
    let number = values.read(found.number, block);
    let span = values.code.span(number, (0, 0))?;
    passes(values, block, span, found)
}

fn passes<'c>(
    values: &mut Values<'_, 'c>,
    block: usize,
    span: Span<'c>,
    found: Comparison<'c>,
) -> Option<Value<'c>> {
    let limit = values.read(found.limit, block);
    limit.is_uniform().then(|| values.code.all_compare(span, found.predicate, limit.once()))
}

/// The checks that all threads come to after that of a block, if they pass.
fn checks_after<'c>(plan: &Plan<'c>, block: usize) -> Vec<(usize, Comparison<'c>)> {
    let graph = &plan.flow.graph;
    let (mut node, mut found) = (block, Vec::new());
    while let [next] = graph.successors[node][..]
        && graph.predecessors[next].len() == 1
        && !plan.barriers.contains_key(&node)
        && next != block
    {
        found.extend(check_of(plan, next).map(|check| (next, check)));
        node = next;
    }
    found
}

/// For a check that a widened number of 32 bits, which differs from lane to lane, is less than a
/// uniform one: whether it is in each lane, and less than half of what 32 bits can say. Gives
/// the extension too.
///
/// Half as many lanes of twice the bits need not be compared, and addresses can be computed from the
/// numbers as they are.
fn narrow_pass<'c>(
    values: &mut Values<'_, 'c>,
    block: usize,
    bad: bool,
) -> Option<(Value<'c>, Value<'c>)> {
    use IntPredicate::*;
    let condition = values.plan.flow.blocks[block].terminator()?.branch_condition()?;
    let varies = |value| values.plan.shapes.shape(value) == Shape::Varying;
    let found = Comparison::of(condition, varies)?;
    let found = Some(found).filter(|found| are_at_hand(values, *found, block))?;
    let found = if bad { found.inverse() } else { found };
    let number = found.number;
    let is_wide = number.is_instruction()
        && number.opcode() == Opcode::ZExt
        && number.operand(0).ty().is_int(32);
    let limit = values.read(found.limit, block);
    if !is_wide || found.predicate != Ult || !limit.is_uniform() {
        return None;
    }
    let (ty, word) = (number.ty(), Type::int(values.code.unit.context, 32));
    let least = values.code.unit.module.intrinsic("llvm.umin", &[ty]);
    let limit = values.code.builder.call(least, &[limit.once(), ty.constant(1 << 31)]);
    let limit = values.code.builder.truncate(limit, word);
    let limit = values.code.vectors.splat(&values.code.builder, limit);
    let lanes = narrowed(values, number, block);
    Some((values.code.builder.compare(Ult, lanes, limit), number))
}

/// The lanes of an extension before it.
fn narrowed<'c>(values: &mut Values<'_, 'c>, extension: Value<'c>, block: usize) -> Value<'c> {
    let lanes = values.wide(extension, block);
    let ty = values.code.vectors.widen(extension.operand(0).ty());
    values.code.builder.truncate(lanes, ty)
}

/// Notes that an extension with zeros is one with the sign too, of which LLVM makes addresses
/// from narrow numbers.
fn know_narrow<'c>(values: &mut Values<'_, 'c>, extension: Value<'c>, block: usize) {
    let lanes = narrowed(values, extension, block);
    let ty = values.code.vectors.widen(extension.ty());
    let lanes = values.code.builder.cast(Opcode::SExt, lanes, ty);
    values.write(extension, VectorValue::varying(lanes));
}
