//! Rematerialisation: values of other regions that a region computes again at its start, from parameters
//! and from what is spilled, where that takes few instructions.

use kernelmill_llvm::ir::Value;

use super::{super::layout::vector_value::VectorValue, values::Values};

impl<'c> Values<'_, 'c> {
    /// A value at the start of the function: what is spilled, or rematerialised.
    pub(in crate::cpu::vectorize) fn at_start(&mut self, value: Value<'c>) -> VectorValue<'c> {
        if let Some(widened) =
            self.parameters.get(&value).or_else(|| self.rematerialized.get(&value))
        {
            return *widened;
        }
        if !value.is_instruction() {
            return VectorValue::uniform(value);
        }
        let widened = if let Some(keep) = self.spills.arrays.values.get(&value).copied() {
            self.assumptions.assume_for(value);
            self.code.swap_builders();
            let widened = self.reload(value, keep);
            self.code.swap_builders();
            widened
        } else {
            self.compute_at_start(value)
        };
        self.rematerialized.insert(value, widened);
        widened
    }

    fn compute_at_start(&mut self, value: Value<'c>) -> VectorValue<'c> {
        let operands: Vec<_> =
            value.operands().into_iter().map(|operand| (operand, self.at_start(operand))).collect();
        let cached = std::mem::replace(&mut self.cached, operands.into_iter().collect());
        self.code.swap_builders();
        let block = self.plan.flow.number(value.block());
        let widened = self.compute(block, value, None);
        self.code.swap_builders();
        self.cached = cached;
        widened.expect("it is an operation on numbers, which vectors have")
    }
}
