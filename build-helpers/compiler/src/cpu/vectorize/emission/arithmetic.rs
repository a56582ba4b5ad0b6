//! Arithmetic of a vector body: instructions whose result depends on their operands alone. A uniform one
//! is done once, a strided one for the first lane, any other one as a vector operation.

use kernelmill_llvm::ir::{ModuleExt, Opcode, Type, Value};

use super::{
    super::layout::vector_value::{VectorValue, Vectors},
    code::Mask,
    values::Values,
};
use crate::{
    ScalarReason,
    cpu::uniformity::{Shape, is_pure_intrinsic},
};

impl<'c> Values<'_, 'c> {
    /// The result of an instruction on numbers, or of a uniform one.
    pub(in crate::cpu::vectorize) fn compute(
        &mut self,
        block: usize,
        instruction: Value<'c>,
        mask: Mask<'c>,
    ) -> Result<VectorValue<'c>, ScalarReason> {
        Ok(match self.plan.shapes.shape(instruction) {
            _ if self.code.vectors.lanes == 1 => {
                VectorValue::uniform(self.once(block, instruction))
            }
            Shape::Strided(0) => VectorValue::uniform(self.once(block, instruction)),
            Shape::Strided(step) => self.strided(block, instruction, step),
            Shape::Varying => match self.otherwise.filter(|_| self.may_be_affine(instruction)) {
                Some(any) => self.affine(block, instruction, any),
                None => VectorValue::varying(self.vector(block, instruction, mask)?),
            },
        })
    }

    /// A copy of an instruction that is the same for all lanes, or whose first lane is wanted.
    pub(in crate::cpu::vectorize) fn once(
        &mut self,
        block: usize,
        instruction: Value<'c>,
    ) -> Value<'c> {
        let operands: Vec<_> = instruction
            .operands()
            .into_iter()
            .map(|operand| {
                let known = operand.is_instruction() || self.parameters.contains_key(&operand);
                (known && !operand.is_block())
                    .then(|| self.read(operand, block).first.expect("the first lane is known"))
            })
            .collect();
        self.code.copy_with(instruction, &operands)
    }

    /// A value that grows from lane to lane.
    pub(in crate::cpu::vectorize) fn strided(
        &mut self,
        block: usize,
        instruction: Value<'c>,
        step: i64,
    ) -> VectorValue<'c> {
        let mut holds = None;
        for operand in instruction.operands() {
            if let Some(of) = self.read(operand, block).holds {
                holds = Some(holds.map_or(of, |other| self.code.builder.and(of, other)));
            }
        }
        let opcode = instruction.opcode();
        // Lane by lane the numbers may wrap where the ones in use do not, so what LLVM has been
        // told of overflows is dropped.
        // Whether lanes that choose do so alike, known where the choice of the first one is.
        let mut alike = None;
        let first = match opcode {
            Opcode::Add if self.plan.shapes.shape(instruction.operand(1)) == Shape::Varying => {
                let (same, offset) = self.add_alike(instruction.operand(1), block);
                alike = Some(same);
                let number = self.first(instruction.operand(0), block);
                self.code.builder.add(number, offset)
            }
            Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Shl => {
                let operands = instruction.operands();
                let left = self.first(operands[0], block);
                let right = self.first(operands[1], block);
                self.code.builder.binary(opcode, left, right)
            }
            Opcode::Or if instruction.is_disjoint() => {
                let operands = instruction.operands();
                let left = self.first(operands[0], block);
                let right = self.first(operands[1], block);
                self.code.builder.add(left, right)
            }
            Opcode::ZExt | Opcode::SExt | Opcode::Trunc => {
                let first = self.first(instruction.operand(0), block);
                self.code.builder.cast(opcode, first, instruction.ty())
            }
            Opcode::GetElementPtr => {
                let operands = instruction.operands();
                let base = self.first(operands[0], block);
                let indices: Vec<_> = operands[1..]
                    .iter()
                    .map(|index| {
                        let first = self.first(*index, block);
                        self.in_all_lanes(instruction, first)
                    })
                    .collect();
                self.code.builder.elements(instruction.element_type(), base, &indices)
            }
            // Where the stride holds it is the strided operand, and that is a row in more lanes than the result.
            Opcode::Call => {
                let is_strided = |it: &Value<'c>| !self.plan.shapes.shape(*it).is_uniform();
                let number = instruction.arguments().into_iter().find(is_strided);
                self.first(number.expect("one of the two is strided"), block)
            }
            Opcode::Select => {
                let [condition, one, other] = [0, 1, 2].map(|it| instruction.operand(it));
                let condition = if self.plan.shapes.shape(condition).is_uniform() {
                    self.first(condition, block)
                } else {
                    let (same, all) = self.choose_alike(condition, block);
                    alike = Some(same);
                    all
                };
                let (one, other) = (self.first(one, block), self.first(other, block));
                self.code.builder.select(condition, one, other)
            }
            _ => self.once(block, instruction),
        };
        if self.assumptions.is_checked_here(instruction) {
            let bit = alike.unwrap_or_else(|| self.stride_holds(instruction, step, block));
            holds = Some(holds.map_or(bit, |other| self.code.builder.and(bit, other)));
        }
        let Some(holds) = holds else { return VectorValue::strided(first, step) };
        let vector = self.vector(block, instruction, None).unwrap_or_else(|_| {
            let all = VectorValue::strided(first, step);
            self.code.vectors.all(&self.code.builder, all)
        });
        let (first, holds) = (Some(first), Some(holds));
        VectorValue { first, step, slope: None, holds, vector: Some(vector) }
    }

    /// An index of an address, or a vector of them, times the lanes where the elements of these lie between.
    fn in_all_lanes(&self, address: Value<'c>, index: Value<'c>) -> Value<'c> {
        let Vectors { lanes, context } = self.code.vectors;
        if self.plan.private.element(address).is_none() {
            return index;
        }
        let (builder, long) = (&self.code.builder, Type::int(context, 64));
        let times = long.constant(u64::from(lanes));
        let (long, times) = match index.ty().int_width() {
            Some(_) => (long, times),
            None => (long.vector(lanes), Value::constant_vector(&vec![times; lanes as usize])),
        };
        let is_long = index.ty() == long;
        let index = if is_long { index } else { builder.cast(Opcode::SExt, index, long) };
        builder.multiply(index, times)
    }

    pub(in crate::cpu::vectorize) fn first(&mut self, value: Value<'c>, block: usize) -> Value<'c> {
        self.read(value, block).first.expect("a strided value has a first lane")
    }

    /// An instruction on all lanes.
    pub(in crate::cpu::vectorize) fn vector(
        &mut self,
        block: usize,
        instruction: Value<'c>,
        mask: Mask<'c>,
    ) -> Result<Value<'c>, ScalarReason> {
        use Opcode::*;
        let opcode = instruction.opcode();
        let result = match opcode {
            UDiv | SDiv | URem | SRem => self.divide(block, instruction, mask),
            Add | FAdd | Sub | FSub | Mul | FMul | FDiv | FRem | Shl | LShr | AShr | And | Or
            | Xor => {
                let left = self.wide(instruction.operand(0), block);
                let right = self.wide(instruction.operand(1), block);
                self.code.builder.binary(opcode, left, right)
            }
            FNeg => {
                let value = self.wide(instruction.operand(0), block);
                self.code.builder.negate_float(value)
            }
            ICmp => {
                let left = self.wide(instruction.operand(0), block);
                let right = self.wide(instruction.operand(1), block);
                self.code.builder.compare(instruction.int_predicate(), left, right)
            }
            FCmp => {
                let left = self.wide(instruction.operand(0), block);
                let right = self.wide(instruction.operand(1), block);
                self.code.builder.compare_floats(instruction.float_predicate(), left, right)
            }
            Select => self.select(block, instruction),
            Freeze => {
                let value = self.wide(instruction.operand(0), block);
                self.code.builder.freeze(value)
            }
            ExtractValue => {
                let aggregate = self.wide(instruction.operand(0), block);
                let indices = instruction.indices().into_iter();
                indices.fold(aggregate, |all, index| self.code.builder.extract(all, index))
            }
            InsertValue => {
                let aggregate = self.wide(instruction.operand(0), block);
                let value = self.wide(instruction.operand(1), block);
                self.code.insert(aggregate, value, &instruction.indices())
            }
            GetElementPtr => {
                let forms: Vec<_> = instruction
                    .operands()
                    .into_iter()
                    .map(|operand| self.read(operand, block))
                    .collect();
                // Indices of fields must stay constants.
                let mut values: Vec<_> = forms
                    .into_iter()
                    .map(|widened| {
                        if widened.is_uniform() {
                            widened.once()
                        } else {
                            self.code.vectors.all(&self.code.builder, widened)
                        }
                    })
                    .collect();
                for index in &mut values[1..] {
                    *index = self.in_all_lanes(instruction, *index);
                }
                self.code.builder.elements(instruction.element_type(), values[0], &values[1..])
            }
            Call => self.intrinsic(block, instruction),
            _ => {
                let ty = self.code.vectors.widen(instruction.ty());
                let value = self.wide(instruction.operand(0), block);
                self.code.builder.cast(opcode, value, ty)
            }
        };
        if result.is_instruction() {
            result.copy_float_flags(instruction);
        }
        Ok(result)
    }

    /// All lanes of an operand.
    pub(in crate::cpu::vectorize) fn wide(&mut self, value: Value<'c>, block: usize) -> Value<'c> {
        let widened = self.read(value, block);
        self.code.vectors.all(&self.code.builder, widened)
    }

    pub(in crate::cpu::vectorize) fn select(
        &mut self,
        block: usize,
        instruction: Value<'c>,
    ) -> Value<'c> {
        let condition = self.read(instruction.operand(0), block);
        let yes = self.wide(instruction.operand(1), block);
        let no = self.wide(instruction.operand(2), block);
        if condition.is_uniform() {
            return self.code.builder.select(condition.once(), yes, no);
        }
        let condition = self.code.vectors.all(&self.code.builder, condition);
        self.code.vectors.blend(&self.code.builder, condition, yes, no)
    }

    /// One of LLVM's functions, for vectors.
    pub(in crate::cpu::vectorize) fn intrinsic(
        &mut self,
        block: usize,
        call: Value<'c>,
    ) -> Value<'c> {
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
        let result = self.code.vectors.widen(call.ty());
        let overloads = match &*name {
            "llvm.fptoui.sat" | "llvm.fptosi.sat" | "llvm.scmp" | "llvm.ucmp" => {
                vec![result, values[0].ty()]
            }
            "llvm.is.fpclass" => vec![values[0].ty()],
            name if name.ends_with(".with.overflow") => vec![values[0].ty()],
            _ => vec![result],
        };
        let function = self.code.unit.module.intrinsic(&name, &overloads);
        self.code.builder.call(function, &values)
    }
}
