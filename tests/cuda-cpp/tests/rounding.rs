//! Arithmetic that is not rounded to the nearest, against the processor's own modes of rounding, and lengths, quotients
//! and complex numbers, on the CPU and the emulator.

use cuda_cpp::{Launch, Source, Value, lower, source};

fn lowered() -> Source {
    lower(&source("rounding")).unwrap_or_else(|error| panic!("{error}"))
}

fn doubles(values: impl IntoIterator<Item = f64>) -> Value {
    let words = values.into_iter().flat_map(|value| {
        let bits = value.to_bits();
        [bits as u32, (bits >> 32) as u32]
    });
    Value::Words(words.collect())
}

fn as_doubles(value: &Value) -> Vec<f64> {
    let pairs = value.words().chunks(2);
    pairs.map(|pair| f64::from_bits(u64::from(pair[1]) << 32 | u64::from(pair[0]))).collect()
}

/// x86's modes of rounding, in the order of the kernels' results.
#[cfg(target_arch = "x86_64")]
mod processor {
    use std::arch::asm;

    pub(crate) const DOWN: u32 = 1;
    pub(crate) const UP: u32 = 2;
    pub(crate) const INWARDS: u32 = 3;
    /// All exceptions masked, and rounding to the nearest.
    const USUAL: u32 = 0x1f80;

    macro_rules! operations {
        ($($name:ident: $instruction:literal, $number:ty;)*) => { $(
            pub(crate) fn $name(mode: u32, x: $number, y: $number) -> $number {
                let (wanted, mut result) = (USUAL | mode << 13, x);
                // SAFETY: the mode of rounding is again what it was when the block ends.
                unsafe {
                    asm!("ldmxcsr [{wanted}]", concat!($instruction, " {result}, {y}"), "ldmxcsr [{usual}]",
                        wanted = in(reg) &wanted, usual = in(reg) &USUAL,
                        result = inout(xmm_reg) result, y = in(xmm_reg) y);
                }
                result
            }
        )* };
    }
    operations! {
        add_f32: "addss", f32; subtract_f32: "subss", f32; multiply_f32: "mulss", f32;
        divide_f32: "divss", f32; root_f32: "sqrtss", f32;
        add_f64: "addsd", f64; subtract_f64: "subsd", f64; multiply_f64: "mulsd", f64;
        divide_f64: "divsd", f64; root_f64: "sqrtsd", f64;
    }

    macro_rules! fused {
        ($($name:ident: $instruction:literal, $number:ty;)*) => { $(
            /// Only where the processor has the instruction.
            pub(crate) fn $name(mode: u32, x: $number, y: $number, z: $number) -> $number {
                let (wanted, mut result) = (USUAL | mode << 13, x);
                // SAFETY: the mode of rounding is again what it was when the block ends; callers have asked
                // for the instruction.
                unsafe {
                    asm!("ldmxcsr [{wanted}]", concat!($instruction, " {result}, {y}, {z}"), "ldmxcsr [{usual}]",
                        wanted = in(reg) &wanted, usual = in(reg) &USUAL,
                        result = inout(xmm_reg) result, y = in(xmm_reg) y, z = in(xmm_reg) z);
                }
                result
            }
        )* };
    }
    fused! { fused_f32: "vfmadd213ss", f32; fused_f64: "vfmadd213sd", f64; }

    pub(crate) fn narrow(mode: u32, x: f64) -> f32 {
        let (wanted, result): (u32, f32);
        wanted = USUAL | mode << 13;
        // SAFETY: the mode of rounding is again what it was when the block ends.
        unsafe {
            asm!("ldmxcsr [{wanted}]", "cvtsd2ss {result}, {x}", "ldmxcsr [{usual}]",
                wanted = in(reg) &wanted, usual = in(reg) &USUAL, result = out(xmm_reg) result, x = in(xmm_reg) x);
        }
        result
    }

    pub(crate) fn of_integer(mode: u32, x: i64) -> f32 {
        let (wanted, result): (u32, f32);
        wanted = USUAL | mode << 13;
        // SAFETY: the mode of rounding is again what it was when the block ends.
        unsafe {
            asm!("ldmxcsr [{wanted}]", "cvtsi2ss {result}, {x}", "ldmxcsr [{usual}]",
                wanted = in(reg) &wanted, usual = in(reg) &USUAL, result = out(xmm_reg) result, x = in(reg) x);
        }
        result
    }
}

/// Numbers at all borders, and random ones, some of them near to each other.
#[cfg(target_arch = "x86_64")]
fn triples<T: Copy>(special: &[T], random: impl Fn(u64) -> T) -> Vec<[T; 3]> {
    let mut triples = Vec::new();
    for (i, x) in special.iter().enumerate() {
        for (j, y) in special.iter().enumerate() {
            triples.push([*x, *y, special[(3 * i + 5 * j) % special.len()]]);
        }
    }
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random(state >> 8 ^ state << 40)
    };
    triples.extend((0..600).map(|_| [next(), next(), next()]));
    triples
}

#[test]
#[cfg(target_arch = "x86_64")]
fn operations_on_floats_are_rounded_in_each_direction() {
    use processor as p;
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.000_000_1,
        0.333_333_34,
        f32::MIN_POSITIVE,
        f32::from_bits(1),
        -f32::from_bits(3),
        f32::MAX,
        f32::MIN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        16_777_216.0,
        3e-30,
    ];
    let random = |bits: u64| {
        f32::from_bits(bits as u32 & 0x83ff_ffff | (60 + (bits >> 32) as u32 % 8) << 24)
    };
    let triples = triples(&special, random);
    let input = Value::floats(triples.as_flattened());
    let count = triples.len();
    let output = Value::Words(vec![0; 18 * count]);
    let launch = Launch::linear(count.div_ceil(64) as u32, 64);
    let has_fused = std::arch::is_x86_feature_detected!("fma");
    for after in lowered().run("rounded_floats", launch, &[input, output, Value::of(count as i32)])
    {
        let found = after[1].numbers();
        for (&[x, y, z], found) in triples.iter().zip(found.chunks(18)) {
            for (mode, found) in [p::DOWN, p::UP, p::INWARDS].into_iter().zip(found.chunks(6)) {
                let fused = if has_fused { p::fused_f32(mode, x, y, z) } else { found[3] };
                let expected = [
                    p::add_f32(mode, x, y),
                    p::subtract_f32(mode, x, y),
                    p::multiply_f32(mode, x, y),
                    fused,
                    p::divide_f32(mode, x, y),
                    p::root_f32(mode, x, x),
                ];
                for (which, (found, expected)) in found.iter().zip(expected).enumerate() {
                    let same = found.to_bits() == expected.to_bits()
                        || found.is_nan() && expected.is_nan();
                    assert!(
                        same,
                        "mode {mode}, {which} of {x:e} {y:e} {z:e}: {found:e}, not {expected:e}"
                    );
                }
            }
        }
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn operations_on_doubles_are_rounded_in_each_direction() {
    use processor as p;
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.000_000_000_000_000_2,
        1.0 / 3.0,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        -f64::from_bits(3),
        f64::MAX,
        f64::MIN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        3e-160,
        7e-310,
    ];
    let random =
        |bits: u64| f64::from_bits(bits & 0x800f_ffff_ffff_ffff | (1010 + (bits >> 52) % 16) << 52);
    let triples = triples(&special, random);
    let input = doubles(triples.as_flattened().iter().copied());
    let count = triples.len();
    let output = Value::Words(vec![0; 36 * count]);
    let launch = Launch::linear(count.div_ceil(64) as u32, 64);
    let has_fused = std::arch::is_x86_feature_detected!("fma");
    for after in lowered().run("rounded_doubles", launch, &[input, output, Value::of(count as i32)])
    {
        let found = as_doubles(&after[1]);
        for (&[x, y, z], found) in triples.iter().zip(found.chunks(18)) {
            for (mode, found) in [p::DOWN, p::UP, p::INWARDS].into_iter().zip(found.chunks(6)) {
                let size = (x * y).abs();
                let within = size > 1e-280 && size < 1e300 && z.abs() < 1e300;
                let fused =
                    if has_fused && within { p::fused_f64(mode, x, y, z) } else { found[3] };
                let expected = [
                    p::add_f64(mode, x, y),
                    p::subtract_f64(mode, x, y),
                    p::multiply_f64(mode, x, y),
                    fused,
                    p::divide_f64(mode, x, y),
                    p::root_f64(mode, x, x),
                ];
                for (which, (found, expected)) in found.iter().zip(expected).enumerate() {
                    let same = found.to_bits() == expected.to_bits()
                        || found.is_nan() && expected.is_nan();
                    assert!(
                        same,
                        "mode {mode}, {which} of {x:e} {y:e} {z:e}: {found:e}, not {expected:e}"
                    );
                }
            }
        }
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn conversions_to_float_are_rounded_in_each_direction() {
    use processor as p;
    let reals =
        [0.1, -0.1, 1e300, -1e300, 1e-300, -1e-300, f64::INFINITY, 16_777_217.0, 3.0, 1e-46];
    let whole = [
        i64::MAX,
        i64::MIN,
        16_777_217,
        -16_777_217,
        0,
        1 << 60,
        (1 << 60) + 1,
        i64::MAX - (1 << 30),
        -5,
        7,
    ];
    let integers =
        Value::Words(whole.iter().flat_map(|x| [*x as u32, (*x >> 32) as u32]).collect());
    let arguments = [doubles(reals), integers, Value::Words(vec![0; 60]), Value::of(10_i32)];
    for after in lowered().run("narrowed", Launch::linear(1, 32), &arguments) {
        let found = after[2].numbers();
        for ((x, whole), found) in reals.iter().zip(whole).zip(found.chunks(6)) {
            let modes = [p::DOWN, p::UP, p::INWARDS];
            let expected = modes.map(|mode| p::narrow(mode, *x));
            assert_eq!(found[..3], expected, "{x:e}");
            assert_eq!(found[3..], modes.map(|mode| p::of_integer(mode, whole)), "{whole}");
        }
    }
}

#[test]
fn lengths_neither_overflow_nor_vanish() {
    let vectors =
        [[3.0_f32, 4.0, 12.0, 84.0], [3e30, 4e30, 12e30, 84e30], [3e-30, 4e-30, 12e-30, 84e-30]];
    let arguments = [Value::floats(vectors.as_flattened()), Value::Words(vec![0; 21])];
    for after in lowered().run("lengths", Launch::linear(1, 3), &arguments) {
        for (scale, found) in [1.0_f32, 1e30, 1e-30].into_iter().zip(after[1].numbers().chunks(7)) {
            let expected = [13.0, 85.0, 85.0, 1.0 / 13.0, 13.0, 85.0, 3.0];
            for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
                let scale = [scale, scale, scale, 1.0 / scale, scale, scale, 1.0][index];
                assert!(
                    (found / scale - expected).abs() < 1e-5 * expected,
                    "{index} at {scale:e}: {found:e}"
                );
            }
        }
    }
}

#[test]
fn remainders_come_with_the_last_bits_of_the_quotient() {
    let cases = [
        (5.0_f32, 3.0, -1.0_f32, 2),
        (-5.0, 3.0, 1.0, -2),
        (5.0, -3.0, -1.0, -2),
        (29.0, 3.0, -1.0, 10 & 7),
        (1e10, 7.0, 4.0 - 7.0, (1_428_571_429 & 7)),
        (2.0, f32::MAX, 2.0, 0),
        (0.5, 1.0, 0.5, 0),
        (1.5, 1.0, -0.5, 2),
    ];
    let column =
        |pick: fn(&(f32, f32, f32, i32)) -> f32| Value::floats(&cases.each_ref().map(pick));
    let arguments =
        [column(|it| it.0), column(|it| it.1), Value::Words(vec![0; 8]), Value::Words(vec![0; 8])];
    for after in lowered().run("quotients", Launch::linear(1, 8), &arguments) {
        let (rests, bits) = (after[2].numbers(), after[3].words());
        for (index, (x, y, rest, quotient)) in cases.into_iter().enumerate() {
            assert_eq!((rests[index], bits[index] as i32), (rest, quotient), "{x} by {y}");
        }
    }
}

#[test]
fn complex_numbers_of_the_toolkit_are_multiplied_and_divided() {
    let left = [1.0_f32, 2.0, -3.0, 0.5, 3e30, 4e30];
    let right = [3.0_f32, -1.0, 0.25, 2.0, 6e30, 8e30];
    let arguments = [Value::floats(&left), Value::floats(&right), Value::Words(vec![0; 24])];
    for after in lowered().run("complexes", Launch::linear(1, 3), &arguments) {
        let found = after[2].numbers();
        let expected = [5.0, 5.0, 0.1, 0.7, 5.0_f32.sqrt(), -2.0, 6.0, 7.0];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6 * expected.abs(), "{found} is not {expected}");
        }
        // No part of the way is greater than what it leads to.
        assert!((found[18] - 0.5).abs() < 1e-6 && found[19].abs() < 1e-6, "{found:?}");
        assert!((found[20] / 5e30 - 1.0).abs() < 1e-6, "{found:?}");
    }
}

#[test]
fn products_of_24_bits_are_cut_to_32() {
    let arguments =
        [Value::Words(vec![46_341, 7, 0x7f_ffff, 0xff00_0003]), Value::Words(vec![0; 8])];
    for after in lowered().run("squares", Launch::linear(1, 4), &arguments) {
        let expected = [46_341 * 46_341, 49, 0xff00_0001, 9];
        for (found, expected) in after[1].words().chunks(2).zip(expected) {
            assert_eq!(found, [expected, u32::from((expected as i32) < 0)]);
        }
    }
}
