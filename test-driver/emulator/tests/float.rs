//! Floating-point instructions against the host's arithmetic; directed roundings against the sign of
//! the error of the rounded result.

mod common;
#[path = "common/harness.rs"]
mod harness;
#[path = "common/singles.rs"]
mod singles;

use common::Random;
use harness::Register::{Bits32, Bits64, Predicate};
use harness::{check, rows};
use singles::{bits, f, single_rows};
use std::cmp::Ordering;

/// A function of two numbers, with its name.
type Binary<T> = (&'static str, fn(T, T) -> T);
/// A function of one number, with its name.
type Unary<T> = (&'static str, fn(T) -> T);
/// A comparison, with its name.
type Relation<T> = (&'static str, fn(T, T) -> bool);
/// A test of a number, with its name.
type Property<T> = (&'static str, fn(T) -> bool);

fn doubles() -> Vec<u64> {
    let edges = [
        0.0f64,
        -0.0,
        1.0,
        -1.0,
        0.1,
        1.5,
        2.5,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::from_bits(1),
        f64::EPSILON,
    ];
    let mut random = Random::new(22);
    let mut values: Vec<u64> = edges.iter().map(|edge| edge.to_bits()).collect();
    values.extend((0..150).map(|_| random.next()));
    values.extend((0..150).map(|_| (f64::from(random.unit()) * 8.0 - 4.0).to_bits()));
    values
}

/// Pairs of `f32` in 64 bits.
fn wide_rows() -> Vec<[u64; 3]> {
    let rotated = |row: &[u64; 3]| [row[0] | row[1] << 32, row[1] | row[0] << 32, 0];
    single_rows().iter().map(rotated).collect()
}

fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn double_bits(value: f64) -> u64 {
    if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() }
}

fn flush(value: f32) -> f32 {
    if value.is_subnormal() { 0f32.copysign(value) } else { value }
}

fn saturate(value: f32) -> f32 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) + 0.0 }
}

#[test]
fn arithmetic_of_f32() {
    let operations: [Binary<f32>; 4] = [
        ("add", |a, b| a + b),
        ("sub", |a, b| a - b),
        ("mul", |a, b| a * b),
        ("div.rn", |a, b| a / b),
    ];
    let rows = single_rows();
    for (name, formula) in operations {
        check(&format!("{name}.f32 $d, $a, $b;"), Bits32, &[Bits32; 2], &rows, |[a, b, _]| {
            bits(formula(f(a), f(b)))
        });
        let text = format!("{name}.ftz.f32 $d, $a, $b;");
        check(&text, Bits32, &[Bits32; 2], &rows, |[a, b, _]| {
            bits(flush(formula(flush(f(a)), flush(f(b)))))
        });
        if name != "div.rn" {
            let text = format!("{name}.sat.f32 $d, $a, $b;");
            check(&text, Bits32, &[Bits32; 2], &rows, |[a, b, _]| {
                bits(saturate(formula(f(a), f(b))))
            });
        }
    }
    check("fma.rn.f32 $d, $a, $b, $c;", Bits32, &[Bits32; 3], &rows, |[a, b, c]| {
        bits(f(a).mul_add(f(b), f(c)))
    });
    check("sqrt.rn.f32 $d, $a;", Bits32, &[Bits32], &rows, |[a, ..]| bits(f(a).sqrt()));
    check("rcp.rn.f32 $d, $a;", Bits32, &[Bits32], &rows, |[a, ..]| bits(1.0 / f(a)));
}

#[test]
fn arithmetic_of_f64() {
    let rows = rows(&doubles(), &doubles(), &doubles());
    let operations: [Binary<f64>; 4] = [
        ("add.rn", |a, b| a + b),
        ("sub", |a, b| a - b),
        ("mul", |a, b| a * b),
        ("div.rn", |a, b| a / b),
    ];
    for (name, formula) in operations {
        check(&format!("{name}.f64 $d, $a, $b;"), Bits64, &[Bits64; 2], &rows, |[a, b, _]| {
            double_bits(formula(d(a), d(b)))
        });
    }
    check("fma.rn.f64 $d, $a, $b, $c;", Bits64, &[Bits64; 3], &rows, |[a, b, c]| {
        double_bits(d(a).mul_add(d(b), d(c)))
    });
    check("sqrt.rn.f64 $d, $a;", Bits64, &[Bits64], &rows, |[a, ..]| double_bits(d(a).sqrt()));
}

/// Moves a result rounded to nearest to the side of the exact value that the mode wants. `error` has
/// the sign of the exact value minus `nearest`.
fn directed(nearest: f64, error: f64, mode: &str) -> f64 {
    let up = match mode {
        "rp" => true,
        "rm" => false,
        _ => nearest < 0.0 || (nearest == 0.0 && error < 0.0),
    };
    if error > 0.0 && up {
        nearest.next_up()
    } else if error < 0.0 && !up {
        nearest.next_down()
    } else {
        nearest
    }
}

/// Numbers whose sums, products and quotients neither overflow nor underflow.
fn moderate() -> Vec<u64> {
    let mut random = Random::new(23);
    let mut number = || {
        let exponent = 1023 - 40 + random.next() % 80;
        random.next() & 0x800f_ffff_ffff_ffff | exponent << 52
    };
    (0..400).map(|_| number()).collect()
}

#[test]
fn directed_roundings_of_f64() {
    let values = moderate();
    let rows = rows(&values, &values, &values);
    for mode in ["rz", "rm", "rp"] {
        let text = format!("add.{mode}.f64 $d, $a, $b;");
        check(&text, Bits64, &[Bits64; 2], &rows, |[a, b, _]| {
            let (a, b) = (d(a), d(b));
            let sum = a + b;
            let part = sum - a;
            let error = (a - (sum - part)) + (b - part);
            directed(sum, error, mode).to_bits()
        });
        let text = format!("mul.{mode}.f64 $d, $a, $b;");
        check(&text, Bits64, &[Bits64; 2], &rows, |[a, b, _]| {
            let product = d(a) * d(b);
            directed(product, d(a).mul_add(d(b), -product), mode).to_bits()
        });
        let text = format!("div.{mode}.f64 $d, $a, $b;");
        check(&text, Bits64, &[Bits64; 2], &rows, |[a, b, _]| {
            let quotient = d(a) / d(b);
            let error = (-quotient).mul_add(d(b), d(a)) * d(b).signum();
            directed(quotient, error, mode).to_bits()
        });
        let text = format!("abs.f64 %qb, $a; sqrt.{mode}.f64 $d, %qb;");
        check(&text, Bits64, &[Bits64], &rows, |[a, ..]| {
            let root = d(a).abs().sqrt();
            directed(root, (-root).mul_add(root, d(a).abs()), mode).to_bits()
        });
    }
}

/// The `f32` on the side of a wide value that the mode wants.
fn narrowed(value: f64, mode: &str) -> f32 {
    let nearest = value as f32;
    let error = value - f64::from(nearest);
    let up = match mode {
        "rp" => true,
        "rm" => false,
        _ => value < 0.0,
    };
    if error > 0.0 && up {
        nearest.next_up()
    } else if error < 0.0 && !up {
        nearest.next_down()
    } else {
        nearest
    }
}

#[test]
fn directed_roundings_of_f32() {
    let mut random = Random::new(24);
    let values: Vec<u64> = (0..400)
        .map(|_| (random.next() & 0x807f_ffff) | (127 - 10 + random.next() % 20) << 23)
        .collect();
    let rows = rows(&values, &values, &values);
    for mode in ["rz", "rm", "rp"] {
        // With these exponents, sums and products are exact in `f64`.
        check(&format!("add.{mode}.f32 $d, $a, $b;"), Bits32, &[Bits32; 2], &rows, |[a, b, _]| {
            let sum = f64::from(f(a)) + f64::from(f(b));
            if sum == 0.0 {
                return if mode == "rm" { 0x8000_0000 } else { 0 };
            }
            bits(narrowed(sum, mode))
        });
        check(&format!("mul.{mode}.f32 $d, $a, $b;"), Bits32, &[Bits32; 2], &rows, |[a, b, _]| {
            bits(narrowed(f64::from(f(a)) * f64::from(f(b)), mode))
        });
    }
}

#[test]
fn minima_and_maxima() {
    let rows = single_rows();
    let least = |a: f32, b: f32| match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == b => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ => {
            if a < b {
                a
            } else {
                b
            }
        }
    };
    check("min.f32 $d, $a, $b;", Bits32, &[Bits32; 2], &rows, |[a, b, _]| bits(least(f(a), f(b))));
    check("max.f32 $d, $a, $b;", Bits32, &[Bits32; 2], &rows, |[a, b, _]| {
        bits(-least(-f(a), -f(b)))
    });
    check("min.NaN.f32 $d, $a, $b;", Bits32, &[Bits32; 2], &rows, |[a, b, _]| {
        let either = f(a).is_nan() || f(b).is_nan();
        bits(if either { f32::NAN } else { least(f(a), f(b)) })
    });
    check("max.f32 $d, $a, $b, $c;", Bits32, &[Bits32; 3], &rows, |[a, b, c]| {
        bits(-least(least(-f(a), -f(b)), -f(c)))
    });
    check("add.rn.f32x2 $d, $a, $b;", Bits64, &[Bits64; 2], &wide_rows(), |[a, b, _]| {
        bits(f(a) + f(b)) | bits(f(a >> 32) + f(b >> 32)) << 32
    });
    check("abs.f32 $d, $a;", Bits32, &[Bits32], &rows, |[a, ..]| a & 0x7fff_ffff);
    check("neg.f32 $d, $a;", Bits32, &[Bits32], &rows, |[a, ..]| a ^ 0x8000_0000);
    check("copysign.f32 $d, $a, $b;", Bits32, &[Bits32; 2], &rows, |[a, b, _]| {
        u64::from(f(b).copysign(f(a)).to_bits())
    });
}

#[test]
fn comparisons() {
    let rows = single_rows();
    let names: [Relation<f32>; 14] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| matches!(a.partial_cmp(&b), Some(Ordering::Less | Ordering::Greater))),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
        ("equ", |a, b| matches!(a.partial_cmp(&b), None | Some(Ordering::Equal))),
        ("neu", |a, b| a != b),
        ("ltu", |a, b| matches!(a.partial_cmp(&b), None | Some(Ordering::Less))),
        ("leu", |a, b| a.partial_cmp(&b) != Some(Ordering::Greater)),
        ("gtu", |a, b| matches!(a.partial_cmp(&b), None | Some(Ordering::Greater))),
        ("geu", |a, b| a.partial_cmp(&b) != Some(Ordering::Less)),
        ("num", |a, b| !a.is_nan() && !b.is_nan()),
        ("nan", |a, b| a.is_nan() || b.is_nan()),
    ];
    for (name, formula) in names {
        let text = format!("setp.{name}.f32 $d, $a, $b;");
        check(&text, Predicate, &[Bits32; 2], &rows, |[a, b, _]| u64::from(formula(f(a), f(b))));
        let text = format!("set.{name}.ftz.f32.f32 $d, $a, $b;");
        check(&text, Bits32, &[Bits32; 2], &rows, |[a, b, _]| {
            bits(if formula(flush(f(a)), flush(f(b))) { 1.0 } else { 0.0 })
        });
    }
    let tests: [Property<f32>; 6] = [
        ("finite", f32::is_finite),
        ("infinite", f32::is_infinite),
        ("number", |a| !a.is_nan()),
        ("notanumber", f32::is_nan),
        ("normal", |a| a.is_normal() || a == 0.0),
        ("subnormal", f32::is_subnormal),
    ];
    for (name, formula) in tests {
        check(&format!("testp.{name}.f32 $d, $a;"), Predicate, &[Bits32], &rows, |[a, ..]| {
            u64::from(formula(f(a)))
        });
    }
    check("slct.b32.f32 $d, $a, $b, $c;", Bits32, &[Bits32; 3], &rows, |[a, b, c]| {
        if f(c) >= 0.0 { a } else { b }
    });
}

#[test]
fn approximations_are_close() {
    let functions: [Unary<f64>; 7] = [
        ("ex2.approx", f64::exp2),
        ("lg2.approx", f64::log2),
        ("sin.approx", f64::sin),
        ("cos.approx", f64::cos),
        ("tanh.approx", f64::tanh),
        ("rsqrt.approx", |x| 1.0 / x.sqrt()),
        ("rcp.approx", |x| 1.0 / x),
    ];
    let mut random = Random::new(25);
    let rows: Vec<[u64; 3]> =
        (0..500).map(|_| [u64::from((random.unit() * 20.0 + 0.01).to_bits()), 0, 0]).collect();
    for (name, formula) in functions {
        let flush = if name == "tanh.approx" { "" } else { ".ftz" };
        check(&format!("{name}{flush}.f32 $d, $a;"), Bits32, &[Bits32], &rows, |[a, ..]| {
            bits(formula(f64::from(f(a))) as f32)
        });
    }
}
