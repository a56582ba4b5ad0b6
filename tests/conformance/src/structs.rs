//! Checks of `kernels/structs.rs`.

use crate::{
    Check, Context, Outcome,
    compare::same,
    kernels::{Combine, Length, Pair, Sign, Step, Wide},
};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] = &[
    Check::new("structs_by_value", by_value),
    Check::new("structs_in_slices", in_slices),
    Check::new("enums_cross", enums),
    Check::new("scalars", scalars),
    Check::new("größe", without_bytes),
];

fn wide(seed: u8) -> Wide {
    let v = f32::from(seed);
    Wide {
        flag: seed,
        scale: f64::from(v) * 0.5,
        table: [[v, 1.0], [2.0, v + 3.0], [4.0, v * 8.0]],
        pair: Pair { a: v + 0.25, b: u32::from(seed) + 7 },
        tail: -i16::from(seed),
    }
}

fn by_value(on: &Context) -> Outcome {
    let mut output = on.device.zeros::<f64>(6)?;
    let pair = Pair { a: 1.5, b: 3 };
    let launch = Launch::linear(6);
    on.kernels.structs_by_value(&on.stream, launch, pair, wide(4), -100, &mut output)?;
    let value = |i: usize| {
        let row = wide(4).table[i % 3];
        1.5 * 3.0 + 4.0 * 2.0 + f64::from(row[0] - row[1]) + 4.25 * 11.0 - 4.0 - 100.0
    };
    same(&output.download()?, &(0..6).map(value).collect::<Vec<_>>())
}

fn in_slices(on: &Context) -> Outcome {
    let x: Vec<Wide> = (1..=50).map(wide).collect();
    let y: Vec<Pair> = (1..=50).map(|i| Pair { a: i as f32, b: i }).collect();
    let (input, mut output) = (on.device.upload(&x)?, on.device.upload(&y)?);
    on.kernels.structs_in_slices(&on.stream, Launch::linear(50), &input, &mut output)?;
    let value = |(x, y): (&Wide, &Pair)| {
        let a = y.a + (x.table[2][1] + x.scale as f32);
        let b = y.b.wrapping_mul(x.pair.b).wrapping_add(u32::from(x.flag));
        (a, b.wrapping_add(x.tail as u32))
    };
    let actual: Vec<_> = output.download()?.iter().map(|pair| (pair.a, pair.b)).collect();
    same(&actual, &x.iter().zip(&y).map(value).collect::<Vec<_>>())
}

fn enums(on: &Context) -> Outcome {
    const COUNT: i32 = 100;
    let combine = |i: i32| match i % 3 {
        0 => Combine::Sum,
        1 => Combine::Product,
        _ => Combine::Difference,
    };
    let sign = |i: i32| match i.signum() {
        -1 => Sign::Negative,
        0 => Sign::Zero,
        _ => Sign::Positive,
    };
    let steps: Vec<_> =
        (0..COUNT).map(|i| Step { combine: combine(i), operand: i % 7 - 3 }).collect();
    let wanted: Vec<_> = (0..COUNT).map(|i| sign(i % 5 - 2)).collect();
    let before: Vec<_> = (0..COUNT).map(|i| sign(1 - i % 3)).collect();
    let apply = |combine, value: i32, operand: i32| match combine {
        Combine::Sum => value + operand,
        Combine::Product => value * operand,
        Combine::Difference => value - operand,
    };
    let expected = |last| {
        let at = |i: i32| {
            let step = steps[i as usize];
            let found = sign(apply(last, apply(step.combine, i, step.operand), 2));
            if found == wanted[i as usize] { before[i as usize] } else { found }
        };
        (0..COUNT).map(at).collect::<Vec<_>>()
    };
    let (x, y) = (on.device.upload(&steps)?, on.device.upload(&wanted)?);
    for last in [Combine::Sum, Combine::Product, Combine::Difference] {
        let mut signs = on.device.upload(&before)?;
        let launch = Launch::linear(COUNT as usize);
        on.kernels.enums_cross(&on.stream, launch, last, &x, &y, &mut signs)?;
        same(&signs.download()?, &expected(last))?;
    }
    Ok(())
}

fn without_bytes(on: &Context) -> Outcome {
    let mut output = on.device.zeros::<f64>(3)?;
    let length = Length { value: 0.5 };
    on.kernels.größe(&on.stream, Launch::linear(3), 200, 77 << 100, length, &mut output)?;
    same(&output.download()?, &[277.5; 3])
}

fn scalars(on: &Context) -> Outcome {
    let mut output = on.device.zeros::<f64>(10)?;
    on.kernels.scalars(
        &on.stream,
        Launch::linear(10),
        true,
        'ß',
        -5,
        60_000,
        -70_000,
        1 << 40,
        -(3_i128 << 64),
        12,
        0.5,
        -0.125,
        &mut output,
    )?;
    let expected = [
        1.0,
        f64::from(u32::from('ß')),
        -5.0,
        60_000.0,
        -70_000.0,
        (1_u64 << 40) as f64,
        -3.0,
        12.0,
        0.5,
        -0.125,
    ];
    same(&output.download()?, &expected)
}
