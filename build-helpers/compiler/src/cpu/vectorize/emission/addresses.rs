//! Addresses as sums, by which those that differ by constants are told: a base, indices by factors, and a number of bytes.
//!
//! Indices are looked into through extensions, where what is extended does not overflow: of `x[2 * i + 1 - d]` and `x[2 * i - d]`
//! with indices of 32 bits each has an extension of its own, and the two lie beside each other in every thread.

use kernelmill_llvm::ir::{Opcode, Type, Value};

/// How deep indices are looked into.
const DEPTH: u32 = 6;

/// An address but for the bytes that are added to it.
#[derive(Clone, Debug)]
pub(super) struct Root<'c> {
    base: Value<'c>,
    terms: Vec<Term<'c>>,
}

/// An index, times a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Term<'c> {
    index: Index<'c>,
    times: i64,
}

/// A number of 64 bits, or one that is extended to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Index<'c> {
    value: Value<'c>,
    extension: Extension,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extension {
    None,
    Sign,
    Zero,
}

impl PartialEq for Root<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.base == other.base
            && self.terms.len() == other.terms.len()
            && self.terms.iter().all(|it| other.terms.contains(it))
    }
}

/// What an address is computed from by constants, and how many bytes it lies behind that.
pub(super) fn fixed<'c>(address: Value<'c>, size: &dyn Fn(Type<'c>) -> u64) -> (Root<'c>, i64) {
    let mut sum = Sum { root: Root { base: address, terms: Vec::new() }, bytes: 0 };
    while sum.root.base.is_instruction() && sum.root.base.opcode() == Opcode::GetElementPtr {
        let address = sum.root.base;
        let operands = address.operands();
        let &[base, index] = &operands[..] else { break };
        let Ok(times) = i64::try_from(size(address.element_type())) else { break };
        if index.ty().int_width() != Some(64) {
            break;
        }
        sum.add(Index { value: index, extension: Extension::None }, times, DEPTH);
        sum.root.base = base;
    }
    (sum.root, sum.bytes)
}

/// The address of the object that an address is in: what it is computed from.
pub(super) fn object(mut address: Value<'_>) -> Value<'_> {
    while address.is_instruction() && address.opcode() == Opcode::GetElementPtr {
        address = address.operand(0);
    }
    address
}

/// A sum as far as it is known. All arithmetic is modulo 2^64, as that of addresses is.
struct Sum<'c> {
    root: Root<'c>,
    bytes: i64,
}

impl<'c> Sum<'c> {
    fn add(&mut self, index: Index<'c>, times: i64, depth: u32) {
        let Index { value, extension } = index;
        if let Some(number) = extension.constant(value) {
            self.bytes = self.bytes.wrapping_add(number.wrapping_mul(times));
            return;
        }
        if depth > 0 && value.is_instruction() {
            let of = |value| Index { value, extension };
            match value.opcode() {
                Opcode::Add | Opcode::Sub if extension.keeps(value) => {
                    let right =
                        if value.opcode() == Opcode::Add { times } else { times.wrapping_neg() };
                    self.add(of(value.operand(0)), times, depth - 1);
                    return self.add(of(value.operand(1)), right, depth - 1);
                }
                // No carry, and at most one of the two has the sign.
                Opcode::Or if value.is_disjoint() => {
                    self.add(of(value.operand(0)), times, depth - 1);
                    return self.add(of(value.operand(1)), times, depth - 1);
                }
                Opcode::SExt | Opcode::ZExt if extension == Extension::None => {
                    let is_signed = value.opcode() == Opcode::SExt;
                    let extension = if is_signed { Extension::Sign } else { Extension::Zero };
                    return self.add(
                        Index { value: value.operand(0), extension },
                        times,
                        depth - 1,
                    );
                }
                _ => {}
            }
        }
        let terms = &mut self.root.terms;
        match terms.iter_mut().find(|it| it.index == index) {
            Some(term) => term.times = term.times.wrapping_add(times),
            None => terms.push(Term { index, times }),
        }
        terms.retain(|it| it.times != 0);
    }
}

impl Extension {
    /// Whether what is extended is the sum of its extended operands.
    fn keeps(self, sum: Value<'_>) -> bool {
        match self {
            Self::None => true,
            Self::Sign => sum.has_no_signed_wrap(),
            Self::Zero => sum.has_no_unsigned_wrap(),
        }
    }

    fn constant(self, value: Value<'_>) -> Option<i64> {
        let bits = value.ty().int_width().filter(|bits| *bits <= 64)?;
        let (number, shift) = (value.as_u64()?, 64 - bits);
        Some(match self {
            Self::Zero => number as i64,
            Self::None | Self::Sign => ((number << shift) as i64) >> shift,
        })
    }
}
