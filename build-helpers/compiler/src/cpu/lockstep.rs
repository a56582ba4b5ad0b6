//! Warp-synchronous code: shared memory through which the lanes of a warp give each other values without a barrier.
//!
//! Its lanes are expected to run in lockstep: one stores to `volatile` shared memory, and another loads that in the next
//! statement. Lanes of NVIDIA's processors go on independently since Volta ("Independent Thread Scheduling" in the CUDA
//! C++ Programming Guide), and threads on the CPU always do, so the result would be wrong here. It is found where the
//! two addresses differ by a constant, `s[i]` and `s[i + 16]`; distances that are computed are not seen.
//! A `volatile` array that each thread has a column of, 32 elements apart, is no such code.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Opcode, Type, Value};

use super::operation::{Operation, operations};

/// The lanes of a warp.
const LANES: u64 = 32;

/// A load of what other lanes have stored, and the store, with nothing between that lanes wait at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unordered<'c> {
    pub(super) store: Value<'c>,
    pub(super) load: Value<'c>,
}

/// The first load of a kernel that relies on lanes in lockstep; `size` gives the bytes of a type.
pub(super) fn find<'c>(kernel: Value<'c>, size: &dyn Fn(Type<'c>) -> u64) -> Option<Unordered<'c>> {
    let named: HashSet<_> = operations(kernel)
        .into_iter()
        .filter_map(|(call, operation)| operation.names_shared().then_some(call))
        .collect();
    let of = |access: Value<'c>, operand: u32| {
        let place = Place::of(access.operand(operand), size);
        named.contains(&place.memory()).then_some(place)
    };
    let stores = kernel.instructions().into_iter().filter(|it| it.opcode() == Opcode::Store);
    let mut stores = stores.filter_map(|store| Some((store, of(store, 1)?)));
    stores.find_map(|(store, place)| {
        let is_read = |load: Value<'c>, is_fenced: bool| {
            let is_meant = is_fenced || store.is_exact_access() && load.is_exact_access();
            is_meant && of(load, 0).is_some_and(|other| other.is_of_another_lane(&place))
        };
        Some(Unordered { store, load: reached(store, &is_read)? })
    })
}

/// The first load after an instruction that is looked for, on ways on which threads wait for nobody. It is told whether
/// there is a fence on the way.
fn reached<'c>(from: Value<'c>, is_read: &dyn Fn(Value<'c>, bool) -> bool) -> Option<Value<'c>> {
    let mut seen = HashSet::new();
    let mut work = vec![(from.next_instruction(), false)];
    while let Some((next, mut is_fenced)) = work.pop() {
        let mut next = next;
        while let Some(instruction) = next {
            match instruction.opcode() {
                Opcode::Load if is_read(instruction, is_fenced) => return Some(instruction),
                Opcode::Fence => is_fenced = true,
                Opcode::Call if Operation::of_call(instruction) == Some(Operation::Fence) => {
                    is_fenced = true;
                }
                Opcode::Call if may_wait(instruction) => break,
                _ => {}
            }
            next = instruction.next_instruction();
            if next.is_none() {
                let after = instruction.block().successors().into_iter();
                let new = after.filter(|block| seen.insert((*block, is_fenced)));
                work.extend(new.map(|block| (block.instructions().first().copied(), is_fenced)));
            }
        }
    }
    None
}

/// Whether threads may wait at a call: a function with a body may do anything.
fn may_wait(call: Value<'_>) -> bool {
    match Operation::of_call(call) {
        Some(operation) => operation.waits(),
        None => call.called_function().is_none_or(|callee| !callee.is_declaration()),
    }
}

/// An address: memory, an index in it, and a constant distance in bytes.
#[derive(Debug)]
struct Place<'c> {
    /// The address that the others are added to.
    base: Value<'c>,
    /// An index that is not constant, and the bytes of its steps.
    index: Option<(Value<'c>, u64)>,
    bytes: i64,
}

impl<'c> Place<'c> {
    fn of(address: Value<'c>, size: &dyn Fn(Type<'c>) -> u64) -> Self {
        let mut place = Self { base: address, index: None, bytes: 0 };
        while place.base.is_instruction() {
            match (place.base.opcode(), &place.base.operands()[..]) {
                (Opcode::AddrSpaceCast | Opcode::BitCast, [from]) => place.base = *from,
                (Opcode::GetElementPtr, [base, index]) => {
                    let step = size(place.base.element_type());
                    let (index, constant) = split(*index);
                    if index.is_some() && place.index.is_some() {
                        break;
                    }
                    let Some(bytes) = constant.checked_mul(step.cast_signed()) else { break };
                    place.bytes = place.bytes.wrapping_add(bytes);
                    place.index = index.map(|index| (index, step)).or(place.index);
                    place.base = *base;
                }
                _ => break,
            }
        }
        place
    }

    /// What the address is derived from.
    fn memory(&self) -> Value<'c> {
        let mut base = self.base;
        while base.is_instruction()
            && matches!(base.opcode(), Opcode::GetElementPtr | Opcode::AddrSpaceCast)
        {
            base = base.operand(0);
        }
        base
    }

    /// Whether another lane of the warp has the other address at the same index. That is less than 32 elements away; what
    /// is farther may be the thread's own.
    fn is_of_another_lane(&self, other: &Self) -> bool {
        let is_same = |one: Value<'c>, other: Value<'c>| {
            let operation = |it: Value<'c>| Operation::of_call(it).filter(|it| it.names_shared());
            let shared = operation(one);
            one == other || shared.is_some() && shared == operation(other)
        };
        let distance = self.bytes.abs_diff(other.bytes);
        let step = self.index.filter(|_| self.index == other.index).map_or(0, |(_, step)| step);
        is_same(self.base, other.base) && 0 < distance && distance < step.saturating_mul(LANES)
    }
}

/// An index as one that is not constant and a constant.
fn split(index: Value<'_>) -> (Option<Value<'_>>, i64) {
    if let Some(constant) = constant(index) {
        return (None, constant);
    }
    let mut inner = index;
    while inner.is_instruction() && matches!(inner.opcode(), Opcode::ZExt | Opcode::SExt) {
        inner = inner.operand(0);
    }
    if inner.is_instruction()
        && inner.opcode() == Opcode::Add
        && let Some(constant) = constant(inner.operand(1))
    {
        return (Some(inner.operand(0)), constant);
    }
    (Some(inner), 0)
}

/// A constant, with its sign.
fn constant(value: Value<'_>) -> Option<i64> {
    let bits = value.ty().int_width()?;
    let number = value.as_u64().filter(|_| value.is_constant())?;
    let unused = 64_u32.checked_sub(bits)?;
    Some((number << unused).cast_signed() >> unused)
}
