//! Functions of real numbers, and numbers of 16 and 8 bits, on the CPU and the emulator.

use cuda_cpp::{Launch, Source, Value, lower, source};
use half::{bf16, f16};

fn lowered(name: &str) -> Source {
    lower(&source(name)).unwrap_or_else(|error| panic!("{error}"))
}

/// The distance in units of the last place of the expected number as a float.
fn ulps(found: f32, expected: f64) -> f64 {
    let nearest = expected as f32;
    if found == nearest || found.is_nan() && nearest.is_nan() {
        return 0.0;
    }
    let size = nearest.abs().max(f32::MIN_POSITIVE);
    let unit = f64::from(f32::from_bits(size.to_bits() + 1)) - f64::from(size);
    ((f64::from(found) - expected) / unit).abs()
}

/// Name, function in double precision, and the greatest error in units of the last place.
type Function = (&'static str, fn(f64) -> f64, f64);

const SINGLES: [Function; 24] = [
    ("sin", f64::sin, 2.0),
    ("cos", f64::cos, 2.0),
    ("tan", f64::tan, 2.0),
    ("exp", f64::exp, 2.0),
    ("exp2", f64::exp2, 2.0),
    ("log", |x| x.abs().ln(), 2.0),
    ("log2", |x| x.abs().log2(), 2.0),
    ("sqrt", |x| x.abs().sqrt(), 0.5),
    ("tanh", f64::tanh, 2.0),
    ("atan", f64::atan, 2.0),
    ("pow", |x| x.abs().powf(f64::from(1.7_f32)), 2.0),
    ("atan2", |x| x.atan2(2.0), 2.0),
    ("cbrt", f64::cbrt, 2.0),
    ("floor", f64::floor, 0.0),
    ("rint", f64::round_ties_even, 0.0),
    ("round", f64::round, 0.0),
    ("trunc", f64::trunc, 0.0),
    ("fmod", |x| x % 0.75, 0.0),
    ("asinh", f64::asinh, 2.0),
    ("log1p", |x| x.abs().ln_1p(), 2.0),
    ("expm1", f64::exp_m1, 2.0),
    ("rsqrt", |x| 1.0 / x.abs().sqrt(), 2.0),
    ("float2int_rn", f64::round_ties_even, 0.0),
    ("ldexp", |x| x / 8.0, 0.0),
];

#[test]
fn functions_of_floats_are_those_of_rust() {
    let mut x: Vec<f32> = (-40..40).map(|i| i as f32 * 0.37 + 0.013).collect();
    x.extend([0.5, -0.5, 1.5, 2.5, 1e-6, -3e-5, 60.0, -60.0, 1e6]);
    let count = x.len();
    let arguments = [
        Value::floats(&x),
        Value::floats(&vec![0.0; 24 * count]),
        Value::of(i32::try_from(count).unwrap()),
    ];
    for after in lowered("numerics").run("singles", Launch::linear(2, 64), &arguments) {
        for (x, row) in x.iter().zip(after[1].numbers().chunks(24)) {
            for ((name, function, most), found) in SINGLES.iter().zip(row) {
                let expected = function(f64::from(*x));
                let error = ulps(*found, expected);
                assert!(error <= *most, "{name}({x}) is {found}, not {expected}: {error} ulp");
            }
        }
    }
}

/// By mpmath 1.3 with 40 digits: a number x, and then erf, erfc, gamma, log of the size of gamma,
/// the normal distribution, the inverse of erf at x / 8, the cosine of pi x, and the remainder by
/// the double 0.7.
#[expect(clippy::approx_constant, reason = "some are such values, by another way")]
const DOUBLES: [(f64, [f64; 8]); 8] = [
    (
        0.25,
        [
            0.27632639016823696,
            0.7236736098317631,
            3.625609908221908,
            1.2880225246980774,
            0.5987063256829237,
            0.02770167571958433,
            0.7071067811865476,
            0.25,
        ],
    ),
    (
        -0.5,
        [
            -0.5204998778130465,
            1.5204998778130465,
            -3.544907701811032,
            1.2655121234846454,
            0.3085375387259869,
            -0.05544594877278202,
            0.0,
            0.19999999999999996,
        ],
    ),
    (
        1.0,
        [
            0.8427007929497149,
            0.15729920705028513,
            1.0,
            0.0,
            0.8413447460685429,
            0.11123545184094996,
            -1.0,
            0.30000000000000004,
        ],
    ),
    (
        -1.75,
        [
            -0.9866716712191824,
            1.9866716712191825,
            2.7623694538833585,
            1.0160888092144358,
            0.04005915686381709,
            -0.1963567930685118,
            0.7071067811865476,
            0.34999999999999987,
        ],
    ),
    (
        2.5,
        [
            0.999593047982555,
            0.0004069520174449589,
            1.329340388179137,
            0.2846828704729192,
            0.9937903346742238,
            0.28443374892172363,
            0.0,
            -0.2999999999999998,
        ],
    ),
    (
        3.0,
        [
            0.9999779095030014,
            2.209049699858544e-05,
            2.0,
            0.6931471805599453,
            0.9986501019683699,
            0.3456171147832066,
            -1.0,
            0.20000000000000018,
        ],
    ),
    (
        -3.25,
        [
            -0.9999956972205363,
            1.9999956972205364,
            0.5362507279163854,
            -0.6231534513209986,
            0.000577025042390767,
            -0.37717762043393377,
            -0.7071067811865476,
            0.24999999999999978,
        ],
    ),
    (
        5.5,
        [
            0.9999999999999927,
            7.357847917974398e-15,
            52.34277778455352,
            3.9578139676187165,
            0.9999999810104375,
            0.7141708976081284,
            0.0,
            -0.09999999999999964,
        ],
    ),
];

#[test]
fn functions_of_doubles_that_rust_has_not() {
    let words = |numbers: &[f64]| {
        let words = numbers.iter().flat_map(|x| [x.to_bits() as u32, (x.to_bits() >> 32) as u32]);
        Value::Words(words.collect())
    };
    let x: Vec<f64> = DOUBLES.iter().map(|(x, _)| *x).collect();
    let arguments = [words(&x), words(&[0.0; 64]), Value::of(8_i32)];
    for after in lowered("numerics").run("doubles", Launch::linear(1, 8), &arguments) {
        let words = after[1].words().chunks(2);
        let found: Vec<f64> =
            words.map(|w| f64::from_bits(u64::from(w[1]) << 32 | u64::from(w[0]))).collect();
        for ((x, expected), row) in DOUBLES.iter().zip(found.chunks(8)) {
            for (index, (found, expected)) in row.iter().zip(expected).enumerate() {
                // What has zeros inside its range is right to the last places of numbers about 1.
                let size = if [3, 6, 7].contains(&index) { 1.0 } else { 1e-300 };
                let error = (found - expected).abs() / expected.abs().max(size);
                assert!(error < 4e-15, "number {index} of {x} is {found}, not {expected}: {error}");
            }
        }
    }
}

/// PTX ISA, `cvt`: 0 where both types have 32 bits or fewer, the highest bit otherwise.
#[test]
fn what_is_no_number_becomes_the_integer_of_the_isa() {
    let arguments = [Value::floats(&[f32::NAN]), Value::Words(vec![7; 12])];
    for after in lowered("numerics").run("integers", Launch::linear(1, 1), &arguments) {
        let highest = 1 << 31;
        let expected = [0, 0, highest, highest, 0, highest, 0, highest, 0, highest, 0, highest];
        assert_eq!(after[1].words(), expected);
    }
}

#[test]
fn what_is_to_be_rounded_twice_is() {
    // The product is 1 + 2^-11 + 2^-24, whose last part the first rounding drops.
    let (a, c) = (1.0 + f32::EPSILON * 2048.0, -1.0 - f32::EPSILON * 4096.0);
    let arguments = [Value::floats(&[a, a, c]), Value::floats(&[0.0; 2])];
    for after in lowered("numerics").run("rounding", Launch::linear(1, 1), &arguments) {
        assert_eq!(after[1].numbers(), [a * a + c, a.mul_add(a, c)]);
        assert_ne!(a * a + c, a.mul_add(a, c), "the numbers tell the two apart");
    }
}

#[test]
fn every_number_of_16_bits_survives_the_way_through_a_float() {
    let half = lowered("half");
    let as_half = |bits| f16::from_bits(bits).to_f32();
    let as_brain = |bits| bf16::from_bits(bits).to_f32();
    let kernels: [(&str, &dyn Fn(u16) -> f32); 2] = [("halves", &as_half), ("brains", &as_brain)];
    for (kernel, value) in kernels {
        let arguments = [Value::floats(&vec![0.0; 65536]), Value::Words(vec![0; 65536])];
        for after in half.run(kernel, Launch::linear(256, 256), &arguments) {
            let (values, back) = (after[0].numbers(), after[1].words());
            for (bits, (found, back)) in (0..=u16::MAX).zip(values.into_iter().zip(back)) {
                let (expected, again) = (value(bits), *back as u16);
                if expected.is_nan() {
                    assert!(found.is_nan() && value(again).is_nan(), "{kernel}: {bits:#x}");
                } else {
                    let found = (found.to_bits(), again);
                    assert_eq!(found, (expected.to_bits(), bits), "{kernel}: {bits:#x}");
                }
            }
        }
    }
}

#[test]
fn halves_become_the_other_format_and_integers() {
    let half = lowered("half");
    let other = Value::Words(vec![0; 6 << 16]);
    let launch = Launch::linear(1024, 64);
    let integers = |value: f32| {
        // Casts of Rust saturate, and make 0 of what is no number, as CUDA says of these conversions.
        [
            value as i8 as u32,
            value as u8 as u32,
            value as i16 as u32,
            value as i32 as u32,
            value as u32,
        ]
    };
    for after in half.run("converted_halves", launch, std::slice::from_ref(&other)) {
        for (bits, found) in (0..=u16::MAX).zip(after[0].words().chunks(6)) {
            let value = f16::from_bits(bits);
            let brain = bf16::from_bits(found[0] as u16);
            let expected = bf16::from_f32(value.to_f32());
            assert!(brain == expected || value.is_nan() && brain.is_nan(), "{value}: {brain}");
            assert_eq!(found[1..], integers(value.to_f32()), "{value}");
        }
    }
    for after in half.run("converted_brains", launch, std::slice::from_ref(&other)) {
        for (bits, found) in (0..=u16::MAX).zip(after[0].words().chunks(6)) {
            let value = bf16::from_bits(bits);
            let narrow = f16::from_bits(found[0] as u16);
            let expected = f16::from_f32(value.to_f32());
            assert!(narrow == expected || value.is_nan() && narrow.is_nan(), "{value}: {narrow}");
            assert_eq!(found[1..], integers(value.to_f32()), "{value}");
        }
    }
}

/// A number of 8 bits by its definition; `None` is NaN.
fn small(bits: u8, fraction: u32, bias: i32) -> Option<f64> {
    let (size, ones) = (u32::from(bits & 0x7f), (1 << fraction) - 1);
    let (exponent, part) = ((size >> fraction) as i32, f64::from(size & ones));
    if fraction == 3 && size == 0x7f || fraction == 2 && size > 0x7c {
        return None;
    }
    if fraction == 2 && size == 0x7c {
        return Some(f64::INFINITY);
    }
    let part = part / f64::from(ones + 1);
    let value = match exponent {
        0 => part * 2_f64.powi(1 - bias),
        _ => (1.0 + part) * 2_f64.powi(exponent - bias),
    };
    Some(if bits & 0x80 == 0 { value } else { -value })
}

/// The nearest finite number of 8 bits, of two the even one.
fn nearest(x: f32, fraction: u32, bias: i32) -> u8 {
    let sign = if x.is_sign_negative() { 0x80 } else { 0 };
    // Far beyond the greatest, where differences of doubles still tell numbers apart.
    let size = f64::from(x.abs()).min(1e6);
    let distance = |bits: &u8| (small(*bits, fraction, bias).unwrap() - size).abs();
    let finite =
        (0..0x7f_u8).filter(|bits| small(*bits, fraction, bias).is_some_and(f64::is_finite));
    let best =
        finite.min_by(|a, b| distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1))));
    best.unwrap() | sign
}

#[test]
fn narrowing_rounds_to_the_nearest() {
    let mut x: Vec<f32> = (0..2000_u32)
        .map(|i| f32::from_bits(i.wrapping_mul(0x9e37_79b9)))
        .map(|x| if x.is_nan() { 1.0 } else { x })
        .collect();
    // Ties, subnormal numbers and the ends of ranges.
    x.extend((0..500).map(|i| f16::from_bits(i * 63).to_f32() * (1.0 + 1.0 / 2048.0)));
    x.extend([65519.0, 65520.0, 448.0, 464.0, 480.0, 1e-8, 5.9e-8, 2.9e-8, 0.0, -0.0, 57344.0]);
    x.extend((1..64).map(|i| i as f32 / 1024.0));
    let count = x.len();
    let arguments = [
        Value::floats(&x),
        Value::Words(vec![0; 4 * count]),
        Value::of(i32::try_from(count).unwrap()),
    ];
    for after in lowered("half").run("narrow", Launch::linear(41, 64), &arguments) {
        for (x, row) in x.iter().zip(after[1].words().chunks(4)) {
            let expected = [
                u32::from(f16::from_f32(*x).to_bits()),
                u32::from(bf16::from_f32(*x).to_bits()),
                u32::from(nearest(*x, 3, 7)),
                u32::from(nearest(*x, 2, 15)),
            ];
            assert_eq!(row, expected, "{x:e}");
        }
    }
}

#[test]
fn arithmetic_of_halves_is_that_of_the_crate_half() {
    let numbers = |step: u16| -> Vec<f16> {
        let bits = (0..600_u16).map(|i| i.wrapping_mul(step));
        bits.map(f16::from_bits).map(|x| if x.is_nan() { f16::ONE } else { x }).collect()
    };
    let (x, y) = (numbers(2749), numbers(40503));
    let words = |x: &[f16]| {
        let pairs = x.chunks(2);
        pairs.map(|p| u32::from(p[0].to_bits()) | u32::from(p[1].to_bits()) << 16).collect()
    };
    let arguments = [
        Value::Words(words(&x)),
        Value::Words(words(&y)),
        Value::Words(vec![0; 1500]),
        Value::of(300_i32),
    ];
    for after in lowered("half").run("arithmetic", Launch::linear(5, 64), &arguments) {
        for (i, (a, b)) in x.iter().zip(&y).enumerate() {
            let fused = f16::from_f64(a.to_f64() * b.to_f64() + a.to_f64());
            for (k, expected) in [*a + *b, *a - *b, *a * *b, *a / *b, fused].into_iter().enumerate()
            {
                let word = after[2].words()[i / 2 * 5 + k];
                let found = f16::from_bits((word >> (16 * (i % 2))) as u16);
                assert!(
                    found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
                    "operation {k} of {a} and {b} is {found}, not {expected}"
                );
            }
        }
    }
}

#[test]
fn halves_pass_by_value_and_are_added_to_atomically() {
    let step = f16::from_f32(0.125);
    let arguments =
        [Value::Bytes(step.to_le_bytes().to_vec()), Value::Words(vec![0]), Value::Words(vec![0])];
    for after in lowered("half").run("accumulate", Launch::linear(2, 40), &arguments) {
        assert_eq!(after[1].words(), [u32::from(f16::from_f32(10.0).to_bits())]);
        assert_eq!(after[2].words(), [u32::from(bf16::from_f32(10.0).to_bits())]);
    }
}

#[test]
fn remainders_are_exact_however_large_the_quotient() {
    let mut x = vec![5.5, -5.5, 1e30, 3e38, -7.0, 16_777_219.0, 1e-40, f32::INFINITY, 2.0, 0.0];
    let mut y = vec![2.0, 2.0, 0.3, 1e-40, -7.0, 0.5, 1e-45, 2.0, f32::INFINITY, 0.0];
    x.extend((0..90).map(|i| (i * 7919 % 1000) as f32 * 1e4));
    y.extend((0..90).map(|i| (i + 1) as f32 * 1e-3));
    let n = x.len();
    let arguments = [
        Value::floats(&x),
        Value::floats(&y),
        Value::floats(&vec![0.0; n]),
        Value::Words(vec![0; 2 * n]),
        Value::of(n as i32),
    ];
    let is_same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    for after in lowered("numerics").run("remainders", Launch::linear(4, 32), &arguments) {
        let (singles, wide) = (after[2].numbers(), after[3].words());
        for (i, (x, y)) in x.iter().zip(&y).enumerate() {
            let (single, exact) = (singles[i], x % y);
            assert!(
                is_same(single.into(), exact.into()),
                "{x:e} % {y:e} is {single:e}, not {exact:e}"
            );
            let bits = u64::from(wide[2 * i]) | u64::from(wide[2 * i + 1]) << 32;
            let (double, exact) = (f64::from_bits(bits), f64::from(*x) * 1e9 % f64::from(*y));
            assert!(is_same(double, exact), "{x:e} * 1e9 % {y:e} is {double:e}, not {exact:e}");
        }
    }
}

#[test]
fn two_and_four_numbers_of_8_bits_are_as_each_alone() {
    // Multiples of 2^-3 up to 16, which halves have too.
    let x: Vec<f32> =
        (0..128).map(|i| (i as f32 - 64.0) / 8.0 * if i % 3 == 0 { 2.0 } else { 1.0 }).collect();
    let words = x.iter().map(|x| x.to_bits()).collect();
    let arguments = [Value::Words(words), Value::Words(vec![0; 320]), Value::Words(vec![0; 256])];
    for after in lowered("half").run("fours", Launch::linear(1, 32), &arguments) {
        let [_, Value::Words(out), Value::Words(back)] = &after[..] else { panic!("{after:?}") };
        for (i, found) in out.chunks(5).enumerate() {
            assert!(found.iter().all(|it| *it == found[0]), "{i}: {found:x?}");
        }
        // 448 is the greatest of 4 bits of exponent; 8 numbers between two powers of two, or 4.
        for (x, back) in x.chunks(4).zip(back.chunks(8)) {
            let is_near = |x: f32, back: u32, steps: f32| {
                let distance = (x - f32::from_bits(back)).abs();
                distance <= x.abs().log2().floor().exp2() / steps / 2.0
            };
            assert!(x.iter().zip(&back[..4]).all(|(x, back)| is_near(*x, *back, 8.0)), "{x:?}");
            assert!(x.iter().zip(&back[4..]).all(|(x, back)| is_near(*x, *back, 4.0)), "{x:?}");
        }
    }
}

#[test]
fn doubles_are_rounded_to_8_bits_once() {
    // 1.0625 lies between 1 (0x38) and 1.125 (0x39); as floats its neighbours are the same number.
    let above = 1.0625 + f64::powi(2.0, -40);
    let below = 1.1875 - f64::powi(2.0, -40);
    let x =
        [1.0625, above, -above, 1.1875, below, 1e300, f64::powi(2.0, -10) + f64::powi(2.0, -60)];
    let words = x.iter().flat_map(|x| [x.to_bits() as u32, (x.to_bits() >> 32) as u32]).collect();
    let arguments = [Value::Words(words), Value::Words(vec![0; x.len()])];
    let block = u32::try_from(x.len()).unwrap();
    for after in lowered("half").run("double_to_eight", Launch::linear(1, block), &arguments) {
        let [_, Value::Words(out)] = &after[..] else { panic!("{after:?}") };
        assert_eq!(out[..], [0x38, 0x39, 0xb9, 0x3a, 0x39, 0x7e, 0x01]);
    }
}
