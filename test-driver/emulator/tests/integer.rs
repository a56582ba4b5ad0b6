//! Integer and bit instructions against 128-bit arithmetic.

mod common;
#[path = "common/harness.rs"]
mod harness;
#[path = "common/numbers.rs"]
mod numbers;

use harness::Register::{Bits32, Predicate};
use harness::{Register, check, integers, rows};
use numbers::{TYPES, cases, mask, value, wrap};

/// A comparison, with its name.
type Relation = (&'static str, fn(i128, i128) -> bool);

/// Checks an operation of two or three operands of one type for several types.
fn every(operation: &str, operands: usize, widths: &[u32], formula: impl Fn([i128; 3]) -> i128) {
    for (name, bits, signed) in TYPES {
        if !widths.contains(&bits) {
            continue;
        }
        let list = ["$a", "$b", "$c"][..operands].join(", ");
        let text = format!("{operation}.{name} $d, {list};");
        let register = Register::of(bits);
        check(&text, register, &vec![register; operands], &cases(bits), |row| {
            wrap(formula(row.map(|operand| value(operand, bits, signed))), bits)
        });
    }
}

#[test]
fn sums_and_products() {
    every("add", 2, &[16, 32, 64], |[a, b, _]| a + b);
    every("sub", 2, &[16, 32, 64], |[a, b, _]| a - b);
    every("mul.lo", 2, &[16, 32, 64], |[a, b, _]| a.wrapping_mul(b));
    every("mad.lo", 3, &[16, 32, 64], |[a, b, c]| a.wrapping_mul(b).wrapping_add(c));
    every("min", 2, &[16, 32, 64], |[a, b, _]| a.min(b));
    every("max", 2, &[16, 32, 64], |[a, b, _]| a.max(b));
    every("sad", 3, &[16, 32, 64], |[a, b, c]| (a - b).abs() + c);
}

#[test]
fn high_halves() {
    for (name, bits, signed) in TYPES {
        let register = Register::of(bits);
        let high = |a: u64, b: u64| -> u64 {
            let (a, b) = (value(a, bits, signed), value(b, bits, signed));
            // Schoolbook by 32-bit digits, so that 64-bit products need no 256 bits.
            let (a1, a0, b1, b0) = (a >> 32, a & 0xffff_ffff, b >> 32, b & 0xffff_ffff);
            let low = a0 * b0;
            let middle = a1 * b0 + (low >> 32);
            let other = a0 * b1 + (middle & 0xffff_ffff);
            let top = a1 * b1 + (middle >> 32) + (other >> 32);
            let full_low = (other << 32) | (low & 0xffff_ffff);
            if bits == 64 { top as u64 } else { wrap(full_low >> bits, bits) }
        };
        let text = format!("mul.hi.{name} $d, $a, $b;");
        check(&text, register, &[register; 2], &cases(bits), |[a, b, _]| high(a, b));
        let text = format!("mad.hi.{name} $d, $a, $b, $c;");
        check(&text, register, &[register; 3], &cases(bits), |[a, b, c]| {
            high(a, b).wrapping_add(c) & mask(bits)
        });
    }
}

#[test]
fn wide_products() {
    for (name, bits, signed) in &TYPES[..4] {
        let (bits, double) = (*bits, 2 * *bits);
        let (narrow, wide) = (Register::of(bits), Register::of(double));
        let product = |a: u64, b: u64| value(a, bits, *signed) * value(b, bits, *signed);
        let text = format!("mul.wide.{name} $d, $a, $b;");
        check(&text, wide, &[narrow; 2], &cases(bits), |[a, b, _]| wrap(product(a, b), double));
        let (a, c) = (integers(bits, 200, 1), integers(double, 200, 2));
        let text = format!("mad.wide.{name} $d, $a, $b, $c;");
        check(&text, wide, &[narrow, narrow, wide], &rows(&a, &a, &c), |[a, b, c]| {
            wrap(product(a, b) + i128::from(c), double)
        });
    }
}

#[test]
fn products_of_24_bits() {
    for (name, signed) in [("u32", false), ("s32", true)] {
        let product = |a: u64, b: u64| value(a, 24, signed) * value(b, 24, signed);
        let rows = cases(32);
        let text = format!("mul24.lo.{name} $d, $a, $b;");
        check(&text, Bits32, &[Bits32; 2], &rows, |[a, b, _]| wrap(product(a, b), 32));
        let text = format!("mul24.hi.{name} $d, $a, $b;");
        check(&text, Bits32, &[Bits32; 2], &rows, |[a, b, _]| wrap(product(a, b) >> 16, 32));
        let text = format!("mad24.lo.{name} $d, $a, $b, $c;");
        check(&text, Bits32, &[Bits32; 3], &rows, |[a, b, c]| {
            wrap(product(a, b) + i128::from(c), 32)
        });
    }
}

#[test]
fn quotients_and_remainders() {
    for (name, bits, signed) in TYPES {
        let register = Register::of(bits);
        let operands = |row: [u64; 3]| row.map(|operand| value(operand, bits, signed));
        let text = format!("div.{name} $d, $a, $b;");
        check(&text, register, &[register; 2], &cases(bits), |row| match operands(row) {
            [_, 0, _] => mask(bits),
            [a, b, _] => wrap(a / b, bits),
        });
        let text = format!("rem.{name} $d, $a, $b;");
        check(&text, register, &[register; 2], &cases(bits), |row| match operands(row) {
            [a, 0, _] => wrap(a, bits),
            [a, b, _] => wrap(a % b, bits),
        });
    }
}

#[test]
fn saturating_sums() {
    let clamp = |sum: i128| wrap(sum.clamp(i128::from(i32::MIN), i128::from(i32::MAX)), 32);
    let signed = |operand| value(operand, 32, true);
    let rows = cases(32);
    check("add.sat.s32 $d, $a, $b;", Bits32, &[Bits32; 2], &rows, |[a, b, _]| {
        clamp(signed(a) + signed(b))
    });
    check("sub.sat.s32 $d, $a, $b;", Bits32, &[Bits32; 2], &rows, |[a, b, _]| {
        clamp(signed(a) - signed(b))
    });
    check("mad.hi.sat.s32 $d, $a, $b, $c;", Bits32, &[Bits32; 3], &rows, |[a, b, c]| {
        clamp(((signed(a) * signed(b)) >> 32) + signed(c))
    });
}

#[test]
fn signs_and_shifts() {
    for (name, bits, signed) in TYPES {
        let register = Register::of(bits);
        let rows = cases(bits);
        if signed {
            let text = format!("abs.{name} $d, $a;");
            check(&text, register, &[register], &rows, |[a, ..]| {
                wrap(value(a, bits, true).abs(), bits)
            });
            let text = format!("neg.{name} $d, $a;");
            check(&text, register, &[register], &rows, |[a, ..]| wrap(-value(a, bits, true), bits));
        }
        let text = format!("shr.{name} $d, $a, $b;");
        check(&text, register, &[register, Bits32], &rows, |[a, b, _]| {
            let by = (b & mask(32)).min(127);
            wrap(value(a, bits, signed) >> by, bits)
        });
        let text = format!("shl.b{bits} $d, $a, $b;");
        check(&text, register, &[register, Bits32], &rows, |[a, b, _]| {
            let by = b & mask(32);
            if by >= u64::from(bits) { 0 } else { a << by & mask(bits) }
        });
        let text = format!("not.b{bits} $d, $a;");
        check(&text, register, &[register], &rows, |[a, ..]| !a & mask(bits));
        let text = format!("cnot.b{bits} $d, $a;");
        check(&text, register, &[register], &rows, |[a, ..]| u64::from(a == 0));
        for (operation, formula) in [
            ("and", (|a, b| a & b) as fn(u64, u64) -> u64),
            ("or", |a, b| a | b),
            ("xor", |a, b| a ^ b),
        ] {
            let text = format!("{operation}.b{bits} $d, $a, $b;");
            check(&text, register, &[register; 2], &rows, |[a, b, _]| formula(a, b));
        }
    }
}

#[test]
fn carries() {
    let rows = cases(32);
    let text = "add.cc.u32 %i, $a, $b; addc.cc.u32 %j, $b, $c; addc.u32 %k, 0, 0;
        shl.b32 %k, %k, 31; xor.b32 %i, %i, %j; xor.b32 $d, %i, %k;";
    check(text, Bits32, &[Bits32; 3], &rows, |[a, b, c]| {
        let first = a + b;
        let second = b + c + (first >> 32);
        (first ^ second ^ second >> 32 << 31) & mask(32)
    });
    let text =
        "sub.cc.u32 %i, $a, $b; subc.cc.u32 %j, $b, $c; subc.u32 %k, 0, 0; xor.b32 %i, %i, %j;
        xor.b32 $d, %i, %k;";
    check(text, Bits32, &[Bits32; 3], &rows, |[a, b, c]| {
        let [a, b, c] = [a, b, c].map(i128::from);
        let first = a - b;
        let second = b - c - i128::from(first < 0);
        wrap(first ^ second ^ -i128::from(second < 0), 32)
    });
    let text = "mad.lo.cc.u32 %i, $a, $b, $c; madc.hi.u32 %j, $a, $b, 0; xor.b32 $d, %i, %j;";
    check(text, Bits32, &[Bits32; 3], &rows, |[a, b, c]| {
        let sum = a * b + c;
        (sum ^ sum >> 32) & mask(32)
    });
}

#[test]
fn dot_products() {
    let rows = cases(32);
    for (a_type, b_type) in [("u32", "u32"), ("s32", "u32"), ("u32", "s32"), ("s32", "s32")] {
        let byte =
            |operand: u64, lane: u32, name: &str| value(operand >> (8 * lane), 8, name == "s32");
        let text = format!("dp4a.{a_type}.{b_type} $d, $a, $b, $c;");
        check(&text, Bits32, &[Bits32; 3], &rows, |[a, b, c]| {
            let sum: i128 = (0..4).map(|k| byte(a, k, a_type) * byte(b, k, b_type)).sum();
            wrap(sum + i128::from(c), 32)
        });
        let text = format!("dp2a.hi.{a_type}.{b_type} $d, $a, $b, $c;");
        check(&text, Bits32, &[Bits32; 3], &rows, |[a, b, c]| {
            let half = |k: u32| value(a >> (16 * k), 16, a_type == "s32");
            let sum: i128 = (0..2).map(|k| half(k) * byte(b, k + 2, b_type)).sum();
            wrap(sum + i128::from(c), 32)
        });
    }
}

#[test]
fn comparisons() {
    for (name, bits, signed) in TYPES {
        let register = Register::of(bits);
        let names: &[Relation] = &[
            ("eq", |a, b| a == b),
            ("ne", |a, b| a != b),
            ("lt", |a, b| a < b),
            ("le", |a, b| a <= b),
            ("gt", |a, b| a > b),
            ("ge", |a, b| a >= b),
        ];
        for (comparison, formula) in names {
            let holds = |a, b| formula(value(a, bits, signed), value(b, bits, signed));
            let text = format!("setp.{comparison}.{name} $d, $a, $b;");
            check(&text, Predicate, &[register; 2], &cases(bits), |[a, b, _]| {
                u64::from(holds(a, b))
            });
            let text = format!("set.{comparison}.u32.{name} $d, $a, $b;");
            check(&text, Bits32, &[register; 2], &cases(bits), |[a, b, _]| {
                if holds(a, b) { mask(32) } else { 0 }
            });
        }
        let text = format!("setp.lt.xor.{name} %pa|$d, $a, $b, !$c;");
        check(&text, Predicate, &[register, register, Predicate], &cases(bits), |[a, b, c]| {
            let less = value(a, bits, signed) < value(b, bits, signed);
            u64::from(less == (c == 0))
        });
        let text = format!("selp.b{bits} $d, $a, $b, $c;");
        check(&text, register, &[register, register, Predicate], &cases(bits), |[a, b, c]| {
            if c != 0 { a } else { b }
        });
    }
}
