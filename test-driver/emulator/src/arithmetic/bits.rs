//! Shifts, bit fields and permutations.

use super::integer::Integer;

#[inline(always)]
pub(crate) fn and(a: u64, b: u64) -> u64 {
    a & b
}

#[inline(always)]
pub(crate) fn or(a: u64, b: u64) -> u64 {
    a | b
}

#[inline(always)]
pub(crate) fn xor(a: u64, b: u64) -> u64 {
    a ^ b
}

/// The complement of the low bits of the type.
#[inline(always)]
pub(crate) fn not<T: Integer>(a: u64) -> u64 {
    T::of(!a).register()
}

pub(crate) fn not_predicate(a: u64) -> u64 {
    a & 1 ^ 1
}

/// Logical negation: 1 for zero, else 0.
pub(crate) fn is_zero<T: Integer>(a: u64) -> u64 {
    u64::from(T::of(a).register() == 0)
}

/// Whether a word of 32 bits has a bit: 1 where it has, else 0.
#[inline(always)]
pub(crate) fn has_bit(a: u64) -> u64 {
    u64::from(a as u32 != 0)
}

/// Shifts past the width give zero.
#[inline(always)]
pub(crate) fn shift_left<T: Integer>(a: u64, b: u64) -> u64 {
    let by = b as u32;
    if by >= T::BITS { 0 } else { T::of(a << by).register() }
}

/// Signed types shift copies of the sign in, past the width as well.
#[inline(always)]
pub(crate) fn shift_right<T: Integer>(a: u64, b: u64) -> u64 {
    let by = (b as u32).min(T::BITS);
    T::narrow(T::of(a).wide() >> by).register()
}

fn funnel(a: u64, b: u64) -> u64 {
    u64::from(b as u32) << 32 | u64::from(a as u32)
}

fn clamp_shift<const WRAP: bool>(c: u64) -> u32 {
    if WRAP { c as u32 & 31 } else { (c as u32).min(32) }
}

/// The high half of `b:a` shifted left.
pub(crate) fn funnel_left<const WRAP: bool>(a: u64, b: u64, c: u64) -> u64 {
    let by = clamp_shift::<WRAP>(c);
    (u128::from(funnel(a, b)) << by >> 32) as u64 & 0xffff_ffff
}

/// The low half of `b:a` shifted right.
pub(crate) fn funnel_right<const WRAP: bool>(a: u64, b: u64, c: u64) -> u64 {
    funnel(a, b) >> clamp_shift::<WRAP>(c) & 0xffff_ffff
}

/// Any function of three bits, given by its table.
#[inline(always)]
pub(crate) fn lookup_3(a: u64, b: u64, c: u64, table: u32) -> u64 {
    let mut result = 0u32;
    let (a, b, c) = (a as u32, b as u32, c as u32);
    for row in 0..8u32 {
        let pick = |bit: u32, value: u32| if row & bit != 0 { value } else { !value };
        if table >> row & 1 == 1 {
            result |= pick(4, a) & pick(2, b) & pick(1, c);
        }
    }
    u64::from(result)
}

/// `bfe`: `c` bits of `a` from bit `b`, sign-extended for signed types.
pub(crate) fn extract<T: Integer>(a: u64, b: u64, c: u64) -> u64 {
    let (start, length) = (b as u32 & 0xff, c as u32 & 0xff);
    if length == 0 {
        return 0;
    }
    let highest = (start + length - 1).min(T::BITS - 1);
    let signed = T::of(u64::MAX).wide() < 0;
    let sign = signed && T::of(a).register() >> highest & 1 == 1;
    let field = T::of(a).register() as u128;
    let field = if start >= T::BITS { 0 } else { field >> start };
    let kept = length.min(T::BITS.saturating_sub(start)).min(T::BITS);
    let mask = (1u128 << kept) - 1;
    let filled = if sign { field & mask | !mask } else { field & mask };
    T::of(filled as u64).register()
}

/// `bfi`: the low `d` bits of `a` put into `b` at bit `c`.
pub(crate) fn insert<T: Integer>(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let (start, length) = (c as u32 & 0xff, d as u32 & 0xff);
    if start >= T::BITS {
        return T::of(b).register();
    }
    let length = length.min(T::BITS - start);
    let mask = ((1u128 << length) - 1) << start;
    let field = u128::from(T::of(a).register()) << start;
    let merged = u128::from(b) & !mask | field & mask;
    T::of(merged as u64).register()
}

/// `bmsk`: `b` ones from bit `a`.
pub(crate) fn mask<const WRAP: bool>(a: u64, b: u64) -> u64 {
    let limit = |value: u64| if WRAP { value as u32 & 31 } else { (value as u32).min(32) };
    let ones = (1u64 << limit(b)) - 1;
    ones << limit(a) & 0xffff_ffff
}

/// `szext`: the low `b` bits of `a`, extended.
pub(crate) fn extend<T: Integer, const WRAP: bool>(a: u64, b: u64) -> u64 {
    let length = if WRAP { b as u32 & 31 } else { (b as u32).min(32) };
    if length == 0 {
        return 0;
    }
    let raised = T::of(a << (32 - length));
    T::narrow(raised.wide() >> (32 - length)).register()
}

fn byte(a: u64, b: u64, index: u64) -> u64 {
    funnel(a, b) >> (8 * (index & 7)) & 0xff
}

fn gather(pick: impl Fn(u64) -> u64) -> u64 {
    (0..4).map(|lane| pick(lane) << (8 * lane)).sum()
}

/// `prmt`: four bytes of `b:a` by the nibbles of `c`, of which the highest bit copies the sign.
pub(crate) fn permute(a: u64, b: u64, c: u64) -> u64 {
    gather(|lane| {
        let selector = c >> (4 * lane) & 15;
        let value = byte(a, b, selector);
        match selector & 8 {
            0 => value,
            _ => (value >> 7) * 0xff,
        }
    })
}

/// `prmt.f4e`
pub(crate) fn permute_forward(a: u64, b: u64, c: u64) -> u64 {
    gather(|lane| byte(a, b, (c & 3) + lane))
}

/// `prmt.b4e`
pub(crate) fn permute_backward(a: u64, b: u64, c: u64) -> u64 {
    gather(|lane| byte(a, b, (c & 3).wrapping_sub(lane)))
}

/// `prmt.rc8`
pub(crate) fn permute_replicate(a: u64, b: u64, c: u64) -> u64 {
    gather(|_| byte(a, b, c & 3))
}

/// `prmt.ecl`
pub(crate) fn permute_clamp_left(a: u64, b: u64, c: u64) -> u64 {
    gather(|lane| byte(a, b, lane.max(c & 3)))
}

/// `prmt.ecr`
pub(crate) fn permute_clamp_right(a: u64, b: u64, c: u64) -> u64 {
    gather(|lane| byte(a, b, lane.min(c & 3)))
}

/// `prmt.rc16`
pub(crate) fn permute_replicate_half(a: u64, b: u64, c: u64) -> u64 {
    gather(|lane| byte(a, b, (c & 1) * 2 + (lane & 1)))
}

pub(crate) fn population<T: Integer>(a: u64) -> u64 {
    u64::from(T::of(a).register().count_ones())
}

pub(crate) fn leading_zeros<T: Integer>(a: u64) -> u64 {
    u64::from(T::of(a).register().leading_zeros() + T::BITS - 64)
}

pub(crate) fn reverse<T: Integer>(a: u64) -> u64 {
    T::of(a).register().reverse_bits() >> (64 - T::BITS)
}

/// `bfind`: the highest bit that differs from the sign, all ones for none; with `SHIFT` the shift
/// that brings it to the top.
pub(crate) fn find<T: Integer, const SHIFT: bool>(a: u64) -> u64 {
    let value = T::of(a);
    let value = if value.wide() < 0 { not::<T>(a) } else { value.register() };
    match value.checked_ilog2() {
        None => 0xffff_ffff,
        Some(bit) if SHIFT => u64::from(T::BITS - 1 - bit),
        Some(bit) => u64::from(bit),
    }
}

/// `fns`: the `offset`-th set bit of `mask` from `base` on, downwards for negative offsets.
pub(crate) fn find_nth(mask: u64, base: u64, offset: u64) -> u64 {
    let (mask, base, offset) = (mask as u32, base as u32 & 31, offset as i32);
    if offset == 0 {
        return if mask >> base & 1 == 1 { u64::from(base) } else { 0xffff_ffff };
    }
    let set = |bit: &u32| mask >> bit & 1 == 1;
    let nth = offset.unsigned_abs() as usize - 1;
    let found = if offset > 0 {
        (base..32).filter(set).nth(nth)
    } else {
        (0..=base).rev().filter(set).nth(nth)
    };
    found.map_or(0xffff_ffff, u64::from)
}
