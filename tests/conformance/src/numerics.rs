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
];

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
    let expected: Vec<f64> = x.iter().map(|x| x.mul_add(*x, (-x * x).round_ties_even())).collect();
    crate::compare::same(&y.download()?, &expected)?;
    let x = x.iter().map(|x| *x as f32);
    let expected: Vec<f32> = x.map(|x| x.mul_add(x, (-x * x).round_ties_even())).collect();
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
