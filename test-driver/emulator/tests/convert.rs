//! `cvt` between integers and floats, in all rounding modes.

mod common;
#[path = "common/harness.rs"]
mod harness;
#[path = "common/numbers.rs"]
mod numbers;

use common::Random;
use harness::Register::{Bits32, Bits64};
use harness::{Register, check, integers};
use numbers::{mask, value};

const INTEGERS: [(&str, u32, bool); 8] = [
    ("u8", 8, false),
    ("s8", 8, true),
    ("u16", 16, false),
    ("s16", 16, true),
    ("u32", 32, false),
    ("s32", 32, true),
    ("u64", 64, false),
    ("s64", 64, true),
];

fn limits(bits: u32, signed: bool) -> (i128, i128) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn one_operand(values: &[u64]) -> Vec<[u64; 3]> {
    values.iter().map(|&value| [value, 0, 0]).collect()
}

#[test]
fn integer_to_integer() {
    for (from, from_bits, from_signed) in INTEGERS {
        for (to, to_bits, to_signed) in INTEGERS {
            let (source, target) = (Register::of(from_bits), Register::of(to_bits));
            let rows = one_operand(&integers(source_bits(from_bits), 300, 1));
            // A register wider than the type takes the extended value.
            let width = source_bits(to_bits);
            let text = format!("cvt.{to}.{from} $d, $a;");
            check(&text, target, &[source], &rows, |[a, ..]| {
                let value = value(a, from_bits, from_signed);
                let low = self::value(value as u64, to_bits, to_signed);
                low as u64 & mask(width)
            });
            // There is no `.sat` where every value is one of the other type.
            let (least, most) = limits(to_bits, to_signed);
            let (first, last) = limits(from_bits, from_signed);
            if least <= first && last <= most {
                continue;
            }
            let text = format!("cvt.sat.{to}.{from} $d, $a;");
            check(&text, target, &[source], &rows, |[a, ..]| {
                value(a, from_bits, from_signed).clamp(least, most) as u64 & mask(width)
            });
        }
    }
}

/// Bytes live in 16-bit registers.
fn source_bits(bits: u32) -> u32 {
    bits.max(16)
}

fn doubles() -> Vec<u64> {
    let mut random = Random::new(31);
    let mut values = vec![
        0.0f64,
        -0.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -1.5,
        -2.5,
        0.49999999999999994,
        1e9,
        -1e9,
        1e300,
        -1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        255.5,
        256.0,
        65535.5,
        4294967295.5,
        2147483647.5,
        -2147483648.5,
        9.223372036854775e18,
        1.8446744073709552e19,
        1e-310,
    ];
    values.extend(
        (0..200).map(|_| (f64::from(random.unit()) - 0.5) * 2f64.powi((random.next() % 70) as i32)),
    );
    values.iter().map(|value| value.to_bits()).collect()
}

/// A value rounded to an integer in a mode.
fn round(value: f64, mode: &str) -> f64 {
    match mode {
        "rni" => {
            let floor = value.floor();
            let rest = value - floor;
            let up = rest > 0.5 || (rest == 0.5 && floor % 2.0 != 0.0);
            if up { floor + 1.0 } else { floor }
        }
        "rzi" => {
            if value < 0.0 {
                value.ceil()
            } else {
                value.floor()
            }
        }
        "rmi" => value.floor(),
        _ => value.ceil(),
    }
}

fn to_integer(value: f64, mode: &str, bits: u32, signed: bool, from_bits: u32) -> u64 {
    if value.is_nan() {
        let special = from_bits == 64 || bits == 64;
        let indefinite = self::value(1 << (bits - 1), bits, signed) as u64;
        return if special { indefinite & mask(source_bits(bits)) } else { 0 };
    }
    let (least, most) = limits(bits, signed);
    (round(value, mode) as i128).clamp(least, most) as u64 & mask(source_bits(bits))
}

#[test]
fn float_to_integer() {
    let doubles = one_operand(&doubles());
    let singles: Vec<u64> =
        doubles.iter().map(|row| u64::from((f64::from_bits(row[0]) as f32).to_bits())).collect();
    let singles = one_operand(&singles);
    for (to, bits, signed) in INTEGERS {
        for mode in ["rni", "rzi", "rmi", "rpi"] {
            let target = Register::of(bits);
            let text = format!("cvt.{mode}.{to}.f64 $d, $a;");
            check(&text, target, &[Bits64], &doubles, |[a, ..]| {
                to_integer(f64::from_bits(a), mode, bits, signed, 64)
            });
            let text = format!("cvt.{mode}.{to}.f32 $d, $a;");
            check(&text, target, &[Bits32], &singles, |[a, ..]| {
                to_integer(f64::from(f32::from_bits(a as u32)), mode, bits, signed, 32)
            });
        }
    }
}

/// The neighbour of the nearest float that a mode wants, for an exact integer.
fn directed(exact: i128, nearest: f64, down: f64, up: f64, mode: &str) -> f64 {
    let nearest_exact = nearest as i128;
    let towards_zero = if exact < 0 { "rp" } else { "rm" };
    match if mode == "rz" { towards_zero } else { mode } {
        "rm" if nearest_exact > exact => down,
        "rp" if nearest_exact < exact => up,
        _ => nearest,
    }
}

#[test]
fn integer_to_float() {
    for (from, bits, signed) in INTEGERS {
        let source = Register::of(bits);
        let rows = one_operand(&integers(source_bits(bits), 300, 2));
        for mode in ["rn", "rz", "rm", "rp"] {
            let text = format!("cvt.{mode}.f32.{from} $d, $a;");
            check(&text, Bits32, &[source], &rows, |[a, ..]| {
                let exact = value(a, bits, signed);
                let nearest = exact as f32;
                let (down, up) = (f64::from(nearest.next_down()), f64::from(nearest.next_up()));
                let result = directed(exact, f64::from(nearest), down, up, mode) as f32;
                u64::from(result.to_bits())
            });
            let text = format!("cvt.{mode}.f64.{from} $d, $a;");
            check(&text, Bits64, &[source], &rows, |[a, ..]| {
                let exact = value(a, bits, signed);
                let nearest = exact as f64;
                directed(exact, nearest, nearest.next_down(), nearest.next_up(), mode).to_bits()
            });
        }
    }
}

#[test]
fn float_to_float() {
    let rows = one_operand(&doubles());
    let nan = |value: f32| if value.is_nan() { 0x7fff_ffff } else { u64::from(value.to_bits()) };
    for mode in ["rn", "rz", "rm", "rp"] {
        check(&format!("cvt.{mode}.f32.f64 $d, $a;"), Bits32, &[Bits64], &rows, |[a, ..]| {
            let value = f64::from_bits(a);
            let nearest = value as f32;
            let error = value - f64::from(nearest);
            let towards_zero = if value < 0.0 { "rp" } else { "rm" };
            let mode = if mode == "rz" { towards_zero } else { mode };
            nan(match mode {
                "rm" if error < 0.0 => nearest.next_down(),
                "rp" if error > 0.0 => nearest.next_up(),
                _ => nearest,
            })
        });
    }
    check("cvt.f64.f32 $d, $a;", Bits64, &[Bits32], &rows, |[a, ..]| {
        let value = f32::from_bits(a as u32);
        if value.is_nan() { 0x7ff8_0000_0000_0000 } else { f64::from(value).to_bits() }
    });
    for mode in ["rni", "rzi", "rmi", "rpi"] {
        let text = format!("cvt.rn.f32.f64 %wa, $a; cvt.{mode}.f32.f32 $d, %wa;");
        check(&text, Bits32, &[Bits64], &rows, |[a, ..]| {
            let value = f64::from_bits(a) as f32;
            let rounded = round(f64::from(value), mode).copysign(f64::from(value));
            nan(if value.is_nan() { value } else { rounded as f32 })
        });
    }
    let text = "cvt.rn.f32.f64 %wa, $a; cvt.sat.f32.f32 $d, %wa;";
    check(text, Bits32, &[Bits64], &rows, |[a, ..]| {
        let value = f64::from_bits(a) as f32;
        nan(if value > 0.0 { value.min(1.0) } else { 0.0 })
    });
}

/// The value of an `e4m3` by its definition, `None` for NaN.
fn e4m3(byte: u64) -> Option<f32> {
    let sign = if byte & 0x80 == 0 { 1.0 } else { -1.0 };
    let (exponent, mantissa) = ((byte >> 3 & 15) as i32, (byte & 7) as f32);
    match (exponent, mantissa) {
        (15, 7.0) => None,
        (0, _) => Some(sign * mantissa * 2f32.powi(-9)),
        _ => Some(sign * (1.0 + mantissa / 8.0) * 2f32.powi(exponent - 7)),
    }
}

#[test]
fn numbers_of_eight_bits() {
    let bytes: Vec<[u64; 3]> = (0..256).map(|byte| [byte, 0, 0]).collect();
    // Every byte to f16 and on to f32, and back to the same byte.
    let text = "cvt.rn.f16x2.e4m3x2 %wa, $a; mov.b32 {%ha, %hb}, %wa; cvt.f32.f16 $d, %ha;";
    check(text, Bits32, &[Register::Bits16], &bytes, |[a, ..]| {
        u64::from(e4m3(a).map_or(0x7fff_ffff, f32::to_bits))
    });
    let text = "cvt.rn.f16x2.e4m3x2 %wa, $a; cvt.rn.satfinite.e4m3x2.f16x2 $d, %wa;";
    check(text, Register::Bits16, &[Register::Bits16], &bytes, |[a, ..]| {
        if a & 0x7f == 0x7f { 0x7f } else { a }
    });
    // A sum half way between two neighbours goes to the even one, and more than 448 saturates.
    let values = [1.0625f32, 1.1875, 447.0, 464.0, 1e9, -1e9, 2f32.powi(-10), 3.0 * 2f32.powi(-10)];
    let expected = [0x38, 0x3a, 0x7e, 0x7e, 0x7e, 0xfe, 0x00, 0x02];
    let rows: Vec<[u64; 3]> = values.iter().map(|v| [u64::from(v.to_bits()), 0, 0]).collect();
    let find = |a: u64| values.iter().position(|v| u64::from(v.to_bits()) == a).unwrap();
    let text = "mov.b32 %wb, 0; cvt.rn.satfinite.e4m3x2.f32 $d, %wb, $a;";
    check(text, Register::Bits16, &[Bits32], &rows, |[a, ..]| expected[find(a)]);
}
