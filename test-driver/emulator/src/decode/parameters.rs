//! Parameters and arguments in registers: copies between registers and the frames in which calls pass them.
//!
//! PTX ISA, "call" and "Application Binary Interface": a function may have `.reg` parameters, and a call may
//! give registers and constants for any.

use super::build::Build;
use super::function::Decoder;
use super::names::Entity;
use super::operands::immediate;
use super::problem::Problem;
use super::registers::Placed;
use crate::execute::Transfer;
use crate::execute::instructions::{Target, memory_handler, shape};
use crate::memory::AccessKind;
use crate::program::Slice;
use crate::ptx::{self, Operand, Type, Variable};

/// What a call passes: its slices of the frame, and the results that go to registers afterwards.
pub(super) struct Passed {
    pub(super) slices: Vec<Slice>,
    pub(super) results: Vec<Placed>,
}

impl<'a> Decoder<'_, 'a> {
    /// A parameter or result that is a register: a parameter is taken from the frame first.
    pub(super) fn register_parameter(
        &mut self,
        tree: &ptx::Function<'a>,
        variable: &Variable<'a>,
        slice: Slice,
    ) {
        let (line, name, ty) = (variable.line, variable.name, variable.ty);
        if tree.entry {
            self.context.error(
                line,
                format!("the parameter `{name}` of a kernel is a register: it must be in `.param`"),
            );
            return;
        }
        let registers = ptx::Registers { line, name, ty, lanes: 1, count: None };
        if !self.names.declare_registers(&registers) {
            self.context.error(line, format!("register `{name}` is declared twice"));
        }
        let Some(Entity::Register { slot, .. }) = self.names.find(name) else { return };
        let placed = Placed { slot, ty, slice };
        if tree.returns.iter().any(|result| std::ptr::eq(result, variable)) {
            self.given.returns.push(placed);
        } else {
            self.copy_frame(placed, false);
        }
    }

    /// Puts results that are registers where the caller takes them from.
    pub(super) fn give_back(&mut self) {
        for number in 0..self.given.returns.len() {
            self.copy_frame(self.given.returns[number], true);
        }
    }

    /// Copies a register to the frame, or from there.
    pub(super) fn copy_frame(&mut self, placed: Placed, write: bool) {
        let Placed { slot, ty, slice } = placed;
        let zero = self.constant(0);
        let run = memory_handler(Target::Frame, ty, 1, write);
        let build = Build::new(run).a(zero).x(shape(1, ty.bits(), ty));
        let kind = if write { AccessKind::WRITE } else { AccessKind::READ };
        let build = if write {
            build.reads(slot).with(|i| i.d = slot).transfer(Transfer::Store)
        } else {
            build.d(slot)
        };
        self.push(build.with(|i| (i.b, i.e) = (slice.offset, kind.0)));
        self.pass_parts(slice.offset, slice.bytes, &[slot], write);
    }

    /// The parts of the frame that arguments or results of a call are; `wanted` are those of the function,
    /// where it is known.
    pub(super) fn pass(
        &mut self,
        operands: &[Operand<'a>],
        wanted: &[Slice],
        results: bool,
    ) -> Result<Passed, Problem> {
        let mut passed = Passed { slices: Vec::new(), results: Vec::new() };
        for (number, operand) in operands.iter().enumerate() {
            let bytes = wanted.get(number).map(|slice| slice.bytes);
            if let Operand::Name(name, 0) = operand
                && let Some(Entity::Frame { offset, bytes, .. }) = self.names.find(name)
            {
                passed.slices.push(Slice { offset, bytes });
                continue;
            }
            if *operand == Operand::Sink && results {
                let bytes = bytes.unwrap_or(8);
                passed.slices.push(Slice { offset: self.frame_space(bytes, 16), bytes });
                continue;
            }
            let placed = self.placed(operand, bytes, results)?;
            passed.slices.push(placed.slice);
            if results {
                passed.results.push(placed);
            } else {
                self.copy_frame(placed, true);
            }
        }
        Ok(passed)
    }

    /// Room in the frame for an argument or result that is a register or a constant.
    fn placed(
        &mut self,
        operand: &Operand<'a>,
        bytes: Option<u32>,
        result: bool,
    ) -> Result<Placed, Problem> {
        let ty = match (self.type_of(operand), bytes) {
            (Some(Type::Pred | Type::B128), _) => return Err(Problem::Unsupported),
            (Some(ty), _) => ty,
            (None, Some(1)) => Type::B8,
            (None, Some(2)) => Type::B16,
            (None, Some(4)) => Type::B32,
            (None, Some(8)) => Type::B64,
            _ => return Problem::error("an argument must be a variable, a register or a constant"),
        };
        let slot = match immediate(operand, ty) {
            Some(value) if !result => self.constant(value),
            _ if result => self.write(operand)?,
            _ => self.read(operand, ty)?,
        };
        let slice = Slice { offset: self.frame_space(ty.bytes(), ty.bytes()), bytes: ty.bytes() };
        Ok(Placed { slot, ty, slice })
    }
}
