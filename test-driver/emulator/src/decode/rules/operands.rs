//! Registers, names and sinks as operands.
//!
//! PTX ISA, "Instruction Operands" and "Operand Type Checking".

use super::form::Form;
use crate::decode::function::Decoder;
use crate::decode::names::Entity;
use crate::decode::problem::Problem;
use crate::execute::instructions::Special;
use crate::ptx::{Instruction, Operand, Type};

impl<'a> Decoder<'_, 'a> {
    pub(super) fn check_operands(
        &mut self,
        i: &Instruction<'a>,
        form: &Form<'_>,
    ) -> Result<(), Problem> {
        if form.opcode == "call" {
            return Ok(());
        }
        check_sinks(i, form)?;
        for (place, operand) in i.operands.iter().enumerate() {
            let Operand::Name(name, offset) = operand else { continue };
            self.check_name(name, *offset, place, form)?;
        }
        if let Some(Operand::Pair(_, second)) = i.operands.first()
            && matches!(form.opcode, "shfl" | "match" | "elect" | "setp" | "lop3")
        {
            self.check_result(second, Type::Pred)?;
        }
        self.check_conversion(i, form)?;
        let result = i.operands.first().map(|operand| match operand {
            Operand::Pair(first, _) => first,
            operand => operand,
        });
        if let (Some(result), Some(wanted)) = (result, result_type(form)) {
            self.check_result(result, wanted)?;
        }
        Ok(())
    }

    /// A name that is read: special registers are only moved and converted, addresses only moved.
    fn check_name(
        &mut self,
        name: &str,
        offset: i64,
        place: usize,
        form: &Form<'_>,
    ) -> Result<(), Problem> {
        // Barriers without a result.
        let is_source = matches!(form.opcode, "bar" | "barrier") && !form.has("red");
        let entity = self.names.find(name);
        if matches!(entity, Some(Entity::Register { .. } | Entity::Vector { .. })) {
            return Ok(());
        }
        let is_variable = entity.is_some() || self.context.symbols.find(name).is_some();
        if is_variable {
            let addressed = match form.opcode {
                "mov" => form
                    .ty()
                    .is_some_and(|ty| !ty.is_float() && ty != Type::Pred && ty != Type::B128),
                "cvta" => !form.has("to"),
                "bra" | "brx" => true,
                _ => place == 0 && !is_source,
            };
            let why = format!("takes a register, not the address of `{name}`");
            return if addressed { Ok(()) } else { form.refuse(&why) };
        }
        match Special::named(name) {
            Some(_) if (place > 0 || is_source) && name != "WARP_SZ" => {
                check_special(name, offset, form)
            }
            _ => Ok(()),
        }
    }

    /// The registers of `cvt` may be wider than its types.
    fn check_conversion(&mut self, i: &Instruction<'a>, form: &Form<'_>) -> Result<(), Problem> {
        if let ("cvt", [to, from], &[to_type, from_type]) =
            (form.opcode, i.operands.as_slice(), form.types.as_slice())
        {
            self.check_data(to, to_type)?;
            self.check_data(from, from_type)?;
        }
        Ok(())
    }

    /// The register that an instruction writes has the width and kind of its result.
    fn check_result(&mut self, operand: &Operand<'a>, wanted: Type) -> Result<(), Problem> {
        let Some(found) = self.type_of(operand) else { return Ok(()) };
        let fits = if found == Type::Pred || wanted == Type::Pred {
            found == wanted
        } else {
            found.bits() == wanted.bits() && !found.is_of_other_kind(wanted)
        };
        if fits {
            return Ok(());
        }
        let (found, wanted) = (found.name(), wanted.name());
        Problem::error(format!("a register of the type `.{found}` cannot hold `.{wanted}`"))
    }
}

fn check_special(name: &str, offset: i64, form: &Form<'_>) -> Result<(), Problem> {
    if name == "%is_explicit_cluster" {
        let fits = form.ty() == Some(Type::Pred);
        return if fits {
            Ok(())
        } else {
            form.refuse(&format!("needs the type `.pred` for `{name}`"))
        };
    }
    let whole = Special::is_vector(name) && !form.has("v4");
    let Some(&ty) = form.types.last().filter(|_| !whole) else {
        return form.refuse(&format!("takes one member of `{name}`, such as `{name}.x`"));
    };
    let moved = form.opcode == "mov" || form.opcode == "cvt" && !form.types[0].is_float();
    if !moved || ty.is_float() {
        return form
            .refuse(&format!("takes no special register: move `{name}` to a register first"));
    }
    if offset != 0 || form.opcode == "cvt" || form.has("v4") {
        return Ok(());
    }
    let is_wide = matches!(name, "%clock64" | "%globaltimer" | "%gridid" | "%current_graph_exec");
    let is_wide = is_wide || name.ends_with("_64");
    // The first versions of PTX had these with 16 bits.
    let short = name.contains("tid.") || name.contains("ctaid.");
    let fits = match ty.bits() {
        64 => is_wide,
        32 => !is_wide || name == "%gridid",
        16 => {
            short && !name.starts_with("%cluster") && !name.starts_with("%ncluster")
                || name == "%gridid"
        }
        _ => false,
    };
    if fits { Ok(()) } else { form.refuse(&format!("is not as wide as `{name}`")) }
}

/// `_` stands for what is not needed of several results, or for the value of an atomic operation.
fn check_sinks(i: &Instruction<'_>, form: &Form<'_>) -> Result<(), Problem> {
    let source = |operand: &Operand<'_>| match operand {
        Operand::Sink => true,
        Operand::Vector(parts) => parts.contains(&Operand::Sink),
        _ => false,
    };
    let sinks = match i.operands.first() {
        Some(Operand::Sink) => !matches!(form.opcode, "atom" | "mbarrier" | "setp" | "lop3"),
        Some(Operand::Pair(first, second)) => match form.opcode {
            "shfl" => **first == Operand::Sink,
            "lop3" => **second == Operand::Sink,
            _ => false,
        },
        Some(Operand::Vector(parts)) => parts.iter().all(|part| *part == Operand::Sink),
        _ => false,
    };
    if sinks || i.operands.iter().skip(1).any(source) {
        return form.refuse("needs an operand in the place of `_`");
    }
    Ok(())
}

/// The type of what an instruction writes, where the rules say it.
fn result_type(form: &Form<'_>) -> Option<Type> {
    let ty = form.ty().or((form.opcode == "isspacep").then_some(Type::Pred))?;
    Some(match form.opcode {
        "add" | "sub" | "addc" | "subc" | "min" | "max" | "div" | "rem" | "sad" | "abs" | "neg"
        | "fma" | "and" | "or" | "xor" | "not" | "cnot" | "shl" | "shr" | "brev" | "bfe"
        | "bfi" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh"
        | "copysign" | "prmt" | "shf" | "lop3" | "mul24" | "mad24" | "set" | "selp" | "slct"
        | "mov" | "shfl" | "redux" | "activemask" | "vote" | "atom" => ty,
        "mul" | "mad" | "madc" if form.has("wide") => match ty {
            Type::U16 => Type::U32,
            Type::S16 => Type::S32,
            Type::U32 => Type::U64,
            _ => Type::S64,
        },
        "mul" | "mad" | "madc" => ty,
        "popc" | "clz" | "bfind" => Type::U32,
        "match" => Type::U32,
        "setp" | "testp" | "isspacep" => Type::Pred,
        "mbarrier" if form.one_of(&["test_wait", "try_wait"]).is_some() => Type::Pred,
        _ => return None,
    })
}
