//! Values of the forward sweep in the reverse sweep: rematerialised where possible, else cached.

use kernelmill_llvm::ir::{Builder, Opcode, Type, Value};

use super::state::{Cached, CachedItem, Reverse};
use crate::{
    analysis::{Induction, LoopId, is_pure},
    rules::flows,
};

impl<'c> Reverse<'_, 'c> {
    /// A value of the forward sweep, in the current iteration of the reverse sweep.
    pub(super) fn value(&mut self, value: Value<'c>) -> Value<'c> {
        if !value.is_instruction() || value.opcode() == Opcode::Alloca {
            return self.shadows.copier.value(value);
        }
        if let Some(&seen) = self.seen.get(&(value, false)) {
            return seen;
        }
        let found = if let Some(counter) = self.analysis.inductions.counter(value).copied() {
            let start = self.value(counter.start);
            self.at_iteration(&counter, start)
        } else if self.level(value).is_some() && self.can_rematerialise(value) {
            let operands: Vec<_> =
                value.operands().into_iter().map(|operand| self.value(operand)).collect();
            self.rematerialise(value, &operands)
        } else {
            self.read(CachedItem::Value(value))
        };
        self.seen.insert((value, false), found);
        found
    }

    /// The shadow of a pointer in the current iteration.
    pub(super) fn shadow(&mut self, pointer: Value<'c>) -> Value<'c> {
        if !pointer.is_instruction() || pointer.opcode() == Opcode::Alloca {
            return self.shadows.of(pointer);
        }
        if let Some(&seen) = self.seen.get(&(pointer, true)) {
            return seen;
        }
        let found = if let Some(counter) = self.analysis.inductions.counter(pointer).copied() {
            let start = self.shadow(counter.start);
            self.at_iteration(&counter, start)
        } else if self.can_rematerialise(pointer) && pointer.opcode() != Opcode::Call {
            let is_select = pointer.opcode() == Opcode::Select;
            let operands = pointer.operands().into_iter().enumerate();
            let operands: Vec<_> = operands
                .map(|(index, operand)| {
                    let of_shadow = index == 0 || is_select && index > 0;
                    if of_shadow && operand.ty().is_pointer() {
                        self.shadow(operand)
                    } else {
                        self.value(operand)
                    }
                })
                .collect();
            self.rematerialise(pointer, &operands)
        } else {
            self.read(CachedItem::Shadow(pointer))
        };
        self.seen.insert((pointer, true), found);
        found
    }

    /// The innermost loop around an instruction.
    fn level(&self, instruction: Value<'c>) -> Option<LoopId> {
        let block = self.analysis.cfg.number_of(instruction);
        block.and_then(|block| self.analysis.loops.around(block))
    }

    /// Whether an instruction can be rematerialised: equal operands give an equal result.
    fn can_rematerialise(&self, instruction: Value<'c>) -> bool {
        use Opcode::*;
        match instruction.opcode() {
            Phi | Alloca | Store | Freeze | AtomicRmw | AtomicCmpXchg | Fence | VAArg => false,
            Load => {
                !instruction.is_exact_access()
                    && self.analysis.memory.is_unchanged(instruction.operand(0))
            }
            Call => flows(self.unit.rules, instruction).is_some() || is_pure(instruction),
            _ => true,
        }
    }

    /// A copy of an instruction with these operands.
    fn rematerialise(&self, instruction: Value<'c>, operands: &[Value<'c>]) -> Value<'c> {
        let copy = self.code.copy(instruction);
        for (index, operand) in operands.iter().enumerate() {
            copy.set_operand(index as u32, *operand);
        }
        copy
    }

    /// `start + iteration * step`.
    fn at_iteration(&mut self, counter: &Induction<'c>, start: Value<'c>) -> Value<'c> {
        let step = self.value(counter.step);
        let iteration = self.iteration(counter.of);
        let iteration = self.as_width(iteration, step.ty());
        let offset = self.code.multiply(iteration, step);
        match counter.element {
            Some(element) => self.code.elements(element, start, &[offset]),
            None => self.code.add(start, offset),
        }
    }

    /// An integer of 64 bits in another width.
    pub(super) fn as_width(&self, value: Value<'c>, ty: Type<'c>) -> Value<'c> {
        match ty.int_width() {
            Some(64) => value,
            Some(width) if width < 64 => self.code.truncate(value, ty),
            _ => self.code.zero_extend(value, ty),
        }
    }

    /// The current iteration of a loop, from 0.
    pub(super) fn iteration(&self, id: LoopId) -> Value<'c> {
        self.code.load(Type::int(self.unit.context, 64), self.iterations[id.0])
    }

    /// Reads a cached item; it is cached from the first time on.
    pub(super) fn read(&mut self, item: CachedItem<'c>) -> Value<'c> {
        let known = self.cache.iter().find(|cached| cached.item == item).copied();
        let cached = known.unwrap_or_else(|| self.keep(item));
        self.code.load(cached.ty, cached.slot)
    }

    fn keep(&mut self, item: CachedItem<'c>) -> Cached<'c> {
        let analysis = self.analysis;
        let (ty, level) = match item {
            CachedItem::Value(value) | CachedItem::Shadow(value) => (value.ty(), self.level(value)),
            CachedItem::Predecessor(block) => {
                (Type::int(self.unit.context, 32), analysis.loops.around(block))
            }
            CachedItem::Repetitions(id) => {
                (Type::int(self.unit.context, 64), analysis.loops.get(id).parent)
            }
        };
        let slot = self.new_slot(ty);
        let cached = Cached { item, level, slot, ty };
        self.cache.push(cached);
        cached
    }

    /// A stack slot, initially zero.
    pub(super) fn new_slot(&self, ty: Type<'c>) -> Value<'c> {
        let slot = self.at_start.alloca(ty);
        self.at_start.store(ty.null(), slot);
        slot
    }

    /// Stores all cached items in their slots, in the forward sweep.
    pub(super) fn store_kept(&self) {
        let builder = Builder::new(self.unit.context);
        for cached in &self.cache {
            let (copy, original) = match cached.item {
                CachedItem::Value(value) => (self.shadows.copier.values[&value], value),
                CachedItem::Shadow(value) => (self.shadows.shadows[&value], value),
                CachedItem::Predecessor(block) => {
                    self.store_entry(block, cached.slot);
                    continue;
                }
                // Stored at the exits of the loop.
                CachedItem::Repetitions(_) => continue,
            };
            let after = if original.opcode() == Opcode::Phi {
                copy.block().first_after_phis()
            } else {
                copy.next_instruction()
            };
            if let Some(after) = after {
                builder.before(after);
                builder.store(copy, cached.slot);
            }
        }
    }

    /// Stores the predecessor that a block was entered from.
    fn store_entry(&self, block: usize, slot: Value<'c>) {
        let copy = self.shadows.copier.blocks[&self.analysis.cfg.blocks[block]];
        let Some(first) = copy.instructions().first().copied() else { return };
        let builder = Builder::new(self.unit.context);
        builder.before(first);
        let ty = Type::int(self.unit.context, 32);
        let phi = builder.phi(ty);
        for (index, &from) in self.analysis.cfg.predecessors[block].iter().enumerate() {
            let from = self.shadows.copier.blocks[&self.analysis.cfg.blocks[from]];
            phi.add_incoming(ty.constant(index as u64), from);
        }
        if let Some(after) = copy.first_after_phis() {
            builder.before(after);
            builder.store(phi, slot);
        }
    }
}
