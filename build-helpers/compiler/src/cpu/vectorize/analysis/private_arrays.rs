//! Private arrays whose elements lie lane by lane: element `k` of all lanes of a vector, then element `k + 1`, as [ISPC
//! lays out varying arrays](https://ispc.github.io/perfguide.html). So an index that is the same for all lanes is one
//! access to a whole vector; in the order of the program it is one element for each lane, a gather.
//!
//! Needs: memory of a thread (an alloca) whose address goes nowhere but into loads and stores of whole elements of one
//! size, each at a multiple of that size. Guarantees: the address of a lane is that of the lane before and one element,
//! and what is added to an address is multiplied by the number of lanes. Other memory stays as it is, one thread's whole
//! memory after another's.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

use crate::cpu::{
    instructions::{is_dropped, is_leaf},
    uniformity::Flow,
};

/// The addresses in arrays whose elements lie lane by lane, with the bytes of an element.
pub(in crate::cpu) struct PrivateArrays<'c> {
    elements: HashMap<Value<'c>, u64>,
}

impl<'c> PrivateArrays<'c> {
    /// None.
    pub(in crate::cpu::vectorize) fn none() -> Self {
        Self { elements: HashMap::new() }
    }

    /// Those of a function.
    pub(in crate::cpu::vectorize) fn find(
        function: Value<'c>,
        flow: &Flow<'c>,
        size: &dyn Fn(Type<'c>) -> u64,
    ) -> Self {
        let mut elements = HashMap::new();
        for alloca in function.instructions() {
            let Some(uses) = Uses::of(alloca, size).filter(|uses| uses.copies.is_empty()) else {
                continue;
            };
            // There one lane is built alone, from the instructions as they are.
            let panics = |it: &Value<'c>| flow.panics[flow.number(it.block())];
            if !uses.users.iter().any(panics) {
                elements.extend(uses.addresses.iter().map(|address| (*address, uses.element)));
            }
        }
        Self { elements }
    }

    /// The bytes of an element, where an address is in such an array.
    pub(in crate::cpu::vectorize) fn element(&self, address: Value<'c>) -> Option<u64> {
        self.elements.get(&address).copied()
    }
}

/// What is done with the memory of a thread.
pub(in crate::cpu) struct Uses<'c> {
    /// The bytes of each element.
    pub(in crate::cpu) element: u64,
    /// The addresses in it, its own first.
    pub(in crate::cpu) addresses: Vec<Value<'c>>,
    /// Calls that fill it, or copy it from or to elsewhere, by a number of bytes that is known.
    pub(in crate::cpu) copies: Vec<Value<'c>>,
    /// All that uses an address.
    users: Vec<Value<'c>>,
}

impl<'c> Uses<'c> {
    /// What is done with an alloca; `None` where that is anything but to access whole elements, or to fill and copy them.
    pub(in crate::cpu) fn of(alloca: Value<'c>, size: &dyn Fn(Type<'c>) -> u64) -> Option<Self> {
        if alloca.opcode() != Opcode::Alloca || alloca.operand(0).as_u64() != Some(1) {
            return None;
        }
        let mut uses =
            Self { element: 0, addresses: Vec::new(), copies: Vec::new(), users: Vec::new() };
        // What every offset is a multiple of, and the addresses that have to be in this memory too.
        let (mut unit, mut others) = (size(alloca.allocated_type()), Vec::new());
        let (mut seen, mut work) = (HashSet::new(), vec![alloca]);
        while let Some(address) = work.pop() {
            if !seen.insert(address) {
                continue;
            }
            uses.addresses.push(address);
            for user in address.users() {
                uses.users.push(user);
                match user.opcode() {
                    Opcode::Load if !user.is_exact_access() => {
                        uses.access(user.ty(), size)?;
                    }
                    Opcode::Store if user.operand(0) != address && !user.is_exact_access() => {
                        uses.access(user.operand(0).ty(), size)?;
                    }
                    Opcode::GetElementPtr if !user.operands()[1..].contains(&address) => {
                        unit = gcd(unit, step(user, size)?);
                        work.push(user);
                    }
                    Opcode::Phi | Opcode::Freeze => {
                        others.extend(user.operands());
                        work.push(user);
                    }
                    Opcode::Select => {
                        others.extend([user.operand(1), user.operand(2)]);
                        work.push(user);
                    }
                    Opcode::Call if is_dropped(user) => {}
                    Opcode::Call => {
                        unit = gcd(unit, copied_bytes(user)?);
                        uses.copies.push(user);
                    }
                    _ => return None,
                }
            }
        }
        let is_whole = uses.element > 0 && unit.is_multiple_of(uses.element);
        (is_whole && others.iter().all(|it| seen.contains(it))).then_some(uses)
    }

    /// Notes an access to a value of this type; `None` where it is not one element as the others are.
    fn access(&mut self, ty: Type<'c>, size: &dyn Fn(Type<'c>) -> u64) -> Option<()> {
        let is_whole = ty.int_width().is_none_or(|bits| bits >= 8 && bits.is_power_of_two());
        let bytes = if is_leaf(ty) && is_whole { size(ty) } else { return None };
        (self.element == 0 || self.element == bytes).then(|| self.element = bytes)
    }
}

/// The bytes that a call fills or copies (`llvm.memset` and the like), where that is a constant.
pub(in crate::cpu) fn copied_bytes(call: Value<'_>) -> Option<u64> {
    let name = call.called_function()?.name();
    let is_copy = ["llvm.memset.", "llvm.memcpy.", "llvm.memmove."].iter();
    if !is_copy.into_iter().any(|start| name.starts_with(start)) {
        return None;
    }
    let arguments = call.arguments();
    let is_volatile = arguments.get(3)?.as_u64() != Some(0);
    arguments[2].as_u64().filter(|_| !is_volatile)
}

/// What the bytes that an address is moved by are a multiple of; `None` where an index is one of fields.
fn step<'c>(address: Value<'c>, size: &dyn Fn(Type<'c>) -> u64) -> Option<u64> {
    let (mut ty, mut unit) = (address.element_type(), 0);
    for (place, index) in address.operands().into_iter().skip(1).enumerate() {
        if place > 0 {
            ty = (ty.kind() == TypeKind::Array).then(|| ty.element())?;
        }
        let width = index.ty().int_width()?;
        let bytes = size(ty);
        unit = match index.as_u64() {
            Some(0) => unit,
            Some(number) if width == 64 => {
                gcd(unit, (number as i64).unsigned_abs().checked_mul(bytes)?)
            }
            _ => gcd(unit, bytes),
        };
    }
    Some(unit)
}

/// The greatest common divisor; that of nothing and a number is the number.
fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}
