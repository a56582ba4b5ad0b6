//! Addresses: the space of the variable or register that they are made of.
//!
//! PTX ISA, "Addresses as Operands".

use super::form::Form;
use crate::decode::function::Decoder;
use crate::decode::moves::space_named;
use crate::decode::names::{Entity, Frame};
use crate::decode::problem::Problem;
use crate::program::Symbol;
use crate::ptx::{Base, Instruction, Operand, Type};

/// Where a variable lies.
#[derive(Clone, Copy, PartialEq)]
enum Home {
    Global,
    Const,
    Shared,
    Local,
    /// Parameters of kernels and of calls.
    Param,
    Code,
}

impl<'a> Decoder<'_, 'a> {
    pub(super) fn check_addresses(
        &mut self,
        i: &Instruction<'a>,
        form: &Form<'_>,
    ) -> Result<(), Problem> {
        let one = matches!(form.opcode, "ld" | "ldu" | "st" | "atom" | "red" | "mbarrier");
        match (form.opcode, i.operands.as_slice()) {
            ("cvta", _) if form.ty() != Some(Type::U64) => form.refuse("must have the type `.u64`"),
            ("cvta" | "isspacep", _) if form.has("param::func") => {
                form.refuse_modifier("param::func")
            }
            ("cvta", [_, Operand::Name(name, _)]) => {
                let Some(home) = self.home(name) else { return Ok(()) };
                check_home(form, name, home, true)
            }
            ("mov", [_, Operand::Name(name, _)])
                if form.ty().is_some_and(|ty| ty.bits() == 32)
                    && matches!(self.home(name), Some(Home::Global | Home::Const)) =>
            {
                form.refuse(&format!("is not as wide as the address of `{name}`"))
            }
            ("mov", [_, Operand::Name(name, _)]) => match self.names.find(name) {
                Some(Entity::Frame { kind: Frame::Argument, .. }) => {
                    form.refuse(&format!("takes the address of `{name}`, which has none"))
                }
                _ => Ok(()),
            },
            (_, operands) => {
                for operand in operands {
                    let Operand::Address { base, .. } = operand else { continue };
                    self.check_address(form, base, one)?;
                }
                Ok(())
            }
        }
    }

    /// `one`: the address is in the space that the instruction names, and there is no other.
    fn check_address(
        &mut self,
        form: &Form<'_>,
        base: &Base<'a>,
        one: bool,
    ) -> Result<(), Problem> {
        let name = match base {
            Base::Absolute(_) if form.has("local") => return Ok(()),
            Base::Absolute(_) => return form.refuse("cannot have a number as its address"),
            Base::Name(name) => name,
        };
        if let Some(Entity::Register { ty, .. }) = self.names.find(name) {
            return self.check_pointer(form, name, ty, one);
        }
        let Some(home) = self.home(name).filter(|_| one) else { return Ok(()) };
        check_home(form, name, home, false)?;
        if home == Home::Param {
            return self.check_parameter(form, name);
        }
        Ok(())
    }

    fn check_pointer(
        &mut self,
        form: &Form<'_>,
        name: &str,
        ty: Type,
        one: bool,
    ) -> Result<(), Problem> {
        if ty.is_float() || matches!(ty, Type::Pred | Type::B128) {
            return form.refuse(&format!(
                "cannot have `{name}` of the type `.{}` as its address",
                ty.name()
            ));
        }
        let space = form.modifiers.iter().find_map(|word| space_named(word));
        let far = space.is_none() || form.has("global");
        if one && far && ty.bits() == 32 {
            return form.refuse(&format!("needs an address of 64 bits, and `{name}` has 32"));
        }
        if form.opcode == "st" && form.has("param") || form.has("param::func") {
            return form.refuse(&format!("cannot access parameters through the register `{name}`"));
        }
        Ok(())
    }

    /// What a function is given is not written, and what it gives is not read.
    fn check_parameter(&mut self, form: &Form<'_>, name: &str) -> Result<(), Problem> {
        let is_store = form.opcode == "st";
        match self.names.find(name) {
            Some(Entity::Parameter { .. } | Entity::Frame { kind: Frame::Input, .. })
                if is_store =>
            {
                form.refuse(&format!("cannot write the parameter `{name}`"))
            }
            Some(Entity::Parameter { .. }) if form.has("param::func") => {
                form.refuse_modifier("param::func")
            }
            Some(Entity::Frame { kind: Frame::Result, .. }) if !is_store => {
                form.refuse(&format!("cannot read the result `{name}`"))
            }
            _ => Ok(()),
        }
    }

    fn home(&mut self, name: &str) -> Option<Home> {
        let symbol = match self.names.find(name) {
            Some(Entity::Register { .. } | Entity::Vector { .. }) => return None,
            Some(Entity::Frame { kind: Frame::Local, .. }) => return Some(Home::Local),
            Some(Entity::Frame { .. } | Entity::Parameter { .. }) => return Some(Home::Param),
            Some(Entity::Shared(_) | Entity::Dynamic) => return Some(Home::Shared),
            Some(Entity::Global(index)) => Symbol::Global(index),
            None => self.context.symbols.find(name)?,
        };
        Some(match symbol {
            Symbol::Shared(_) | Symbol::Dynamic => Home::Shared,
            Symbol::Code(_) => Home::Code,
            Symbol::Global(index) if self.context.program.globals[index].constant => Home::Const,
            Symbol::Global(_) => Home::Global,
        })
    }
}

/// `exact`: the space is that of the variable, and generic is none.
fn check_home(form: &Form<'_>, name: &str, home: Home, exact: bool) -> Result<(), Problem> {
    let spaces: &[&str] = match home {
        Home::Global => &["global"],
        Home::Const => &["const"],
        Home::Shared => &["shared", "shared::cta", "shared::cluster"],
        Home::Local => &["local"],
        Home::Param => &["param", "param::entry", "param::func"],
        Home::Code => &[],
    };
    let named = form.modifiers.iter().any(|word| space_named(word).is_some());
    let generic = matches!(home, Home::Global | Home::Shared | Home::Local) && !named && !exact;
    if generic || form.one_of(spaces).is_some() {
        return Ok(());
    }
    form.refuse(&format!("is for another state space than that of `{name}`"))
}
