//! Number webs: integers of the width of a number which phis and selects pass on from loads and bit casts of numbers to bit
//! casts and stores, as numbers.
//!
//! LLVM moves the elements of a small array in a function as integers, where sorts compare their bits or copies are
//! of no type. Each such phi and select has a twin that passes on the number; what uses the bits, as comparisons do, keeps
//! the integer. Needs a function in canonical form. Guarantees: the same values.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::ir::{Builder, Opcode, Type, TypeKind, Value};

use crate::{
    analysis::{Cfg, Elements, Memory},
    copier::incoming,
    unit::Unit,
};

/// The integers of one width that can be numbers of a type.
struct Webs<'w, 'c> {
    unit: &'w Unit<'w, 'c>,
    memory: &'w Memory<'c>,
    elements: &'w Elements<'c>,
    ty: Type<'c>,
    /// Phis, selects and freezes of which all that they pass on are numbers.
    nodes: HashSet<Value<'c>>,
    twins: HashMap<Value<'c>, Value<'c>>,
}

/// Lets webs of integers in a function pass on numbers.
pub(crate) fn type_webs<'c>(unit: &Unit<'_, 'c>, function: Value<'c>) {
    for kind in [TypeKind::Float, TypeKind::Double] {
        let cfg = Cfg::of(function);
        let memory = Memory::of(function, &cfg, unit.rules, false);
        let elements = Elements::of(&cfg, &memory);
        let instructions: Vec<_> = cfg.instructions().collect();
        let of_kind = |instruction: &&Value<'c>| instruction.ty().kind() == kind;
        let Some(ty) = instructions.iter().find(of_kind).map(|number| number.ty()) else {
            continue;
        };
        let (nodes, twins) = (HashSet::new(), HashMap::new());
        let mut webs = Webs { unit, memory: &memory, elements: &elements, ty, nodes, twins };
        webs.find(&instructions);
        if webs.nodes.is_empty() {
            continue;
        }
        let builder = Builder::new(unit.context);
        for end in instructions {
            if end.opcode() == Opcode::BitCast && end.ty() == ty && webs.is_node(end.operand(0)) {
                let number = webs.twin(&builder, end.operand(0));
                end.replace_with(number);
                end.erase();
            } else if webs.is_store(end) {
                let number = webs.twin(&builder, end.operand(0));
                builder.before(end);
                let typed = builder.store(number, end.operand(1));
                typed.set_alignment(end.alignment());
                end.erase();
            }
        }
    }
}

/// What an instruction passes on; `None` where it computes.
fn passed(value: Value<'_>) -> Option<Vec<Value<'_>>> {
    match value.opcode() {
        Opcode::Phi => Some(incoming(value).into_iter().map(|(value, _)| value).collect()),
        Opcode::Select => Some(vec![value.operand(1), value.operand(2)]),
        Opcode::Freeze => Some(vec![value.operand(0)]),
        _ => None,
    }
}

impl<'c> Webs<'_, 'c> {
    /// Whether an integer has the width of the number.
    fn is_wide(&self, value: Value<'c>) -> bool {
        let width = value.ty().int_width().map(u64::from);
        width == Some(8 * self.unit.machine.size_of(self.ty))
    }

    fn is_node(&self, value: Value<'c>) -> bool {
        self.nodes.contains(&value)
    }

    /// Whether an instruction stores such an integer where numbers are.
    fn is_store(&self, instruction: Value<'c>) -> bool {
        instruction.opcode() == Opcode::Store
            && self.is_node(instruction.operand(0))
            && self.elements.at(self.memory, instruction.operand(1)) == Some(self.ty)
    }

    /// Finds the nodes: at first all that pass on integers, then without those that pass on anything else.
    fn find(&mut self, instructions: &[Value<'c>]) {
        let integers = instructions.iter().copied().filter(|it| self.is_wide(*it));
        self.nodes = integers.filter(|it| passed(*it).is_some()).collect();
        loop {
            let kept = self.nodes.iter().copied().filter(|node| {
                let mut all = passed(*node).into_iter().flatten();
                all.all(|value| self.is_node(value) || self.is_number(value))
            });
            let kept: HashSet<_> = kept.collect();
            if kept.len() == self.nodes.len() {
                return;
            }
            self.nodes = kept;
        }
    }

    /// Whether an integer is a number to begin with, or a constant.
    fn is_number(&self, value: Value<'c>) -> bool {
        if !value.is_instruction() {
            return value.is_undefined() || value.as_u64().is_some();
        }
        match value.opcode() {
            Opcode::Load => self.elements.may_be(self.memory, value.operand(0), self.ty),
            Opcode::BitCast => value.operand(0).ty() == self.ty,
            _ => false,
        }
    }

    /// The number of which an integer has the bits.
    fn twin(&mut self, builder: &Builder<'c>, value: Value<'c>) -> Value<'c> {
        if let Some(known) = self.twins.get(&value) {
            return *known;
        }
        if !value.is_instruction() {
            // What is undefined may be any number.
            let is_known = value.as_u64().is_some() && !value.is_undefined();
            return match is_known {
                true => builder.cast(Opcode::BitCast, value, self.ty),
                false => self.ty.null(),
            };
        }
        builder.before(value);
        let twin = match value.opcode() {
            Opcode::BitCast => value.operand(0),
            Opcode::Load => {
                let number = builder.load(self.ty, value.operand(0));
                number.set_alignment(value.alignment());
                number
            }
            Opcode::Phi => {
                let phi = builder.phi(self.ty);
                self.twins.insert(value, phi);
                for (value, from) in incoming(value) {
                    let twin = self.twin(builder, value);
                    phi.add_incoming(twin, from);
                }
                phi
            }
            Opcode::Freeze => {
                let twin = self.twin(builder, value.operand(0));
                builder.before(value);
                builder.freeze(twin)
            }
            _ => {
                let [yes, no] = [1, 2].map(|index| self.twin(builder, value.operand(index)));
                builder.before(value);
                builder.select(value.operand(0), yes, no)
            }
        };
        self.twins.insert(value, twin);
        twin
    }
}
