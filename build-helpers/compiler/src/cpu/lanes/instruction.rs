//! Builds the instructions of a block for a group.

use kernelmill_llvm::ir::{ModuleExt, Opcode, Value};

use super::{
    agreed::changes_memory,
    form::Form,
    group::{Group, Mask},
    support::{is_dropped, is_prefetch},
    values::is_stack_memory,
};
use crate::{
    ScalarReason,
    cpu::{
        context::is_barrier,
        uniformity::{Shape, is_pure_intrinsic},
    },
};

impl<'c> Group<'_, 'c> {
    /// Builds a block but for its end.
    pub(super) fn instructions(
        &mut self,
        block: usize,
        mask: Mask<'c>,
    ) -> Result<(), ScalarReason> {
        self.cached.clear();
        self.changed = false;
        let all = self.plan.flow.blocks[block].instructions();
        // All phis are read before any of them can be given a new value.
        for instruction in all {
            self.builder.take_line(instruction);
            if instruction.opcode() == Opcode::Phi {
                self.phi(instruction);
            } else if Some(instruction) != self.plan.flow.blocks[block].terminator()
                && !is_stack_memory(instruction)
            {
                self.instruction(block, instruction, mask)?;
                self.changed |= changes_memory(instruction);
            }
        }
        Ok(())
    }

    fn instruction(
        &mut self,
        block: usize,
        instruction: Value<'c>,
        mask: Mask<'c>,
    ) -> Result<(), ScalarReason> {
        let opcode = instruction.opcode();
        if is_barrier(instruction) || (instruction.is_call() && is_dropped(instruction)) {
            return Ok(());
        }
        if self.plan.agreed.contains(&instruction) {
            let form = self.agree(block, instruction, mask)?;
            self.write(instruction, form);
            return Ok(());
        }
        if self.plan.lanes == 1 {
            let form = self.compute(block, instruction, mask)?;
            self.write(instruction, form);
            return Ok(());
        }
        match (opcode, self.plan.shapes.shape(instruction)) {
            (Opcode::Fence, _) => {
                let _ = self.once(block, instruction);
            }
            (Opcode::Call, _) if is_prefetch(instruction) => {
                // Lanes in a row have their elements in one line of a cache, or two.
                let address = self.read(instruction.operand(0), block);
                if let Some(first) = address.first {
                    self.builder.copy(instruction).set_operand(0, first);
                }
            }
            (Opcode::Store, _) if !instruction.is_exact_access() => {
                self.store(block, instruction, mask);
            }
            (Opcode::Load, Shape::Varying) if !instruction.is_exact_access() => {
                let form = self.load(block, instruction, mask);
                self.write(instruction, form);
            }
            (Opcode::Call, _) if is_pure_intrinsic(instruction).is_none() => {
                self.each(block, instruction, mask);
            }
            (
                Opcode::Load | Opcode::Store | Opcode::AtomicRmw | Opcode::AtomicCmpXchg,
                Shape::Varying,
            )
            | (Opcode::Store, _) => self.each(block, instruction, mask),
            _ => {
                let form = self.compute(block, instruction, mask)?;
                let form = self.sure(block, instruction, form, mask);
                self.write(instruction, form);
            }
        }
        Ok(())
    }

    /// The result of an instruction on numbers, or of a uniform one.
    pub(super) fn compute(
        &mut self,
        block: usize,
        instruction: Value<'c>,
        mask: Mask<'c>,
    ) -> Result<Form<'c>, ScalarReason> {
        Ok(match self.plan.shapes.shape(instruction) {
            _ if self.plan.lanes == 1 => Form::uniform(self.once(block, instruction)),
            Shape::Strided(0) => Form::uniform(self.once(block, instruction)),
            Shape::Strided(step) => self.strided(block, instruction, step),
            Shape::Varying => Form::varying(self.vector(block, instruction, mask)?),
        })
    }

    /// A copy of an instruction that is the same for all lanes, or whose first lane is wanted.
    fn once(&mut self, block: usize, instruction: Value<'c>) -> Value<'c> {
        let operands: Vec<_> = instruction
            .operands()
            .into_iter()
            .map(|operand| {
                let known = operand.is_instruction() || self.parameters.contains_key(&operand);
                (known && !operand.is_block())
                    .then(|| self.read(operand, block).first.expect("the first lane is known"))
            })
            .collect();
        self.copy_with(instruction, &operands)
    }

    /// A value that grows from lane to lane.
    fn strided(&mut self, block: usize, instruction: Value<'c>, step: i64) -> Form<'c> {
        let mut holds = None;
        for operand in instruction.operands() {
            if let Some(of) = self.read(operand, block).holds {
                holds = Some(holds.map_or(of, |other| self.builder.and(of, other)));
            }
        }
        let opcode = instruction.opcode();
        // Lane by lane the numbers may wrap where the ones in use do not, so what LLVM has been
        // told of overflows is dropped.
        let first = match opcode {
            Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Shl => {
                let operands = instruction.operands();
                let left = self.first(operands[0], block);
                let right = self.first(operands[1], block);
                self.builder.binary(opcode, left, right)
            }
            Opcode::Or if instruction.is_disjoint() => {
                let operands = instruction.operands();
                let left = self.first(operands[0], block);
                let right = self.first(operands[1], block);
                self.builder.add(left, right)
            }
            Opcode::ZExt | Opcode::SExt | Opcode::Trunc => {
                let first = self.first(instruction.operand(0), block);
                self.builder.cast(opcode, first, instruction.ty())
            }
            Opcode::GetElementPtr => {
                let operands = instruction.operands();
                let base = self.first(operands[0], block);
                let indices: Vec<_> =
                    operands[1..].iter().map(|index| self.first(*index, block)).collect();
                self.builder.elements(instruction.element_type(), base, &indices)
            }
            _ => self.once(block, instruction),
        };
        if self.is_checked_here(instruction) {
            let bit = self.stride_holds(instruction, step, block);
            holds = Some(holds.map_or(bit, |other| self.builder.and(bit, other)));
        }
        let Some(holds) = holds else { return Form::strided(first, step) };
        let vector = self.vector(block, instruction, None).unwrap_or_else(|_| {
            let all = Form::strided(first, step);
            self.vectors.all(&self.builder, all)
        });
        Form { first: Some(first), step, holds: Some(holds), vector: Some(vector) }
    }

    pub(super) fn first(&mut self, value: Value<'c>, block: usize) -> Value<'c> {
        self.read(value, block).first.expect("a strided value has a first lane")
    }

    /// An instruction on all lanes.
    fn vector(
        &mut self,
        block: usize,
        instruction: Value<'c>,
        mask: Mask<'c>,
    ) -> Result<Value<'c>, ScalarReason> {
        use Opcode::*;
        let opcode = instruction.opcode();
        let result = match opcode {
            UDiv | SDiv | URem | SRem => {
                let left = self.wide(instruction.operand(0), block);
                let mut right = self.wide(instruction.operand(1), block);
                if let Some(mask) = mask {
                    // Lanes that are not here must not divide by what they have.
                    let one = instruction.ty().constant(1);
                    let ones = Value::constant_vector(&vec![one; self.plan.lanes as usize]);
                    right = self.builder.select(mask, right, ones);
                }
                self.builder.binary(opcode, left, right)
            }
            Add | FAdd | Sub | FSub | Mul | FMul | FDiv | FRem | Shl | LShr | AShr | And | Or
            | Xor => {
                let left = self.wide(instruction.operand(0), block);
                let right = self.wide(instruction.operand(1), block);
                self.builder.binary(opcode, left, right)
            }
            FNeg => {
                let value = self.wide(instruction.operand(0), block);
                self.builder.negate_float(value)
            }
            ICmp => {
                let left = self.wide(instruction.operand(0), block);
                let right = self.wide(instruction.operand(1), block);
                self.builder.compare(instruction.int_predicate(), left, right)
            }
            FCmp => {
                let left = self.wide(instruction.operand(0), block);
                let right = self.wide(instruction.operand(1), block);
                self.builder.compare_floats(instruction.float_predicate(), left, right)
            }
            Select => self.select(block, instruction),
            Freeze => {
                let value = self.wide(instruction.operand(0), block);
                self.builder.freeze(value)
            }
            ExtractValue => {
                let aggregate = self.wide(instruction.operand(0), block);
                let indices = instruction.indices().into_iter();
                indices.fold(aggregate, |all, index| self.builder.extract(all, index))
            }
            InsertValue => {
                let aggregate = self.wide(instruction.operand(0), block);
                let value = self.wide(instruction.operand(1), block);
                self.insert(aggregate, value, &instruction.indices())
            }
            GetElementPtr => {
                let forms: Vec<_> = instruction
                    .operands()
                    .into_iter()
                    .map(|operand| self.read(operand, block))
                    .collect();
                // Indices of fields must stay constants.
                let values: Vec<_> = forms
                    .into_iter()
                    .map(|form| {
                        if form.is_uniform() {
                            form.once()
                        } else {
                            self.vectors.all(&self.builder, form)
                        }
                    })
                    .collect();
                self.builder.elements(instruction.element_type(), values[0], &values[1..])
            }
            Call => self.intrinsic(block, instruction),
            _ => {
                let ty = self.vectors.widen(instruction.ty());
                let value = self.wide(instruction.operand(0), block);
                self.builder.cast(opcode, value, ty)
            }
        };
        if result.is_instruction() {
            result.copy_float_flags(instruction);
        }
        Ok(result)
    }

    /// All lanes of an operand.
    pub(super) fn wide(&mut self, value: Value<'c>, block: usize) -> Value<'c> {
        let form = self.read(value, block);
        self.vectors.all(&self.builder, form)
    }

    fn select(&mut self, block: usize, instruction: Value<'c>) -> Value<'c> {
        let condition = self.read(instruction.operand(0), block);
        let yes = self.wide(instruction.operand(1), block);
        let no = self.wide(instruction.operand(2), block);
        if condition.is_uniform() {
            return self.builder.select(condition.once(), yes, no);
        }
        let condition = self.vectors.all(&self.builder, condition);
        self.vectors.blend(&self.builder, condition, yes, no)
    }

    fn insert(&self, aggregate: Value<'c>, value: Value<'c>, indices: &[u32]) -> Value<'c> {
        match indices {
            [] => value,
            [index, rest @ ..] => {
                let inner = self.builder.extract(aggregate, *index);
                let inner = self.insert(inner, value, rest);
                self.builder.insert(aggregate, inner, *index)
            }
        }
    }

    /// One of LLVM's functions, for vectors.
    fn intrinsic(&mut self, block: usize, call: Value<'c>) -> Value<'c> {
        let name = is_pure_intrinsic(call).expect("asked before");
        let arguments = call.arguments();
        let flags = ["llvm.ctlz", "llvm.cttz", "llvm.abs", "llvm.is.fpclass"];
        let values: Vec<_> = arguments
            .iter()
            .enumerate()
            .map(|(index, argument)| {
                if index == 1 && flags.contains(&&*name) {
                    *argument
                } else {
                    self.wide(*argument, block)
                }
            })
            .collect();
        let result = self.vectors.widen(call.ty());
        let overloads = match &*name {
            "llvm.fptoui.sat" | "llvm.fptosi.sat" | "llvm.scmp" | "llvm.ucmp" => {
                vec![result, values[0].ty()]
            }
            "llvm.is.fpclass" => vec![values[0].ty()],
            name if name.ends_with(".with.overflow") => vec![values[0].ty()],
            _ => vec![result],
        };
        let function = self.unit.module.intrinsic(&name, &overloads);
        self.builder.call(function, &values)
    }
}
