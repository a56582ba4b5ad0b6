//! What is known of the bits of a number in every thread of a vector.

use kernelmill_llvm::ir::{Opcode, Value};

/// The threads along x of a block at most, as `limits.rs` has it.
const THREADS: u64 = 1024;

/// How deep expressions are looked into.
const DEPTH: u32 = 8;

/// Bits of an unsigned number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    /// So many of the lowest bits are 0 in the first thread of a vector, whichever vector that is.
    pub(super) zeros: u32,
    /// No thread of any vector has a larger number, active or not.
    pub(super) most: u64,
}

impl Bits {
    /// The index along x of vectors of `lanes` threads.
    pub(super) fn of_thread(lanes: u32) -> Self {
        Self { zeros: lanes.trailing_zeros(), most: THREADS - 1 }
    }

    fn anything(width: u32) -> Self {
        Self { zeros: 0, most: all(width) }
    }
}

/// The largest number of so many bits, of 64 at most.
pub(super) fn all(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// What is known of a number; `parameter` says it of those that come from outside, and of others of
/// which it knows more.
pub(super) fn bits<'c>(
    value: Value<'c>,
    parameter: &dyn Fn(Value<'c>) -> Option<Bits>,
) -> Option<Bits> {
    look(value, parameter, DEPTH)
}

fn look<'c>(
    value: Value<'c>,
    parameter: &dyn Fn(Value<'c>) -> Option<Bits>,
    depth: u32,
) -> Option<Bits> {
    let width = value.ty().int_width().filter(|width| *width <= 64)?;
    if let Some(number) = value.as_u64() {
        let number = number & all(width);
        return Some(Bits { zeros: number.trailing_zeros().min(width), most: number });
    }
    let known = parameter(value);
    let nothing = Some(Bits::anything(width));
    if known.is_some() || !value.is_instruction() || depth == 0 {
        return known.or(nothing);
    }
    let operand = |index: u32| look(value.operand(index), parameter, depth - 1);
    let constant = |index: u32| value.operand(index).as_u64();
    let found = match value.opcode() {
        Opcode::ZExt => operand(0)?,
        Opcode::SExt => {
            let inner = operand(0)?;
            let sign = value.operand(0).ty().int_width()? - 1;
            let most = if inner.most >> sign == 0 { inner.most } else { all(width) };
            Bits { zeros: inner.zeros, most }
        }
        Opcode::Trunc => operand(0)?,
        Opcode::And => {
            let (left, right) = (operand(0)?, operand(1)?);
            Bits { zeros: left.zeros.max(right.zeros), most: left.most.min(right.most) }
        }
        Opcode::Or | Opcode::Xor => {
            let (left, right) = (operand(0)?, operand(1)?);
            let used = 64 - (left.most | right.most).leading_zeros();
            Bits { zeros: left.zeros.min(right.zeros), most: all(used) }
        }
        Opcode::Add => {
            let (left, right) = (operand(0)?, operand(1)?);
            let most = left.most.saturating_add(right.most);
            Bits { zeros: left.zeros.min(right.zeros), most }
        }
        Opcode::Sub => {
            let (left, right) = (operand(0)?, operand(1)?);
            Bits { zeros: left.zeros.min(right.zeros), most: u64::MAX }
        }
        Opcode::Mul => {
            let (left, right) = (operand(0)?, operand(1)?);
            let most = left.most.saturating_mul(right.most);
            Bits { zeros: (left.zeros + right.zeros).min(width), most }
        }
        Opcode::Shl => match (operand(0)?, constant(1)) {
            (inner, Some(by)) if by < u64::from(width) => {
                let most = inner.most.saturating_mul(1 << by);
                Bits { zeros: (inner.zeros + by as u32).min(width), most }
            }
            (inner, _) => Bits { zeros: inner.zeros, most: u64::MAX },
        },
        Opcode::LShr => match (operand(0)?, constant(1)) {
            (inner, Some(by)) if by < u64::from(width) => {
                Bits { zeros: inner.zeros.saturating_sub(by as u32), most: inner.most >> by }
            }
            (inner, _) => Bits { zeros: 0, most: inner.most },
        },
        Opcode::UDiv => match (operand(0)?, constant(1)) {
            (inner, Some(by)) if by > 0 => Bits { zeros: 0, most: inner.most / by },
            (inner, _) => Bits { zeros: 0, most: inner.most },
        },
        Opcode::URem => match (operand(0)?, constant(1)) {
            (inner, Some(by)) if by > 0 => Bits { zeros: 0, most: inner.most.min(by - 1) },
            (inner, _) => Bits { zeros: 0, most: inner.most },
        },
        _ => return nothing,
    };
    // What does not fit may have lost its highest bits.
    let fits = found.most <= all(width);
    Some(Bits { zeros: found.zeros.min(width), most: if fits { found.most } else { all(width) } })
}
