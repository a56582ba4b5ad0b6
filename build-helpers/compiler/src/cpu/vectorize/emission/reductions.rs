//! Atomic operations of all lanes on one address: the lanes are joined by a reduction
//! ([`llvm.vector.reduce`](https://llvm.org/docs/LangRef.html#vector-reduction-intrinsics)), and one operation is done for them.
//!
//! Needs: operations that can be merged ([`Mergeable`]), whose address is uniform, and a lane in the mask. Guarantees: lanes outside
//! of it change nothing.

use kernelmill_llvm::ir::{ModuleExt, Opcode, Type, Value};

use super::{
    super::layout::vector_value::VectorValue,
    code::{Code, Mask},
    emitter::Emitter,
};
use crate::cpu::{atomics::Mergeable, instructions::resize};

impl<'c> Emitter<'_, 'c> {
    /// Does an atomic operation once for all lanes of the mask; `false` where it has to be done for each of them.
    pub(super) fn reduce(&mut self, block: usize, atomic: Value<'c>, mask: Mask<'c>) -> bool {
        let Some(kind) = Mergeable::of(atomic) else { return false };
        let [address, value] = [0, 1].map(|it| self.values.read(atomic.operand(it), block));
        if !address.is_uniform() {
            return false;
        }
        // The block is passed over where no lane is in the mask.
        let code = &self.values.code;
        let total = code.joined(kind, value, mask);
        let _ = code.copy_with(atomic, &[Some(address.once()), Some(total)]);
        true
    }
}

impl<'c> Code<'_, 'c> {
    /// The operand that does what those of the lanes of a mask do together.
    fn joined(&self, kind: Mergeable, value: VectorValue<'c>, mask: Mask<'c>) -> Value<'c> {
        let (builder, vectors) = (&self.builder, self.vectors);
        if value.is_uniform() {
            let value = value.once();
            return kind.repeated(builder, value, self.count(value.ty(), mask));
        }
        let all = vectors.all(builder, value);
        let all = match mask {
            None => all,
            Some(lanes) => {
                let nothing = all.ty().element().constant(kind.identity());
                builder.select(lanes, all, vectors.splat(builder, nothing))
            }
        };
        builder.call(self.unit.module.intrinsic(kind.reduction(), &[all.ty()]), &[all])
    }

    /// How many lanes a mask has, as a number of a type.
    fn count(&self, ty: Type<'c>, mask: Mask<'c>) -> Value<'c> {
        let Some(mask) = mask else { return ty.constant(u64::from(self.vectors.lanes)) };
        // A number of as many bits as there are lanes need not hold how many they are.
        let word = Type::int(self.unit.context, 32);
        let bits = self.builder.cast(Opcode::ZExt, self.vectors.bits(&self.builder, mask), word);
        let count = self.unit.module.intrinsic("llvm.ctpop", &[word]);
        resize(&self.builder, self.builder.call(count, &[bits]), ty)
    }
}
