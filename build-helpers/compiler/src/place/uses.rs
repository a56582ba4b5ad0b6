use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Builder, Opcode, Value},
};

use crate::Error;

/// Replaces the address of a global by one that instructions compute, wherever an instruction uses
/// it, on its own or inside a constant.
///
/// # Errors
///
/// An internal error where the address is part of a static, or of a constant of a kind that is not
/// known.
pub(crate) fn replace_uses<'c>(
    context: &'c Context,
    global: Value<'c>,
    address: &dyn Fn(&Builder<'c>) -> Value<'c>,
) -> Result<(), Error> {
    Place { context, global, address }.replace_uses(global)
}

/// A global and how its address is computed.
struct Place<'a, 'c> {
    context: &'c Context,
    global: Value<'c>,
    address: &'a dyn Fn(&Builder<'c>) -> Value<'c>,
}

impl<'c> Place<'_, 'c> {
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
            return Ok((self.address)(builder));
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
            Opcode::LLVMAddrSpaceCast => Ok(builder.address_space_cast(operands[0], constant.ty())),
            Opcode::LLVMTrunc => Ok(builder.truncate(operands[0], constant.ty())),
            operation @ (Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMXor) => {
                Ok(builder.binary(operation, operands[0], operands[1]))
            }
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
