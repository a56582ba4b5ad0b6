//! Which road a kernel takes, from what is proven of it.

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

use super::{
    context::{reports_panic, suspends},
    operation::{Operation, operations},
    uniformity::{Asked, Flow, Shape, Uniformity},
};

/// The road that a kernel takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// No thread waits for another.
    Loop,
    /// So many barriers, all of which all threads of a block reach together.
    Regions(usize),
    /// Threads wait for each other, and this is not proven of all barriers.
    Coroutine(String),
}

/// Chooses the road of a kernel from its code before the context is lowered.
pub(super) fn choose<'c>(kernel: Value<'c>, jumps: bool, size: &dyn Fn(Type<'c>) -> u64) -> Choice {
    if !suspends(kernel) {
        return Choice::Loop;
    }
    let warp = operations(kernel).iter().any(|(_, what)| matches!(what, Operation::Warp(_)));
    if warp {
        return Choice::Coroutine("operations of warps".to_owned());
    }
    if jumps {
        return Choice::Coroutine("a function that can end its thread is not inlined".to_owned());
    }
    if let Some(why) = unusual(kernel) {
        return Choice::Coroutine(why.to_owned());
    }
    let flow = Flow::new(kernel, |block| {
        block.instructions().into_iter().any(|call| call.is_call() && reports_panic(call))
    });
    let found = Uniformity::new(kernel, &flow, &Asked { lanes: 1, source: &shim_source, size });
    let barriers: Vec<_> = operations(kernel)
        .into_iter()
        .filter(|(_, what)| *what == Operation::Barrier)
        .map(|(call, _)| flow.number(call.block()))
        .collect();
    let apart = barriers.iter().filter(|&&block| !found.is_reached_together(block)).count();
    let exits = operations(kernel)
        .iter()
        .any(|(call, what)| *what == Operation::Exit && !flow.panics[flow.number(call.block())]);
    if exits {
        return Choice::Coroutine("a thread can end before others are at a barrier".to_owned());
    }
    match (apart, barriers.len()) {
        (0, all) => Choice::Regions(all),
        (1, 1) => Choice::Coroutine(
            "the barrier is under a branch, or after an exit, that depends on the thread"
                .to_owned(),
        ),
        (apart, all) => Choice::Coroutine(format!(
            "{apart} of {all} barriers are under a branch, or after an exit, that depends on the \
             thread"
        )),
    }
}

/// What cannot be built by regions.
fn unusual(kernel: Value<'_>) -> Option<&'static str> {
    let entry = kernel.blocks()[0];
    for instruction in kernel.instructions() {
        match instruction.opcode() {
            Opcode::LLVMInvoke
            | Opcode::LLVMCallBr
            | Opcode::LLVMIndirectBr
            | Opcode::LLVMResume
            | Opcode::LLVMLandingPad => return Some("control leaves in an unusual way"),
            Opcode::LLVMAlloca
                if instruction.block() != entry || instruction.operand(0).as_u64() != Some(1) =>
            {
                return Some("the size of stack memory is not known");
            }
            _ if instruction.ty().kind() == TypeKind::LLVMTokenTypeKind => {
                return Some("tokens are used");
            }
            _ => {}
        }
    }
    None
}

/// What differs between the threads of a block: the results of operations, by name.
fn shim_source(value: Value<'_>) -> Option<Shape> {
    if !value.is_instruction() || !value.is_call() {
        return None;
    }
    match Operation::of_call(value)? {
        Operation::ThreadIndex(_) | Operation::Lane | Operation::Warp(_) => Some(Shape::Varying),
        Operation::BlockIndex(_)
        | Operation::BlockDim(_)
        | Operation::GridDim(_)
        | Operation::SharedBase
        | Operation::DynamicShared
        | Operation::DynamicSharedBytes
        | Operation::PanicRecord => Some(Shape::UNIFORM),
        Operation::Fence | Operation::Exit | Operation::Barrier => None,
    }
}

/// What differs between the threads of a block, in a body whose parameters are `thread`.
pub(super) fn block_source<'c>(thread: [Value<'c>; 3]) -> impl Fn(Value<'c>) -> Option<Shape> {
    move |value| thread.contains(&value).then_some(Shape::Varying)
}
