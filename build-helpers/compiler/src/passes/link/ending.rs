//! Thread exit by return, where the target's instruction would end other threads of the group too.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, ModuleExt, Opcode, Place, Value},
};

/// Lets `panic`, which records a panic and ends with the intrinsic `end`, return, and ends the
/// thread where it was called: kernels return, so that the other threads of the group go on; other
/// functions, from which there is no way back to the kernel, use the intrinsic.
pub(super) fn by_return<'c>(
    context: &'c Context,
    module: &Module<'c>,
    panic: Value<'c>,
    end: &str,
    kernels: &[Value<'c>],
) {
    let builder = Builder::new(context);
    for call in panic.calls() {
        if call.called_function().is_some_and(|callee| callee.name() == end) {
            return_after(&builder, call);
            call.erase();
        }
    }
    panic.remove_attribute(Place::Function, "noreturn");
    let end = module.intrinsic(end, &[]);
    for call in panic.users().into_iter().filter(|user| user.callee() == Some(panic)) {
        call.remove_attribute(Place::Function, "noreturn");
        if kernels.contains(&call.block().function()) {
            return_after(&builder, call);
        } else if let Some(next) = call.next_instruction() {
            builder.before(next);
            builder.call(end, &[]);
        }
    }
}

/// Replaces the `unreachable` after a call by `ret void`.
fn return_after<'c>(builder: &Builder<'c>, call: Value<'c>) {
    let Some(next) = call.next_instruction() else { return };
    if next.opcode() == Opcode::Unreachable {
        builder.before(next);
        builder.ret(None);
        next.erase();
    }
}
