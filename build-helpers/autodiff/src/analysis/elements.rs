//! Element types of memory, found from its loads and stores: LLVM's pointers have no types.

use std::collections::BTreeSet;

use kernelmill_llvm::ir::{Opcode, Type, Value};

use super::{
    cfg::Cfg,
    memory::{Memory, Root, Transfer, transfer},
};

/// The element types of each object.
#[derive(Debug, Default)]
pub(crate) struct Elements<'c> {
    /// Sets of objects that copies connect, with the types that are accessed in them.
    groups: Vec<(Vec<Root<'c>>, Vec<Type<'c>>)>,
}

impl<'c> Elements<'c> {
    pub(crate) fn of(cfg: &Cfg<'c>, memory: &Memory<'c>) -> Self {
        let mut found = Self::default();
        for instruction in cfg.instructions() {
            match instruction.opcode() {
                Opcode::Load => {
                    let roots = memory.roots(instruction.operand(0));
                    found.note(roots, scalar(instruction.ty()));
                }
                Opcode::Store => {
                    let roots = memory.roots(instruction.operand(1));
                    found.note(roots, scalar(instruction.operand(0).ty()));
                    let stored = instruction.operand(0);
                    if is_loaded_integer(stored) {
                        let mut both = memory.roots(instruction.operand(1));
                        both.extend(memory.roots(stored.operand(0)));
                        found.note(both, None);
                    }
                }
                Opcode::Call
                    if matches!(transfer(instruction), Some(Transfer::Copy | Transfer::Move)) =>
                {
                    let mut roots = memory.roots(instruction.operand(0));
                    roots.extend(memory.roots(instruction.operand(1)));
                    found.note(roots, None);
                }
                _ => {}
            }
        }
        found
    }

    /// Merges the groups of these objects, and adds a type to them.
    fn note(&mut self, mut roots: Vec<Root<'c>>, ty: Option<Type<'c>>) {
        let mut types: Vec<_> = ty.into_iter().collect();
        let (joined, others) = std::mem::take(&mut self.groups).into_iter().partition(
            |(group, _): &(Vec<Root<'c>>, _)| group.iter().any(|root| roots.contains(root)),
        );
        self.groups = others;
        for (group, of_group) in joined {
            roots.extend(group);
            types.extend(of_group);
        }
        roots.dedup();
        self.groups.push((roots, types));
    }

    /// The one element type of a pointer's memory; `None` where none is accessed, or several.
    pub(crate) fn at(&self, memory: &Memory<'c>, pointer: Value<'c>) -> Option<Type<'c>> {
        let kinds = self.kinds(memory, pointer);
        let first = *kinds.first()?;
        kinds.iter().all(|kind| *kind == first).then_some(first)
    }

    /// Whether a pointer's memory is accessed as this type, or as integers alone.
    pub(crate) fn may_be(&self, memory: &Memory<'c>, pointer: Value<'c>, ty: Type<'c>) -> bool {
        self.kinds(memory, pointer).iter().all(|kind| *kind == ty)
    }

    fn kinds(&self, memory: &Memory<'c>, pointer: Value<'c>) -> Vec<Type<'c>> {
        let roots = memory.roots(pointer);
        let mut kinds = Vec::new();
        for (group, types) in &self.groups {
            if group.iter().any(|root| roots.contains(root)) {
                kinds.extend(types.iter().copied());
            }
        }
        kinds
    }
}

/// The type of the numbers, or pointers, in a value.
fn scalar(ty: Type<'_>) -> Option<Type<'_>> {
    let ty = if ty.lanes().is_some() { ty.element() } else { ty };
    (ty.is_floating() || ty.is_pointer()).then_some(ty)
}

/// Whether a value is an integer that is loaded only to be stored.
pub(crate) fn is_loaded_integer(value: Value<'_>) -> bool {
    value.is_instruction()
        && value.opcode() == Opcode::Load
        && value.ty().int_width().is_some_and(|width| width >= 16)
        && value
            .users()
            .into_iter()
            .all(|user| user.opcode() == Opcode::Store && user.operand(0) == value)
}

/// The users of a loaded integer that take it for a number, or copy it.
pub(crate) fn copies_of(load: Value<'_>) -> Vec<Value<'_>> {
    let is_integer = load.ty().int_width().is_some_and(|width| width >= 16);
    if load.opcode() != Opcode::Load || !is_integer {
        return Vec::new();
    }
    let is_copy = |user: &Value<'_>| match user.opcode() {
        Opcode::Store => user.operand(0) == load,
        Opcode::BitCast => user.ty().is_floating(),
        _ => false,
    };
    load.users().into_iter().filter(is_copy).collect()
}

/// The parameters among objects, for messages.
pub(crate) fn parameters_of(roots: &[Root<'_>]) -> BTreeSet<u32> {
    let parameters = roots.iter().filter_map(|root| match root {
        Root::Parameter(index) => Some(*index),
        _ => None,
    });
    parameters.collect()
}
