//! Checks of `kernels/written.rs`.

use crate::{Check, Context, Outcome, compare::same, kernels::Span};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] = &[
    Check::new("scaled_f32", scaled_f32),
    Check::new("scaled_i64", scaled_i64),
    Check::new("scaled_u32", scaled_u32),
    Check::new("within_span", within_span),
];

/// More than the threads of a few blocks.
const N: usize = 300;

fn scaled_f32(on: &Context) -> Outcome {
    let x: Vec<[f32; 4]> = (0..N).map(|i| [0, 1, 2, 3].map(|row| (4 * i + row) as f32)).collect();
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<[f32; 4]>(N)?);
    on.kernels.scaled_f32(&on.stream, Launch::linear(N), 0.5, &input, &mut output)?;
    let expected: Vec<_> = x.iter().map(|row| row.map(|x| x * 3.0 + 0.5)).collect();
    same(&output.download()?, &expected)
}

fn scaled_i64(on: &Context) -> Outcome {
    let x: Vec<[i64; 4]> = (0..N as i64).map(|i| [i, -i, i << 33, 7]).collect();
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<[i64; 4]>(N)?);
    on.kernels.scaled_i64(&on.stream, Launch::linear(N), -9, &input, &mut output)?;
    let expected: Vec<_> = x.iter().map(|row| row.map(|x| x * -3 - 9)).collect();
    same(&output.download()?, &expected)
}

fn scaled_u32(on: &Context) -> Outcome {
    let x: Vec<[u32; 4]> = (0..N as u32).map(|i| [i, i + 1, i * i, 3]).collect();
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<[u32; 4]>(N)?);
    on.kernels.scaled_u32(&on.stream, Launch::linear(N), 11, &input, &mut output)?;
    let expected: Vec<_> = x.iter().map(|row| row.map(|x| x * 5 + 11)).collect();
    same(&output.download()?, &expected)
}

fn within_span(on: &Context) -> Outcome {
    let x: Vec<f32> = (0..N).map(|i| i as f32 / 8.0).collect();
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(N)?);
    let span = Span { low: 5.0, high: 20.25 };
    let launch = Launch::linear_in_blocks(N, 64);
    on.kernels.within_span(&on.stream, launch, span, &input, &mut output)?;
    let expected: Vec<_> = x.iter().map(|x| u32::from(span.low <= *x && *x < span.high)).collect();
    same(&output.download()?, &expected)
}
