//! Prepares a body for being built by regions: a block ends at each barrier, and control returns
//! in one place.

use kernelmill_llvm::ir::{Block, Builder, Value};

use super::context::{is_barrier, reports_panic};
use crate::passes::entry::Unit;

/// Ends a block after every barrier.
pub(super) fn at_barriers<'c>(unit: &Unit<'_, 'c>, body: Value<'c>) {
    let builder = Builder::new(unit.context);
    for call in body.calls() {
        if is_barrier(call) {
            let next = call.next_instruction().expect("a call is not the end of a block");
            let before = call.block().split_before(unit.context, next, "before");
            builder.at_end(before);
            builder.branch(next.block());
        }
    }
}

/// Makes all ends of the body one, save for those after a panic.
pub(super) fn one_return<'c>(unit: &Unit<'_, 'c>, body: Value<'c>) {
    let panics = |block: Block<'c>| {
        block.instructions().into_iter().any(|call| call.is_call() && reports_panic(call))
    };
    body.merge_returns(unit.context, |block| !panics(block));
}
