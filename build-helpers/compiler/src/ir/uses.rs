//! Replacement of a global's address by a computed one, in constants too.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Builder, Opcode, Type, TypeKind, Value},
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
            } else if user.is_constant_expression() || user.is_constant_aggregate() {
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

    /// A struct, an array or a vector as instructions.
    fn materialize_elements(
        &self,
        builder: &Builder<'c>,
        constant: Value<'c>,
    ) -> Result<Value<'c>, Error> {
        let is_vector = constant.ty().kind() == TypeKind::Vector;
        let mut value = constant.ty().poison();
        for (index, element) in constant.operands().into_iter().enumerate() {
            let element = self.materialize(builder, element)?;
            value = if is_vector {
                let lane = Type::int(self.context, 32).constant(index as u64);
                builder.set_lane(value, element, lane)
            } else {
                builder.insert(value, element, index as u32)
            };
        }
        Ok(value)
    }

    /// The constant as instructions.
    fn materialize(&self, builder: &Builder<'c>, constant: Value<'c>) -> Result<Value<'c>, Error> {
        if constant == self.global {
            return Ok((self.address)(builder));
        }
        if constant.is_constant_aggregate() {
            return self.materialize_elements(builder, constant);
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
            Opcode::GetElementPtr => {
                Ok(builder.elements(constant.element_type(), operands[0], &operands[1..]))
            }
            Opcode::PtrToInt => Ok(builder.pointer_to_int(operands[0], constant.ty())),
            Opcode::AddrSpaceCast => Ok(builder.address_space_cast(operands[0], constant.ty())),
            Opcode::Trunc => Ok(builder.truncate(operands[0], constant.ty())),
            operation @ (Opcode::Add | Opcode::Sub | Opcode::Xor) => {
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

#[cfg(test)]
mod tests {
    use super::*;
    use kernelmill_llvm::ir::{ModuleExt, parse_ir};

    use crate::base::loaded::open_llvm;

    /// Replaces the uses of `@shared` in the body of `@use` by the function's argument; its text.
    fn replaced(rest: &str) -> Result<String, String> {
        open_llvm();
        let context = Context::create();
        let text = format!("@shared = global [4 x i32] undef\n{rest}");
        let module = parse_ir(&context, &text, "", "").map_err(|error| error.to_string())?;
        let function = module.function("use").unwrap();
        let argument = function.parameters()[0];
        let shared = module.global("shared").unwrap();
        replace_uses(&context, shared, &|_| argument).map_err(|error| error.to_string())?;
        Ok(module.to_text())
    }

    #[test]
    fn structs_arrays_and_vectors_of_addresses_are_put_together() {
        let text = replaced(
            "define { ptr, i32 } @use(ptr %own, <2 x ptr> %v, [2 x ptr] %a) {\n  \
             %x = insertvalue { ptr, i32 } { ptr @shared, i32 poison }, i32 7, 1\n  \
             call void @take(<2 x ptr> <ptr getelementptr (i8, ptr @shared, i64 4), ptr null>)\n  \
             call void @all([2 x ptr] [ptr null, ptr @shared])\n  \
             ret { ptr, i32 } %x\n}\n\
             declare void @take(<2 x ptr>)\ndeclare void @all([2 x ptr])\n",
        )
        .unwrap();
        let body = text.split("define").nth(1).unwrap();
        assert!(!body.contains("@shared"), "{text}");
        assert_eq!(body.matches("ptr %own").count(), 4, "{text}");
        assert!(body.contains("insertelement") && body.contains("insertvalue [2 x ptr]"), "{text}");
    }

    #[test]
    fn a_static_cannot_hold_an_address() {
        let table =
            "@table = global [1 x ptr] [ptr @shared]\ndefine void @use(ptr %own) { ret void }\n";
        let error = replaced(table).unwrap_err();
        assert!(error.contains("the address of the shared array shared is part of a static"));
    }
}
