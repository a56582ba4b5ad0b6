//! Region formation: loop fission at barriers, as in pocl
//! ([parallel regions](https://doi.org/10.1007/s10766-014-0320-y)).
//!
//! Needs: a lowered body whose barriers are uniform. Guarantees: a block ends at each barrier, so that
//! a region starts with a block, and control returns in one place, panics aside.

use kernelmill_llvm::ir::{Block, Builder, Value};

use super::context::{is_barrier, reports_panic};
use crate::passes::entry::Unit;

/// Splits a body into regions; the number of barriers between them.
pub(super) fn split<'c>(unit: &Unit<'_, 'c>, body: Value<'c>) -> u64 {
    let barriers = at_barriers(unit, body);
    one_return(unit, body);
    barriers
}

/// Ends a block after every barrier.
fn at_barriers<'c>(unit: &Unit<'_, 'c>, body: Value<'c>) -> u64 {
    let mut count = 0;
    let builder = Builder::new(unit.context);
    for call in body.calls() {
        if is_barrier(call) {
            let next = call.next_instruction().expect("a call is not the end of a block");
            let before = call.block().split_before(unit.context, next, "before");
            builder.at_end(before);
            builder.branch(next.block());
            count += 1;
        }
    }
    count
}

/// Makes all ends of the body one, save for those after a panic.
fn one_return<'c>(unit: &Unit<'_, 'c>, body: Value<'c>) {
    let panics = |block: Block<'c>| {
        block.instructions().into_iter().any(|call| call.is_call() && reports_panic(call))
    };
    body.merge_returns(unit.context, |block| !panics(block));
}
