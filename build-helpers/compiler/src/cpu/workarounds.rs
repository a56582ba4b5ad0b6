//! Workarounds for faults of LLVM.
//!
//! - Masked stores of one lane: LLVM 22 writes too many bytes for AVX-512 where a masked store is known to be of
//!   the first lane of truncated numbers.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, MaskedKind, ModuleExt, Type, Value},
};

/// Writes single lanes by themselves, once no mask will be folded any more. LLVM 22 writes too many bytes
/// for AVX-512 where a masked store writes the first lane alone, which it knows, of numbers that were
/// truncated: those of the number before.
pub(crate) fn store_single_lanes<'c>(context: &'c Context, module: &Module<'c>) {
    let word = Type::int(context, 32);
    for call in module.definitions().into_iter().flat_map(Value::calls) {
        let Some(found) = call.masked_access().filter(|it| it.kind == MaskedKind::Store) else {
            continue;
        };
        let (Some(all), Some(lane)) = (found.written, only_lane(found.mask)) else { continue };
        let builder = Builder::new(context);
        builder.before(call);
        let lane = word.constant(u64::from(lane));
        let address = builder.element(all.ty().element(), found.address, lane);
        builder.store(builder.lane(all, lane), address).set_alignment(1);
        call.erase();
    }
}

/// The lane that a mask is of, if it is known and of one.
fn only_lane(mask: Value<'_>) -> Option<u32> {
    if !mask.is_constant() {
        return None;
    }
    let bit = |lane| mask.constant_element(lane).and_then(Value::as_u64);
    let bits: Vec<_> = (0..mask.ty().lanes()?).map(bit).collect::<Option<_>>()?;
    let mut set = (0..).zip(bits).filter(|(_, bit)| *bit == 1);
    let (lane, _) = set.next()?;
    set.next().is_none().then_some(lane)
}
