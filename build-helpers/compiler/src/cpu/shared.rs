//! Shared memory: a block's memory comes from the run time, and each shared array is at a fixed
//! offset in it.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Builder, ModuleExt, Opcode, Type, Value},
};

use super::operation::SHARED_BASE;
use crate::{Error, place::shared_globals, target::Unit};

/// Replaces every shared array by an offset from the start of the block's shared memory, and
/// gives the bytes of them all.
pub(super) fn lower(unit: &Unit<'_, '_>) -> Result<u64, Error> {
    let context = unit.context;
    let mut bytes: u64 = 0;
    for memory in shared_globals(unit.module) {
        let offset = bytes.next_multiple_of(memory.align);
        bytes = offset + memory.bytes;
        let base = unit.module.declare(SHARED_BASE, Type::pointer(context, 0).function(&[]));
        let place = Place { context, base, global: memory.global, offset };
        place.replace_uses(memory.global)?;
        memory.global.delete_global();
    }
    Ok(bytes)
}

/// A shared array with its place in the block's memory.
struct Place<'c> {
    context: &'c Context,
    base: Value<'c>,
    global: Value<'c>,
    offset: u64,
}

impl<'c> Place<'c> {
    /// Replaces a constant that contains the global's address where instructions use it.
    fn replace_uses(&self, constant: Value<'c>) -> Result<(), Error> {
        for user in constant.users() {
            if user.is_instruction() {
                self.replace_operands(user, constant)?;
            } else if user.is_constant_expression() {
                self.replace_uses(user)?;
            } else {
                let name = self.global.name();
                return Err(Error::Internal(format!(
                    "the address of the shared array {name} is part of a static"
                )));
            }
        }
        Ok(())
    }

    fn replace_operands(&self, user: Value<'c>, constant: Value<'c>) -> Result<(), Error> {
        let builder = Builder::new(self.context);
        for (index, operand) in user.operands().into_iter().enumerate() {
            if operand == constant {
                before(&builder, user, index as u32);
                let value = self.materialize(&builder, constant)?;
                user.set_operand(index as u32, value);
            }
        }
        Ok(())
    }

    /// The constant as instructions.
    fn materialize(&self, builder: &Builder<'c>, constant: Value<'c>) -> Result<Value<'c>, Error> {
        if constant == self.global {
            let base = builder.call(self.base, &[]);
            return Ok(builder.offset(self.context, base, self.offset));
        }
        if !constant.is_constant_expression() {
            return Ok(constant);
        }
        let operands: Result<Vec<_>, _> = constant
            .operands()
            .into_iter()
            .map(|operand| self.materialize(builder, operand))
            .collect();
        let operands = operands?;
        match constant.constant_opcode() {
            Opcode::LLVMGetElementPtr => {
                Ok(builder.elements(constant.element_type(), operands[0], &operands[1..]))
            }
            Opcode::LLVMPtrToInt => Ok(builder.pointer_to_int(operands[0], constant.ty())),
            Opcode::LLVMAdd => Ok(builder.add(operands[0], operands[1])),
            other => Err(Error::Internal(format!(
                "the address of a shared array is in a constant of kind {other:?}"
            ))),
        }
    }
}

/// Goes where a value must be computed to be the operand of an instruction: before it, or, for a
/// phi, at the end of the block that the operand comes from.
fn before<'c>(builder: &Builder<'c>, user: Value<'c>, operand: u32) {
    match user.incoming_block(operand) {
        Some(block) => match block.terminator() {
            Some(terminator) => builder.before(terminator),
            None => builder.at_end(block),
        },
        None => builder.before(user),
    }
}
