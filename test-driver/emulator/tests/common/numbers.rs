//! Integers of registers, by the width and sign of an instruction's type.
#![allow(dead_code, reason = "each test uses some of it")]

use super::harness::{integers, rows};

/// The types that most instructions take: name, width and sign.
pub(super) const TYPES: [(&str, u32, bool); 6] = [
    ("u16", 16, false),
    ("s16", 16, true),
    ("u32", 32, false),
    ("s32", 32, true),
    ("u64", 64, false),
    ("s64", 64, true),
];

/// The low bits of a register.
pub(super) fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// The value of the low bits.
pub(super) fn value(register: u64, bits: u32, signed: bool) -> i128 {
    let low = i128::from(register & mask(bits));
    if signed && low >> (bits - 1) & 1 == 1 { low - (1 << bits) } else { low }
}

/// The low bits that a value has.
pub(super) fn wrap(value: i128, bits: u32) -> u64 {
    value as u64 & mask(bits)
}

/// Operands of three registers.
pub(super) fn cases(bits: u32) -> Vec<[u64; 3]> {
    let values = integers(bits, 200, u64::from(bits));
    rows(&values, &values, &values)
}
