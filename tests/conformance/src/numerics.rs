//! Checks of the kernel package `kernels/numerics`.

use crate::{
    Check, Context, Outcome,
    compare::{between, close},
};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] = &[
    Check::new("error_function", error_function),
    Check::new("exponential", exponential),
    Check::new("through_half", through_half),
    Check::new("rotate_points", rotate_points),
    Check::new("roots", roots),
    Check::new("fused", fused),
    Check::new("carried", carried),
    Check::new("divided", divided),
    Check::new("encrypted", encrypted),
];

/// Words of all kinds.
fn words() -> impl Iterator<Item = u64> {
    let edges = [0, 1, 2, u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1];
    let mixed = (1..500_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (i % 40));
    edges.into_iter().chain(mixed)
}

fn carried(on: &Context) -> Outcome {
    let words: Vec<u64> = words().collect();
    let of = |i: usize| words[i * i % words.len()];
    let x: Vec<[u64; 4]> = (0..1000).map(|i| [of(i), of(i + 1), of(i + 5), of(i / 2)]).collect();
    let there = on.device.upload(&x)?;
    let mut y = on.device.zeros(x.len())?;
    on.kernels.carried(&on.stream, Launch::linear(x.len()), &there, &mut y)?;
    let wide = |low: u64, high: u64| u128::from(high) << 64 | u128::from(low);
    let expected = x.iter().map(|[a, b, c, d]| {
        let (x, y) = (wide(*a, *b), wide(*c, *d));
        let ((sum, carry), (difference, borrow)) = (x.overflowing_add(y), x.overflowing_sub(y));
        let flags = u64::from(carry) << 1 | u64::from(borrow);
        [sum as u64, (sum >> 64) as u64, difference as u64, (difference >> 64) as u64, flags]
    });
    crate::compare::same(&y.download()?, &expected.collect::<Vec<_>>())
}

fn divided(on: &Context) -> Outcome {
    let words: Vec<u64> = words().collect();
    let of = |i: usize| words[i * i % words.len()];
    let x = (0..1000).map(|i| [of(i), of(i + 1), of(i + 3).max(1)]);
    let x: Vec<[u64; 3]> = x.map(|[high, low, divisor]| [high % divisor, low, divisor]).collect();
    let there = on.device.upload(&x)?;
    let mut y = on.device.zeros(x.len())?;
    on.kernels.divided(&on.stream, Launch::linear(x.len()), &there, &mut y)?;
    let expected = x.iter().map(|[high, low, divisor]| {
        let (dividend, divisor) =
            (u128::from(*high) << 64 | u128::from(*low), u128::from(*divisor));
        [(dividend / divisor) as u64, (dividend % divisor) as u64]
    });
    crate::compare::same(&y.download()?, &expected.collect::<Vec<_>>())
}

/// Numbers of all sizes, whose squares are finite in single precision.
fn spread() -> Vec<f64> {
    (0..200).map(|i| f64::from(i * i % 97 + 1) * 1.1_f64.powi(i - 100)).collect()
}

fn roots(on: &Context) -> Outcome {
    let x = spread();
    let there = on.device.upload(&x)?;
    let (mut y, mut z) = (on.device.zeros(x.len())?, on.device.zeros(x.len())?);
    on.kernels.roots(&on.stream, Launch::linear(x.len()), &there, &mut y, &mut z)?;
    let expected: Vec<f64> = x.iter().map(|x| x.sqrt()).collect();
    crate::compare::same(&y.download()?, &expected)?;
    let expected: Vec<f32> = x.iter().map(|x| (*x as f32).sqrt()).collect();
    crate::compare::same(&z.download()?, &expected)
}

fn fused(on: &Context) -> Outcome {
    let x = spread();
    let there = on.device.upload(&x)?;
    let (mut y, mut z) = (on.device.zeros(x.len())?, on.device.zeros(x.len())?);
    on.kernels.fused(&on.stream, Launch::linear(x.len()), &there, &mut y, &mut z)?;
    // Not by `mul_add`, which rounds twice in the C library of MinGW.
    let expected: Vec<f64> =
        x.iter().map(|x| libm::fma(*x, *x, (-x * x).round_ties_even())).collect();
    crate::compare::same(&y.download()?, &expected)?;
    let x = x.iter().map(|x| *x as f32);
    let expected: Vec<f32> = x.map(|x| libm::fmaf(x, x, (-x * x).round_ties_even())).collect();
    crate::compare::same(&z.download()?, &expected)
}

fn error_function(on: &Context) -> Outcome {
    // Values of the error function to fifteen digits.
    let table = [
        (0.0, 0.0),
        (0.5, 0.520_499_877_813_046_5),
        (1.0, 0.842_700_792_949_714_9),
        (2.0, 0.995_322_265_018_952_7),
        (-1.0, -0.842_700_792_949_714_9),
        (6.5, 1.0),
    ];
    let mut y = on.device.upload(&table.map(|(x, _)| x))?;
    on.kernels.error_function(&on.stream, Launch::linear(table.len()), &mut y)?;
    close(&y.download()?, &table.map(|(_, y)| y), 1e-14)
}

/// Each way through the function: tiny, small, reduced once and often, too large, too small.
fn exponential(on: &Context) -> Outcome {
    let x = [1e-300, -1e-17, 0.2, -0.5, 1.0, -40.0, 700.0, 720.0, -720.0, -740.0, -760.0];
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let x = [&x[..], &special].concat();
    let mut y = on.device.upload(&x)?;
    on.kernels.exponential(&on.stream, Launch::linear(x.len()), &mut y)?;
    let expected: Vec<f64> = x.iter().map(|x| x.exp()).collect();
    let (y, finite) = (y.download()?, |value: &f64| value.is_finite());
    let of = |values: &[f64], wanted| -> Vec<f64> {
        values.iter().copied().filter(|value| finite(value) == wanted).collect()
    };
    close(&of(&y, true), &of(&expected, true), 1e-14)?;
    let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    crate::compare::same(&bits(of(&y, false)), &bits(of(&expected, false)))
}

fn through_half(on: &Context) -> Outcome {
    // Halves between 1024 and 2048 are whole numbers; ties go to the even one.
    let pairs = [
        (0.0, 0.0),
        (1.0, 1.0),
        (-2.5, -2.5),
        (1025.4, 1025.0),
        (1026.5, 1026.0),
        (1027.5, 1028.0),
        (1e6, f32::INFINITY),
        (65504.0, 65504.0),
        (6.0e-8, 5.960_464_5e-8),
    ];
    let mut y = on.device.upload(&pairs.map(|(x, _)| x))?;
    on.kernels.through_half(&on.stream, Launch::linear(pairs.len()), &mut y)?;
    crate::compare::same(&y.download()?, &pairs.map(|(_, y)| y))
}

fn rotate_points(on: &Context) -> Outcome {
    // Tiny, in each of the first quadrants, of both signs, and so large that all digits of pi count.
    let angles =
        [1e-40, 1e-5, 0.7, 1.9, 3.0, 5.0, 6.0, -1.9, -3.0, -5.0, -6.0, 40.0, 1e7, 1e9, -3e30];
    angles.into_iter().try_for_each(|angle| rotate_by(on, angle))
}

fn rotate_by(on: &Context, angle: f32) -> Outcome {
    let values = between(61, -5.0, 5.0, 300);
    let points = values.as_chunks::<3>().0.to_vec();
    let mut output = on.device.upload(&points)?;
    on.kernels.rotate_points(&on.stream, Launch::linear(points.len()), angle, &mut output)?;
    // Rodrigues' formula about (1, 2, 2) / 3, in double precision. By `libm`: the C library of MinGW-w64 does
    // not reduce large angles.
    let (axis, (sin, cos)) = ([1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], libm::sincos(f64::from(angle)));
    let rotate = |p: &[f32; 3]| {
        let p = p.map(f64::from);
        let along: f64 = (0..3).map(|i| axis[i] * p[i]).sum();
        [0, 1, 2].map(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let cross = axis[j] * p[k] - axis[k] * p[j];
            (p[i] * cos + cross * sin + axis[i] * along * (1.0 - cos)) as f32
        })
    };
    let expected: Vec<f32> = points.iter().flat_map(rotate).collect();
    close(output.download()?.as_flattened(), &expected, 1e-5)
}

/// FIPS 197, appendices B and C.1.
fn encrypted(on: &Context) -> Outcome {
    let bytes = |text: u128| text.to_be_bytes();
    let rows = [
        (
            0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c,
            0x3243_f6a8_885a_308d_3131_98a2_e037_0734,
            0x3925_841d_02dc_09fb_dc11_8597_196a_0b32,
        ),
        (
            0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f,
            0x0011_2233_4455_6677_8899_aabb_ccdd_eeff,
            0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a,
        ),
    ];
    for (key, text, expected) in rows {
        let mut blocks = on.device.upload(&[bytes(text); 3])?;
        on.kernels.encrypted(&on.stream, Launch::linear(3), bytes(key), &mut blocks)?;
        crate::compare::same(&blocks.download()?, &[bytes(expected); 3])?;
    }
    Ok(())
}
