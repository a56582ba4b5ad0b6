//! Coordinates that are computed from one number, `x = i % n` and `y = i / n`: the number is found again where an index is put
//! together, `x + y * n` or `x + 1 + (y - 1) * n`.
//!
//! Needs: simplified kernels. Guarantees: a remainder is the rest of the quotient beside it, `i - i / n * n`, and products of a
//! quotient and a constant more or less are sums, so that LLVM's passes see that both cancel out: what threads
//! next to each other access lies side by side. LLVM makes a remainder of that again where processors have it.

use std::collections::HashMap;

use kernelmill_llvm::{
    ir::{Builder, ModuleExt, Opcode, Value},
    machine::Machine,
};

use crate::{Error, passes::entry::Unit};

/// Takes out what cancels out.
const SIMPLIFY: &str = "function(early-cse,reassociate,instcombine<no-verify-fixpoint>,early-cse)";

/// Rewrites the remainders of a module that have their quotient in the same block; how many.
pub(super) fn cancel(unit: &Unit<'_, '_>, machine: &Machine) -> Result<u64, Error> {
    let mut count = 0;
    for function in unit.module.definitions() {
        let pairs = pairs(function);
        count += pairs.len() as u64;
        for pair in pairs {
            pair.rewrite(unit);
        }
    }
    if count > 0 {
        machine.run(unit.module, SIMPLIFY)?;
    }
    Ok(count)
}

/// A quotient and a remainder of the same two numbers, in one block.
struct Pair<'c> {
    quotient: Value<'c>,
    remainder: Value<'c>,
    /// The one of them that comes first.
    first: Value<'c>,
}

fn pairs<'c>(function: Value<'c>) -> Vec<Pair<'c>> {
    let mut divisions: HashMap<_, Vec<Value<'c>>> = HashMap::new();
    for instruction in function.instructions() {
        let is_signed = match instruction.opcode() {
            Opcode::UDiv | Opcode::URem => false,
            Opcode::SDiv | Opcode::SRem => true,
            _ => continue,
        };
        if instruction.ty().int_width().is_some() {
            let [of, by] = [0, 1].map(|it| instruction.operand(it));
            divisions
                .entry((instruction.block(), is_signed, of, by))
                .or_default()
                .push(instruction);
        }
    }
    let pair = |alike: &Vec<Value<'c>>| {
        let find = |is: fn(Opcode) -> bool| alike.iter().copied().find(|it| is(it.opcode()));
        let quotient = find(|it| matches!(it, Opcode::UDiv | Opcode::SDiv))?;
        let remainder = find(|it| matches!(it, Opcode::URem | Opcode::SRem))?;
        Some(Pair { quotient, remainder, first: alike[0] })
    };
    divisions.values().filter_map(pair).collect()
}

impl<'c> Pair<'c> {
    fn rewrite(self, unit: &Unit<'_, 'c>) {
        let builder = Builder::new(unit.context);
        builder.before(self.first);
        builder.take_line(self.first);
        let by = self.quotient.operand(1);
        // It is used more often than before, and has to be one number where it is undefined. `by` is: it divides.
        let of = builder.freeze(self.quotient.operand(0));
        let quotient = builder.binary(self.quotient.opcode(), of, by);
        let product = builder.multiply(quotient, by);
        let remainder = builder.binary(Opcode::Sub, of, product);
        self.quotient.replace_with(quotient);
        self.remainder.replace_with(remainder);
        self.quotient.erase();
        self.remainder.erase();
        for sum in quotient.users() {
            let constant = match sum.opcode() {
                Opcode::Add | Opcode::Sub if sum.operand(1).is_constant() => sum.operand(1),
                _ => continue,
            };
            for scaled in sum.users() {
                let is_scaled = scaled.opcode() == Opcode::Mul
                    && [0, 1].iter().any(|it| scaled.operand(*it) == by);
                if is_scaled {
                    builder.before(scaled);
                    builder.take_line(scaled);
                    let rest = builder.multiply(by, constant);
                    let apart = builder.binary(sum.opcode(), product, rest);
                    scaled.replace_with(apart);
                    scaled.erase();
                }
            }
        }
    }
}
