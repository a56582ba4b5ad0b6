//! Run-time checks of speculated conditions: a comparison or two of the first lane's numbers say whether
//! all lanes agree, and else the vector is left to the masked body.
//!
//! [`super::super::analysis::speculation`] says which conditions are speculated to be uniform.

use kernelmill_llvm::ir::{IntPredicate, Opcode, Type, Value};

use super::{
    super::{analysis::comparison::Comparison, layout::vector_value::VectorValue},
    code::{Code, Mask},
    exits::Exits,
    values::Values,
};
use crate::ScalarReason;

impl<'c> Exits<'c> {
    /// What an instruction has computed; where that is an extension that may have wrapped within the
    /// vector, which its start does not ask for, it is known from here on that it has not.
    pub(in crate::cpu::vectorize) fn without_wrap(
        &mut self,
        values: &mut Values<'_, 'c>,
        block: usize,
        instruction: Value<'c>,
        widened: VectorValue<'c>,
        mask: Mask<'c>,
    ) -> VectorValue<'c> {
        let is_extension = matches!(instruction.opcode(), Opcode::ZExt | Opcode::SExt);
        // What is not a row before it is extended has been looked at in its place.
        let is_checked = is_extension
            && !values.plan.is_in_loop(block)
            && values.read(instruction.operand(0), block).holds.is_none();
        let Some(holds) = widened.holds.filter(|_| is_checked) else { return widened };
        let Some(other) = self.restart(values, block, mask) else { return widened };
        let go = values.code.edge_block();
        let holds = values.code.builder.freeze(holds);
        values.code.builder.branch_if(holds, go, other);
        values.code.builder.at_end(go);
        VectorValue { holds: None, vector: None, ..widened }
    }

    /// A comparison that is uniform across the vector, or else the vector is left to the masked body.
    pub(in crate::cpu::vectorize) fn check_speculated(
        &mut self,
        values: &mut Values<'_, 'c>,
        block: usize,
        compare: Value<'c>,
        mask: Mask<'c>,
    ) -> Result<VectorValue<'c>, ScalarReason> {
        const APART: ScalarReason = ScalarReason::SpeculationInDivergentCode;
        let found = values.plan.comparison(compare).ok_or(APART)?;
        let other = self.restart(values, block, mask).ok_or(APART)?;
        let (number, limit) = (values.read(found.number, block), values.read(found.limit, block));
        let span = values.code.span(number, (0, 0)).ok_or(APART)?;
        // So that a number which nothing depends on can be anything.
        let ask = |code: &Code<'_, 'c>, of: Comparison<'c>| {
            let all = code.all_compare(span, of.predicate, limit.once());
            code.builder.freeze(all)
        };
        let is_usual = is_usual(found);
        let usual = if is_usual { found } else { found.inverse() };
        let (look, go) = (values.code.edge_block(), values.code.edge_block());
        let all = ask(&values.code, usual);
        values.code.builder.branch_if(all, go, look);
        let from = values.code.builder.block();
        values.code.builder.at_end(look);
        let none = ask(&values.code, usual.inverse());
        values.code.builder.branch_if(none, go, other);
        values.code.builder.at_end(go);
        let bit = Type::int(values.code.unit.context, 1);
        let result = values.code.builder.phi(bit);
        result.add_incoming(bit.constant(u64::from(is_usual)), from);
        result.add_incoming(bit.constant(u64::from(!is_usual)), look);
        Ok(VectorValue::uniform(result))
    }
}

/// Whether most threads are expected to have a condition: to be below what is not known, above
/// constants, and not at one place.
fn is_usual(of: Comparison<'_>) -> bool {
    use IntPredicate::*;
    match of.predicate {
        Ne => true,
        Eq | Unknown(_) => false,
        Ult | Ule | Slt | Sle => !of.limit.is_constant(),
        Ugt | Uge | Sgt | Sge => of.limit.is_constant(),
    }
}
