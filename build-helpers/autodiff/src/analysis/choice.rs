//! Values that may have no effect on the result because of a choice: the operand of a selection, of a
//! maximum, or of a branch that is not taken.
//!
//! The adjoint of such a value is 0, and its partial derivatives may be infinite: that of `x.sqrt()` at 0
//! in `x.sqrt().max(1.0)`. Their product has to be 0 and not NaN. Enzyme calls that a strong zero,
//! <https://enzyme.mit.edu/getting_started/UsingEnzyme/>. It costs a comparison, so it is found where it
//! is needed.

use std::{cell::RefCell, collections::HashMap};

use kernelmill_llvm::ir::{Opcode, Value};

use super::cfg::Cfg;
use crate::rules::{Flow, Partial, Rules, flows};

/// Longer chains of operations than this are taken for chosen.
const LONGEST: u32 = 1000;

/// The values of a function that reach its result on every path, as far as was asked.
#[derive(Debug, Default)]
pub(crate) struct Choices<'c> {
    /// Whether a value always has an effect. A value that is being looked at has, so that loops do not
    /// decide it.
    known: RefCell<HashMap<Value<'c>, bool>>,
}

/// How many values are followed to the arms of a selection.
const MOST_REACHED: usize = 32;

/// What a search needs.
struct Search<'a, 'c> {
    cfg: &'a Cfg<'c>,
    rules: &'a Rules,
    known: &'a RefCell<HashMap<Value<'c>, bool>>,
}

/// An edge of the control-flow graph.
#[derive(Clone, Copy)]
struct Edge {
    from: usize,
    to: usize,
}

impl<'c> Choices<'c> {
    /// Whether the adjoint of an instruction may be 0 because of a choice.
    pub(crate) fn may_drop(&self, cfg: &Cfg<'c>, rules: &Rules, instruction: Value<'c>) -> bool {
        !Search { cfg, rules, known: &self.known }.is_used(instruction, LONGEST)
    }
}

impl<'c> Search<'_, 'c> {
    /// Whether a value has an effect wherever it is computed.
    fn is_used(&self, value: Value<'c>, depth: u32) -> bool {
        if let Some(known) = self.known.borrow().get(&value) {
            return *known;
        }
        let (Some(depth), Some(block)) = (depth.checked_sub(1), self.cfg.number_of(value)) else {
            return false;
        };
        self.known.borrow_mut().insert(value, true);
        let is_used = self.is_used_in(value, block, depth)
            || self.is_used_after(value, block, depth, &mut Vec::new())
            || self.is_in_both_arms(value, block, depth);
        self.known.borrow_mut().insert(value, is_used);
        is_used
    }

    /// Whether an instruction of a block, apart from phis, passes the value on.
    fn is_used_in(&self, value: Value<'c>, block: usize, depth: u32) -> bool {
        let users = value.users().into_iter();
        let mut users = users.filter(|user| user.is_instruction() && user.opcode() != Opcode::Phi);
        users.any(|user| {
            self.cfg.number_of(user) == Some(block)
                && (matches!(user.opcode(), Opcode::Ret | Opcode::Store)
                    || self.passes_on(value, user) && self.is_used(user, depth))
        })
    }

    /// Whether the value has an effect on both sides of a selection: `if c { x } else { 1.0 - x }`.
    fn is_in_both_arms(&self, value: Value<'c>, block: usize, depth: u32) -> bool {
        let mut reached = vec![value];
        let mut next = 0;
        while let Some(&from) = reached.get(next).filter(|_| next < MOST_REACHED) {
            next += 1;
            for user in from.users() {
                let is_here = user.is_instruction() && self.cfg.number_of(user) == Some(block);
                if !is_here || user.opcode() == Opcode::Phi || reached.contains(&user) {
                    continue;
                }
                if user.opcode() == Opcode::Select {
                    let arms = [user.operand(1), user.operand(2)];
                    if arms.iter().all(|arm| reached.contains(arm)) && self.is_used(user, depth) {
                        return true;
                    }
                } else if self.passes_on(from, user) {
                    reached.push(user);
                }
            }
        }
        false
    }

    /// Whether the value is used on every path from the end of a block.
    fn is_used_after(
        &self,
        value: Value<'c>,
        block: usize,
        depth: u32,
        seen: &mut Vec<usize>,
    ) -> bool {
        let next = &self.cfg.successors[block];
        !next.is_empty()
            && next
                .iter()
                .all(|&next| self.is_used_from(value, Edge { from: block, to: next }, depth, seen))
    }

    /// Whether the value is used on every path along an edge.
    fn is_used_from(
        &self,
        value: Value<'c>,
        edge: Edge,
        depth: u32,
        seen: &mut Vec<usize>,
    ) -> bool {
        let Edge { from, to: block } = edge;
        let phis = value.users().into_iter().filter(|user| {
            user.is_instruction()
                && user.opcode() == Opcode::Phi
                && self.cfg.number_of(*user) == Some(block)
        });
        let comes = |phi: &Value<'c>| {
            let incoming = crate::copier::incoming(*phi);
            incoming
                .iter()
                .any(|(it, origin)| *it == value && self.cfg.number(*origin) == Some(from))
        };
        let mut phis = phis.filter(comes);
        if phis.any(|phi| self.is_used(phi, depth)) || self.is_used_in(value, block, depth) {
            return true;
        }
        if seen.contains(&block) {
            return false;
        }
        seen.push(block);
        self.is_used_after(value, block, depth, seen)
    }

    /// Whether an operation gives its result's adjoint to the value whatever the operands are.
    fn passes_on(&self, value: Value<'c>, user: Value<'c>) -> bool {
        let Some(flows) = flows(self.rules, user) else {
            return !matches!(
                user.opcode(),
                Opcode::Select | Opcode::FCmp | Opcode::ICmp | Opcode::Load | Opcode::Call
            );
        };
        let always = |flow: &Flow<'_>| {
            !matches!(flow, Flow::Partial(Partial::Zero | Partial::When(_)) | Flow::Custom(""))
        };
        let operands = user.operands();
        operands.iter().zip(&flows).any(|(operand, flow)| *operand == value && always(flow))
    }
}
