//! Which road a kernel takes, from what is proven of it.

use std::fmt;

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

use super::{
    context::{reports_panic, suspends},
    operation::{Operation, number, operations},
    uniformity::{Asked, Flow, Shape, Uniformity},
};

/// The road that a kernel takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// No thread waits for another.
    Loop,
    /// What threads wait at is reached by all threads of a block together.
    Regions(Waits),
    /// Threads wait for each other, and this is not proven of all of it.
    Coroutine(String),
}

/// How often threads wait for each other in a kernel's code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waits {
    barriers: usize,
    /// Operations of warps.
    operations: usize,
}

impl fmt::Display for Waits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: usize, one: &str, more: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {more}")),
        };
        let barriers = counted(self.barriers, "barrier", "barriers");
        let warps = counted(self.operations, "operation of warps", "operations of warps");
        let all: Vec<_> = [barriers, warps].into_iter().flatten().collect();
        let uniform = if self.barriers + self.operations == 1 { "uniform" } else { "all uniform" };
        write!(formatter, "{}, {uniform}", all.join(" and "))
    }
}

/// Chooses the road of a kernel from its code before the context is lowered.
pub(super) fn choose<'c>(kernel: Value<'c>, jumps: bool, size: &dyn Fn(Type<'c>) -> u64) -> Choice {
    if !suspends(kernel) {
        return Choice::Loop;
    }
    let partial = |(call, what): &(Value<'c>, Operation)| match what {
        Operation::Warp(number::ACTIVE_MASK) => false,
        Operation::Warp(_) => call.arguments()[0].as_u64() != Some(u64::from(u32::MAX)),
        _ => false,
    };
    if operations(kernel).iter().any(partial) {
        return Choice::Coroutine("an operation of warps may be for some lanes only".to_owned());
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
    let (mut all, mut apart) = (Waits::default(), Waits::default());
    for (call, what) in operations(kernel) {
        let is_apart = !found.is_reached_together(flow.number(call.block()));
        match what {
            Operation::Barrier => {
                all.barriers += 1;
                apart.barriers += usize::from(is_apart);
            }
            Operation::Warp(_) => {
                all.operations += 1;
                apart.operations += usize::from(is_apart);
            }
            _ => {}
        }
    }
    let exits = operations(kernel)
        .iter()
        .any(|(call, what)| *what == Operation::Exit && !flow.panics[flow.number(call.block())]);
    if exits {
        return Choice::Coroutine("a thread can end before others are at a barrier".to_owned());
    }
    let which = match (apart, all) {
        (Waits { barriers: 0, operations: 0 }, all) => return Choice::Regions(all),
        (Waits { barriers: 1, .. }, Waits { barriers: 1, .. }) => "the barrier is".to_owned(),
        (Waits { barriers: 0, operations: 1 }, Waits { operations: 1, .. }) => {
            "the operation of warps is".to_owned()
        }
        (Waits { barriers: 0, operations: apart }, Waits { operations: all, .. }) => {
            format!("{apart} of {all} operations of warps are")
        }
        (Waits { barriers: apart, .. }, Waits { barriers: all, .. }) => {
            format!("{apart} of {all} barriers are")
        }
    };
    let why = "under a branch, or after an exit, that depends on the thread";
    Choice::Coroutine(format!("{which} {why}"))
}

/// What cannot be built by regions.
fn unusual(kernel: Value<'_>) -> Option<&'static str> {
    let entry = kernel.blocks()[0];
    for instruction in kernel.instructions() {
        match instruction.opcode() {
            Opcode::Invoke
            | Opcode::CallBr
            | Opcode::IndirectBr
            | Opcode::Resume
            | Opcode::LandingPad => return Some("control leaves in an unusual way"),
            Opcode::Alloca
                if instruction.block() != entry || instruction.operand(0).as_u64() != Some(1) =>
            {
                return Some("the size of stack memory is not known");
            }
            _ if instruction.ty().kind() == TypeKind::Token => {
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
