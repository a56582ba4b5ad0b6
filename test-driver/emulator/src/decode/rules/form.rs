//! The form of an instruction: opcode, modifiers and types.

use crate::decode::problem::Problem;
use crate::ptx::{Operand, Type};

/// An instruction without its operands.
pub(super) struct Form<'i> {
    pub(super) opcode: &'i str,
    pub(super) modifiers: &'i [&'i str],
    /// The types among its modifiers, in their order.
    pub(super) types: Vec<Type>,
    /// Of PTX, and the capability that the module is for.
    pub(super) version: (u32, u32),
    pub(super) capability: u32,
    /// Whether the module is for one architecture alone: `sm_90a`.
    pub(super) specific: bool,
}

impl Form<'_> {
    pub(super) fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }

    /// The first of these modifiers that it has.
    pub(super) fn one_of<'m>(&self, modifiers: &[&'m str]) -> Option<&'m str> {
        modifiers.iter().find(|modifier| self.has(modifier)).copied()
    }

    pub(super) fn count(&self, modifiers: &[&str]) -> usize {
        self.modifiers.iter().filter(|modifier| modifiers.contains(modifier)).count()
    }

    pub(super) fn ty(&self) -> Option<Type> {
        self.types.first().copied()
    }

    /// The name for messages: opcode and modifiers.
    fn name(&self) -> String {
        std::iter::once(&self.opcode).chain(self.modifiers).copied().collect::<Vec<_>>().join(".")
    }

    pub(super) fn refuse<T>(&self, why: &str) -> Result<T, Problem> {
        Problem::error(format!("`{}` {why}", self.name()))
    }

    /// A modifier is not there for it.
    pub(super) fn refuse_modifier<T>(&self, modifier: &str) -> Result<T, Problem> {
        self.refuse(&format!("cannot have `.{modifier}`"))
    }
}

/// The value of an operand that is a number.
pub(super) fn number(operand: Option<&Operand<'_>>) -> Option<u64> {
    match operand {
        Some(Operand::Integer(value)) => Some(*value),
        _ => None,
    }
}
