//! Tail merging of panics: one call for all panics of a function.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, ModuleExt, Opcode, Value},
};

/// Makes every function call `callee`, which does not return, from one place at most: the calls
/// become branches there, and their arguments phis.
pub(super) fn calls_that_do_not_return<'c>(
    context: &'c Context,
    module: &Module<'c>,
    callee: Value<'c>,
) {
    for function in module.definitions() {
        let calls: Vec<_> = function
            .calls()
            .into_iter()
            .filter(|call| call.called_function() == Some(callee) && ends_block(*call))
            .collect();
        if calls.len() > 1 {
            merge(context, function, callee, &calls);
        }
    }
}

/// Whether nothing comes after the call.
fn ends_block(call: Value<'_>) -> bool {
    call.next_instruction().is_some_and(|next| next.opcode() == Opcode::Unreachable)
}

fn merge<'c>(context: &'c Context, function: Value<'c>, callee: Value<'c>, calls: &[Value<'c>]) {
    let builder = Builder::new(context);
    let shared = Block::append(context, function, "panic");
    builder.at_end(shared);
    let phis: Vec<_> = callee.parameters().iter().map(|value| builder.phi(value.ty())).collect();
    for call in calls {
        for (phi, argument) in phis.iter().zip(call.arguments()) {
            phi.add_incoming(argument, call.block());
        }
    }
    builder.call(callee, &phis);
    builder.unreachable();
    for call in calls {
        let end = call.next_instruction().expect("the end of the block");
        builder.before(end);
        builder.branch(shared);
        end.erase();
        call.erase();
    }
}
