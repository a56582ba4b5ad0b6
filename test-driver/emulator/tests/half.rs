//! Instructions of `f16` and `bf16` against their definitions.

mod common;
#[path = "common/harness.rs"]
mod harness;
#[path = "common/singles.rs"]
mod singles;

use common::Random;
use harness::Register::{Bits16, Bits32, Predicate};
use harness::{check, rows};
use singles::{bits, f, single_rows, singles};

/// The value of an `f16`, by its definition.
fn half(bits: u64) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, mantissa) = ((bits >> 10 & 31) as i32, (bits & 0x3ff) as f64);
    match exponent {
        0 => sign * mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1.0 + mantissa / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// The `f16` nearest to a value, found among all of them.
fn to_half(value: f64) -> u64 {
    if value.is_nan() {
        return 0x7fff;
    }
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    let (mut low, mut high) = (0u64, 0x7bff);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if half(middle) <= magnitude { low = middle } else { high = middle - 1 }
    }
    let (below, above) = (magnitude - half(low), half(low + 1) - magnitude);
    let up = low < 0x7bff && (above < below || (above == below && low & 1 == 1));
    sign | (low + u64::from(up))
}

#[test]
fn arithmetic_of_f16() {
    let mut random = Random::new(26);
    let mut values: Vec<u64> =
        vec![0, 0x8000, 0x3c00, 0xbc00, 0x7bff, 0x7c00, 0xfc00, 0x7fff, 1, 0x3ff];
    values.extend((0..300).map(|_| random.next() & 0xffff));
    values.extend((0..300).map(|_| 0x3000 + random.next() % 0x1000));
    let rows = rows(&values, &values, &values);
    check("add.f16 $d, $a, $b;", Bits16, &[Bits16; 2], &rows, |[a, b, _]| {
        to_half(half(a) + half(b))
    });
    check("sub.f16 $d, $a, $b;", Bits16, &[Bits16; 2], &rows, |[a, b, _]| {
        to_half(half(a) - half(b))
    });
    check("mul.f16 $d, $a, $b;", Bits16, &[Bits16; 2], &rows, |[a, b, _]| {
        to_half(half(a) * half(b))
    });
    check("fma.rn.f16 $d, $a, $b, $c;", Bits16, &[Bits16; 3], &rows, |[a, b, c]| {
        // The product is exact in `f64`. A sum that is not has its error's sign kept by an odd last bit.
        let (product, addend) = (half(a) * half(b), half(c));
        let sum = product + addend;
        let part = sum - product;
        let error = (product - (sum - part)) + (addend - part);
        let away = error != 0.0 && sum.is_finite() && sum.to_bits() & 1 == 0;
        let up = (error > 0.0) == (sum > 0.0);
        let odd = if away {
            sum.to_bits().wrapping_add(if up { 1 } else { u64::MAX })
        } else {
            sum.to_bits()
        };
        to_half(f64::from_bits(odd))
    });
    let pair = |a: u64, b: u64| a | b << 16;
    check(
        "mov.b32 %wa, {$a, $b}; mov.b32 %wb, {$c, $a}; add.rn.f16x2 $d, %wa, %wb;",
        Bits32,
        &[Bits16; 3],
        &rows,
        |[a, b, c]| pair(to_half(half(a) + half(c)), to_half(half(b) + half(a))),
    );
    check("setp.lt.f16 $d, $a, $b;", Predicate, &[Bits16; 2], &rows, |[a, b, _]| {
        u64::from(half(a) < half(b))
    });
    check("cvt.f32.f16 $d, $a;", Bits32, &[Bits16], &rows, |[a, ..]| bits(half(a) as f32));
    let wide = single_rows();
    check("cvt.rn.f16.f32 $d, $a;", Bits16, &[Bits32], &wide, |[a, ..]| to_half(f64::from(f(a))));
    check("cvt.rn.f16x2.f32 $d, $a, $b;", Bits32, &[Bits32; 2], &wide, |[a, b, _]| {
        pair(to_half(f64::from(f(b))), to_half(f64::from(f(a))))
    });
}

#[test]
fn arithmetic_of_bf16() {
    let wide = |a: u64| f((a & 0xffff) << 16);
    let narrow = |value: f32| -> u64 {
        if value.is_nan() {
            return 0x7fff;
        }
        let bits = value.to_bits();
        u64::from((bits + 0x7fff + (bits >> 16 & 1)) >> 16)
    };
    let values: Vec<u64> = singles().iter().map(|bits| bits >> 16).collect();
    let rows = rows(&values, &values, &values);
    check("mul.bf16 $d, $a, $b;", Bits16, &[Bits16; 2], &rows, |[a, b, _]| {
        // The product has 16 bits; only one that is subnormal in `f32` would round twice.
        narrow(wide(a) * wide(b))
    });
    check("cvt.f32.bf16 $d, $a;", Bits32, &[Bits16], &rows, |[a, ..]| bits(wide(a)));
    let singles = single_rows();
    check("cvt.rn.bf16.f32 $d, $a;", Bits16, &[Bits32], &singles, |[a, ..]| narrow(f(a)));
    check("cvt.rn.bf16x2.f32 $d, $a, $b;", Bits32, &[Bits32; 2], &singles, |[a, b, _]| {
        narrow(f(a)) << 16 | narrow(f(b))
    });
}
