//! Reverse mode (adjoint mode): the function runs once, the forward sweep; then its blocks run in
//! reverse order, the reverse sweep, and each propagates the adjoints of its results to its operands.
//!
//! Stages, one file each:
//!
//! - `adjoint`: the adjoint of each instruction, by the rules. An adjoint is a stack slot, which LLVM
//!   promotes to a register; `memory` moves adjoints for copies of memory.
//! - `values`: values of the forward sweep that the reverse sweep needs. They are rematerialised where
//!   that is possible, and cached in stack slots otherwise.
//! - `tape`: cached values of loops. They are written at the end of each iteration and read in reverse
//!   order, last in, first out.
//! - `control`: branches of the reverse sweep. Iterations are counted down; a trip count that can be
//!   computed from loop invariants is not stored.
//!
//! Source: Griewank and Walther, "Evaluating Derivatives", 2nd edition (2008), chapters 3 and 4; Moses
//! and Churavy, "Instead of Rewriting Foreign Code for Machine Learning, Automatically Synthesize Fast
//! Gradients" (NeurIPS 2020), for doing so on LLVM's representation (Enzyme).

mod adjoint;
mod control;
mod memory;
mod state;
mod tape;
mod values;

use std::collections::HashMap;

use kernelmill_llvm::ir::{Block, Builder, Opcode, Type, Value};

use crate::{
    Activity, Request, Tape,
    analysis::{Analysis, holds_floats, transfer},
    shadow::Shadows,
    signature::return_all,
    unit::{Unit, Written},
};
use state::{Reverse, TapeMemory};

/// Writes the derivative into a function whose last two parameters are the tape's. They are removed
/// where no buffer is needed.
pub(crate) fn write<'c>(
    unit: &Unit<'_, 'c>,
    request: &Request,
    analysis: &Analysis<'c>,
    new: Value<'c>,
) -> Written<'c> {
    let slots = Block::append(unit.context, new, "slots");
    let (shadows, others) = Shadows::new(unit, analysis, request, new);
    let at_start = Builder::new(unit.context);
    at_start.at_end(slots);
    let back = analysis.cfg.blocks.iter();
    let back = back.map(|_| Block::append(unit.context, new, "back")).collect();
    let counter = Type::int(unit.context, 64);
    let iterations = analysis.loops.all.iter().map(|_| at_start.alloca(counter)).collect();
    let tape = TapeMemory::new(&others, at_start.alloca(counter));
    let reverse = Reverse {
        unit,
        analysis,
        request,
        new,
        shadows,
        at_start,
        code: Builder::new(unit.context),
        back,
        adjoints: HashMap::new(),
        cache: Vec::new(),
        seen: HashMap::new(),
        iterations,
        reads: Vec::new(),
        tape,
    };
    let seed = (others.len() == 3).then(|| others[0]);
    reverse.write(seed)
}

impl<'c> Reverse<'_, 'c> {
    fn write(mut self, seed: Option<Value<'c>>) -> Written<'c> {
        let end = self.forward();
        let first = Block::append(self.unit.context, self.new, "back");
        self.code.at_end(end);
        self.code.branch(first);
        self.code.at_end(first);
        self.seed(seed);
        for block in (0..self.analysis.cfg.blocks.len()).rev() {
            self.block(block);
        }
        let tape = self.write_tape();
        self.connect_sweeps(end, first, tape);
        self.at_start.branch(self.shadows.copier.blocks[&self.shadows.copier.order[0]]);
        let new = if matches!(tape, Tape::Buffer { .. }) { self.new } else { self.without_tape() };
        Written { function: new, tape }
    }

    /// Writes the forward sweep without its return; gives the block that it ends in.
    fn forward(&mut self) -> Block<'c> {
        let mut end = None;
        for block in self.shadows.copier.order.clone() {
            let copy = self.shadows.copier.blocks[&block];
            self.shadows.copier.builder.at_end(copy);
            for instruction in block.instructions() {
                if instruction.opcode() == Opcode::Ret {
                    end = Some(copy);
                    continue;
                }
                self.shadows.copier.instruction(instruction);
                self.forward_shadow(instruction);
            }
        }
        self.shadows.finish_phis();
        end.expect("the function has been found to return")
    }

    /// Writes the shadow of an instruction's pointer, and copies of shadows of pointers.
    fn forward_shadow(&mut self, instruction: Value<'c>) {
        let shadows = &mut self.shadows;
        if !shadows.returns(instruction) {
            return;
        }
        if instruction.ty().is_pointer() {
            if shadows.is_shadowed(instruction) {
                shadows.pointer(instruction);
            }
        } else if instruction.opcode() == Opcode::Store {
            let (value, at) = (instruction.operand(0), instruction.operand(1));
            if value.ty().is_pointer() && shadows.is_shadowed(at) {
                shadows.copier.builder.store(shadows.of(value), shadows.of(at));
            }
        } else if instruction.is_call()
            && transfer(instruction).is_some()
            && shadows.is_shadowed(instruction.operand(0))
            && self.copies_pointers(instruction)
        {
            self.shadows.transfer(instruction);
        }
    }

    /// Whether a call copies pointers.
    fn copies_pointers(&self, call: Value<'c>) -> bool {
        let analysis = self.analysis;
        let element = analysis.elements.at(&analysis.memory, call.operand(0));
        element.is_some_and(Type::is_pointer)
    }

    /// Sets the adjoint of the result.
    fn seed(&mut self, seed: Option<Value<'c>>) {
        let exit = self.analysis.cfg.exit.expect("the function has been found to return");
        let ret = self.analysis.cfg.blocks[exit].terminator();
        let returned = ret.and_then(|ret| ret.operands().first().copied());
        if let (Some(value), Some(seed)) = (returned, seed) {
            self.add(value, seed);
        }
        self.code.branch(self.back[exit]);
    }

    /// Writes the reverse sweep through one block, to its predecessors.
    fn block(&mut self, block: usize) {
        self.code.at_end(self.back[block]);
        self.seen.clear();
        let instructions = self.analysis.cfg.blocks[block].instructions();
        let (phis, others): (Vec<_>, Vec<_>) =
            instructions.into_iter().partition(|inst| inst.opcode() == Opcode::Phi);
        for instruction in others.into_iter().rev() {
            self.adjoint(instruction);
        }
        // All are read before any is propagated: a phi may come from another of the same block.
        let mut changes = Vec::new();
        for phi in phis {
            if self.is_active(phi) {
                changes.push((phi, self.take(phi)));
            }
        }
        if block == 0 {
            self.finish();
        } else {
            self.leave(block, &changes);
        }
    }

    /// Writes the return of the result and the gradients.
    fn finish(&mut self) {
        let mut results = self.kept_result();
        let parameters = self.analysis.function.parameters();
        for (value, activity) in parameters.into_iter().zip(&self.request.activities) {
            if *activity == Activity::Active {
                let slot = self.adjoint_slot(value);
                results.push(self.code.load(value.ty(), slot));
            }
        }
        return_all(self.unit.context, &self.code, &results);
    }

    /// The function's result, if it is returned.
    fn kept_result(&mut self) -> Vec<Value<'c>> {
        let exit = self.analysis.cfg.exit.expect("the function has been found to return");
        let ret = self.analysis.cfg.blocks[exit].terminator();
        let returned = ret.and_then(|ret| ret.operands().first().copied());
        let wanted = returned.filter(|_| self.request.keep_result);
        wanted.map(|value| self.value(value)).into_iter().collect()
    }

    /// Connects the sweeps. Where the buffer is too small for the tape, gradients are NaN.
    fn connect_sweeps(&mut self, end: Block<'c>, first: Block<'c>, tape: Tape) {
        let Some(last) = end.terminator().filter(|_| matches!(tape, Tape::Buffer { .. })) else {
            return;
        };
        last.erase();
        self.code.at_end(end);
        let context = self.unit.context;
        let full = Block::append(context, self.new, "full");
        let fits = self.tape_fits();
        self.code.branch_if(fits, first, full);
        self.code.at_end(full);
        self.seen.clear();
        let mut results = self.kept_result();
        let parameters = self.analysis.function.parameters();
        for (value, activity) in parameters.into_iter().zip(&self.request.activities) {
            if *activity == Activity::Active {
                results.push(not_a_number(&self.code, value.ty()));
            }
        }
        return_all(self.unit.context, &self.code, &results);
    }

    fn is_active(&self, value: Value<'c>) -> bool {
        self.analysis.activities.is_active(value)
    }
}

/// NaN in every number of a type.
fn not_a_number<'c>(builder: &Builder<'c>, ty: Type<'c>) -> Value<'c> {
    use kernelmill_llvm::ir::TypeKind;
    if ty.is_floating() || ty.lanes().is_some() && holds_floats(ty) {
        return ty.float_constant(f64::NAN);
    }
    let fields = match ty.kind() {
        TypeKind::Struct => ty.fields(),
        TypeKind::Array => vec![ty.element(); ty.array_length() as usize],
        _ => return ty.null(),
    };
    fields.into_iter().enumerate().fold(ty.null(), |all, (index, field)| {
        builder.insert(all, not_a_number(builder, field), index as u32)
    })
}
