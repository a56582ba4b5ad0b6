//! Checks whose failing is a panic.

use kernelmill_llvm::ir::{IntPredicate, ModuleExt, Opcode, Type, Value};

use super::{
    form::Form,
    group::{Group, Mask},
    plan::Plan,
    range::{Comparison, Span},
    values::VARYING,
};

/// The comparison that a block's end asks for, with the block after it where it holds; `None` where the
/// block does not end with a check, or with one of another kind.
fn check_of<'c>(plan: &Plan<'c>, block: usize) -> Option<(Comparison<'c>, usize)> {
    let flow = &plan.flow;
    let end = flow.blocks[block].terminator()?;
    let next = flow.blocks[block].successors();
    let [yes, no] = next[..] else { return None };
    let (yes, no) = (flow.number(yes), flow.number(no));
    let found = plan.comparison(end.branch_condition()?)?;
    match (flow.panics[yes], flow.panics[no]) {
        (false, true) => Some((found, yes)),
        (true, false) => Some((found.inverse(), no)),
        _ => None,
    }
}

/// The number without the constants that are added to it, and their sum.
pub(super) fn root(value: Value<'_>) -> (Value<'_>, i64) {
    let (mut value, mut offset) = (value, 0_i64);
    while value.is_instruction() {
        let is_sum = match value.opcode() {
            Opcode::Add => true,
            Opcode::Or => value.is_disjoint(),
            _ => false,
        };
        let constant = value.operands().get(1).and_then(|it| it.as_u64());
        let (true, Some(constant), Some(bits)) = (is_sum, constant, value.ty().int_width()) else {
            break;
        };
        let shift = 64 - bits.min(64);
        offset = offset.wrapping_add(((constant << shift) as i64) >> shift);
        value = value.operand(0);
    }
    (value, offset)
}

impl<'c> Group<'_, 'c> {
    /// Goes to a panic if the condition is `bad` in any lane of the mask.
    pub(super) fn check(
        &mut self,
        from: usize,
        condition: Form<'c>,
        bad: bool,
        to: usize,
        mask: Mask<'c>,
    ) {
        if self.checked.contains(&from) {
            return;
        }
        if self.check_or_start_over(from, condition, bad, mask) {
            return;
        }
        let (out, go) = (self.edge_block(), self.edge_block());
        let threads = if condition.is_uniform() {
            let condition = condition.once();
            let (yes, no) = if bad { (out, go) } else { (go, out) };
            self.builder.branch_if(condition, yes, no);
            mask
        } else {
            if let Some(fine) = self.all_pass(from) {
                let look = self.edge_block();
                self.builder.branch_if(fine, go, look);
                self.builder.at_end(look);
            }
            let failing = self.failing(condition, bad);
            let threads = self.vectors.where_holds(&self.builder, mask, failing);
            let any = self.vectors.any(&self.builder, threads);
            self.builder.branch_if(any, out, go);
            Some(threads)
        };
        self.builder.at_end(out);
        let cached = self.cached.clone();
        self.panic_now(from, to, threads);
        // What was read on the way out is not at hand on the way on.
        self.cached = cached;
        self.builder.at_end(go);
    }

    /// As [`Group::check`], where a group with a thread that fails can be left to the function for
    /// any group, which finds it again; whether that is so.
    fn check_or_start_over(
        &mut self,
        from: usize,
        condition: Form<'c>,
        bad: bool,
        mask: Mask<'c>,
    ) -> bool {
        let Some(other) = self.start_over(from, mask) else { return false };
        let go = self.edge_block();
        if condition.is_uniform() {
            let (yes, no) = if bad { (other, go) } else { (go, other) };
            self.builder.branch_if(condition.once(), yes, no);
        } else if let Some(fine) = self.all_pass_with_those_after(from) {
            self.builder.branch_if(fine, go, other);
        } else if let Some((fine, narrow)) = self.narrow_pass(from, bad) {
            let failing = self.vectors.not(&self.builder, fine);
            let any = self.vectors.any(&self.builder, failing);
            self.builder.branch_if(any, other, go);
            self.builder.at_end(go);
            self.know_narrow(narrow, from);
            return true;
        } else {
            let failing = self.failing(condition, bad);
            let any = self.vectors.any(&self.builder, failing);
            self.builder.branch_if(any, other, go);
        }
        self.builder.at_end(go);
        true
    }

    /// The lanes in which a condition is `bad`.
    fn failing(&self, condition: Form<'c>, bad: bool) -> Value<'c> {
        let holds = self.vectors.all(&self.builder, condition);
        if bad { holds } else { self.vectors.not(&self.builder, holds) }
    }

    /// For a check of a number that grows from lane to lane against a uniform one: a bit that says that
    /// every lane passes, active or not, from the first alone.
    fn all_pass(&mut self, block: usize) -> Option<Value<'c>> {
        let (found, _) = check_of(self.plan, block)?;
        let number = self.read(found.number, block);
        let span = self.span(number, (0, 0))?;
        self.passes(block, span, found)
    }

    fn passes(&mut self, block: usize, span: Span<'c>, found: Comparison<'c>) -> Option<Value<'c>> {
        let limit = self.read(found.limit, block);
        limit.is_uniform().then(|| self.all_compare(span, found.predicate, limit.once()))
    }

    /// As [`Group::all_pass`], for the checks that come next as well, if they are of the same number
    /// but for constants, and of the same limit. They are not made then.
    fn all_pass_with_those_after(&mut self, block: usize) -> Option<Value<'c>> {
        let (found, _) = check_of(self.plan, block)?;
        let (base, own) = root(found.number);
        let (mut offsets, mut after) = ((0, 0), Vec::new());
        for (node, other) in self.checks_after(block) {
            let (other_base, offset) = root(other.number);
            let like = Comparison { number: found.number, ..other };
            if other_base == base && like == found {
                let offset = offset.wrapping_sub(own);
                offsets = (offsets.0.min(offset), offsets.1.max(offset));
                after.push(node);
            }
        }
        let number = self.read(found.number, block);
        let Some(span) = self.span(number, offsets) else { return self.all_pass(block) };
        let fine = self.passes(block, span, found)?;
        self.checked.extend(after);
        Some(fine)
    }

    /// The checks that all threads come to after that of a block, if they pass.
    fn checks_after(&self, block: usize) -> Vec<(usize, Comparison<'c>)> {
        let graph = &self.plan.flow.graph;
        let (mut node, mut found) = (block, Vec::new());
        while let [next] = graph.successors[node][..]
            && graph.predecessors[next].len() == 1
            && !self.plan.barriers.contains_key(&node)
            && next != block
        {
            found.extend(check_of(self.plan, next).map(|(check, _)| (next, check)));
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
    fn narrow_pass(&mut self, block: usize, bad: bool) -> Option<(Value<'c>, Value<'c>)> {
        use IntPredicate::*;
        let condition = self.plan.flow.blocks[block].terminator()?.branch_condition()?;
        let varies = |value| self.plan.shapes.shape(value) == VARYING;
        let found = Comparison::of(condition, varies)?;
        let found = if bad { found.inverse() } else { found };
        let number = found.number;
        let is_wide = number.is_instruction()
            && number.opcode() == Opcode::ZExt
            && number.operand(0).ty().is_int(32);
        let limit = self.read(found.limit, block);
        if !is_wide || found.predicate != Ult || !limit.is_uniform() {
            return None;
        }
        let (ty, word) = (number.ty(), Type::int(self.unit.context, 32));
        let least = self.unit.module.intrinsic("llvm.umin", &[ty]);
        let limit = self.builder.call(least, &[limit.once(), ty.constant(1 << 31)]);
        let limit = self.builder.truncate(limit, word);
        let limit = self.vectors.splat(&self.builder, limit);
        let lanes = self.narrowed(number, block);
        Some((self.builder.compare(Ult, lanes, limit), number))
    }

    /// The lanes of an extension before it.
    fn narrowed(&mut self, extension: Value<'c>, block: usize) -> Value<'c> {
        let lanes = self.wide(extension, block);
        let ty = self.vectors.widen(extension.operand(0).ty());
        self.builder.truncate(lanes, ty)
    }

    /// Notes that an extension with zeros is one with the sign too, of which LLVM makes addresses
    /// from narrow numbers.
    fn know_narrow(&mut self, extension: Value<'c>, block: usize) {
        let lanes = self.narrowed(extension, block);
        let ty = self.vectors.widen(extension.ty());
        let lanes = self.builder.cast(Opcode::SExt, lanes, ty);
        self.write(extension, Form::varying(lanes));
    }
}
