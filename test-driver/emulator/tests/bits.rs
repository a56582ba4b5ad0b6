//! Bit fields, permutations and counts against loops over single bits.

mod common;
#[path = "common/harness.rs"]
mod harness;
#[path = "common/numbers.rs"]
mod numbers;

use harness::Register::Bits32;
use harness::{Register, check, integers, rows};
use numbers::{TYPES, cases, mask, value, wrap};

#[test]
fn counts_of_bits() {
    for bits in [32, 64] {
        let register = Register::of(bits);
        let rows = cases(bits);
        let digits = move |a: u64| (0..bits).map(move |bit| a >> bit & 1);
        check(&format!("popc.b{bits} $d, $a;"), Bits32, &[register], &rows, |[a, ..]| {
            digits(a).sum()
        });
        check(&format!("clz.b{bits} $d, $a;"), Bits32, &[register], &rows, |[a, ..]| {
            digits(a).rev().take_while(|&digit| digit == 0).count() as u64
        });
        check(&format!("brev.b{bits} $d, $a;"), register, &[register], &rows, |[a, ..]| {
            digits(a).fold(0, |all, digit| all << 1 | digit)
        });
        let highest = move |a: u64| digits(a).rposition(|digit| digit == 1);
        check(&format!("bfind.u{bits} $d, $a;"), Bits32, &[register], &rows, move |[a, ..]| {
            highest(a).map_or(mask(32), |bit| bit as u64)
        });
        let text = format!("bfind.shiftamt.s{bits} $d, $a;");
        check(&text, Bits32, &[register], &rows, move |[a, ..]| {
            let value = value(a, bits, true);
            let magnitude = if value < 0 { !value } else { value };
            highest(magnitude as u64).map_or(mask(32), |bit| u64::from(bits) - 1 - bit as u64)
        });
    }
}

#[test]
fn bit_fields() {
    for (name, bits, signed) in &TYPES[2..] {
        let (bits, register) = (*bits, Register::of(*bits));
        let values = integers(bits, 200, 3);
        let small: Vec<u64> = (0..80).chain([128, 255, 256]).collect();
        let rows = rows(&values, &small, &small);
        let text = format!("bfe.{name} $d, $a, $b, $c;");
        check(&text, register, &[register, Bits32, Bits32], &rows, |[a, b, c]| {
            let (start, length) = ((b & 255) as u32, (c & 255) as u32);
            let at = |bit: u32| a >> bit & 1;
            let last = (start + length).saturating_sub(1).min(bits - 1);
            let sign = if *signed && length > 0 { at(last) } else { 0 };
            (0..bits)
                .map(|bit| {
                    let inside = bit < length && start + bit < bits;
                    (if inside { at(start + bit) } else { sign }) << bit
                })
                .sum()
        });
        let text = format!("bfi.b{bits} $d, $a, {}, $b, $c;", 0x5555);
        check(&text, register, &[register, Bits32, Bits32], &rows, |[a, b, c]| {
            let (start, length) = ((b & 255) as u32, (c & 255) as u32);
            (0..bits)
                .map(|bit| {
                    let inside = bit >= start && bit < start + length;
                    (if inside { a >> (bit - start) & 1 } else { 0x5555 >> bit & 1 }) << bit
                })
                .sum()
        });
    }
}

#[test]
fn permutations_and_funnels() {
    let rows = cases(32);
    let bytes =
        |a: u64, b: u64| -> Vec<u64> { (0..8).map(|k| (b << 32 | a) >> (8 * k) & 255).collect() };
    check("prmt.b32 $d, $a, $b, $c;", Bits32, &[Bits32; 3], &rows, |[a, b, c]| {
        (0..4)
            .map(|lane| {
                let selector = c >> (4 * lane) & 15;
                let byte = bytes(a, b)[selector as usize & 7];
                let byte = if selector & 8 == 0 {
                    byte
                } else if byte >= 128 {
                    255
                } else {
                    0
                };
                byte << (8 * lane)
            })
            .sum()
    });
    for (mode, wraps) in [("wrap", true), ("clamp", false)] {
        let by = |c: u64| if wraps { c % 32 } else { c.min(32) };
        check(
            &format!("shf.l.{mode}.b32 $d, $a, $b, $c;"),
            Bits32,
            &[Bits32; 3],
            &rows,
            |[a, b, c]| (u128::from(b << 32 | a) << by(c) >> 32) as u64 & mask(32),
        );
        check(
            &format!("shf.r.{mode}.b32 $d, $a, $b, $c;"),
            Bits32,
            &[Bits32; 3],
            &rows,
            |[a, b, c]| (b << 32 | a) >> by(c) & mask(32),
        );
    }
    for table in [0x00, 0x1b, 0x80, 0x96, 0xca, 0xe8, 0xff] {
        check(
            &format!("lop3.b32 $d, $a, $b, $c, {table};"),
            Bits32,
            &[Bits32; 3],
            &rows,
            |[a, b, c]| {
                (0..32)
                    .map(|bit| {
                        let row = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1;
                        (table >> row & 1) << bit
                    })
                    .sum()
            },
        );
    }
}

#[test]
fn masks_and_nth_bits() {
    let rows = cases(32);
    check("fns.b32 $d, $a, $b, $c;", Bits32, &[Bits32; 3], &rows, |[a, b, c]| {
        let (base, offset) = ((b & 31) as i64, c as i32 as i64);
        let (mut at, mut left, step) = (base, offset.abs(), if offset < 0 { -1 } else { 1 });
        if offset == 0 {
            return if a >> base & 1 == 1 { base as u64 } else { mask(32) };
        }
        while (0..32).contains(&at) {
            left -= (a >> at & 1) as i64;
            if left == 0 {
                return at as u64;
            }
            at += step;
        }
        mask(32)
    });
    check("bmsk.clamp.b32 $d, $a, $b;", Bits32, &[Bits32; 2], &rows, |[a, b, _]| {
        (0..32)
            .filter(|&bit| bit >= a && bit < a.saturating_add(b.min(32)))
            .map(|bit| 1 << bit)
            .sum()
    });
    check("szext.clamp.s32 $d, $a, $b;", Bits32, &[Bits32; 2], &rows, |[a, b, _]| {
        if b == 0 { 0 } else { wrap(value(a, b.min(32) as u32, true), 32) }
    });
}
