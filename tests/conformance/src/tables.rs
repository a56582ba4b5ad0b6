//! Checks of `linked/tables.rs`, whose kernels are given functions.

use crate::{
    Check, Context, Outcome,
    compare::{below, between, same},
    kernels::{Dot, Functions, Kernels, Steps},
    panics::{Expected, reported},
};
use kernelmill::{DeviceFn, Launch, PanicKind};

pub(crate) const CHECKS: &[Check] = &[
    Check::new("apply_one", apply_one),
    Check::new("apply_table", apply_table),
    Check::new("apply_steps", apply_steps),
    Check::new("apply_higher", apply_higher),
    Check::new("apply_within_block", apply_within_block),
];

/// Functions of one type, each with what it is on the host.
type Table = [(DeviceFn<fn(f32) -> f32>, fn(f32) -> f32); 4];

fn table() -> Table {
    let Functions { square, halve, steps_to_one, ackermann, .. } = Kernels::functions();
    [
        (square, |x| x * x),
        (halve, |x| 0.5 * x),
        (steps_to_one, |x| (0..).find(|n| x * 0.5_f32.powi(*n) < 1.0).map_or(0.0, |n| n as f32)),
        (ackermann, |x| (2 * (x as u32 % 4) + 3) as f32),
    ]
}

fn apply_one(on: &Context) -> Outcome {
    let x = between(71, 0.0, 300.0, 1000);
    let input = on.device.upload(&x)?;
    for (function, expected) in table() {
        let mut output = on.device.zeros::<f32>(x.len())?;
        let launch = Launch::linear(x.len());
        on.kernels.apply_one(&on.stream, launch, function, &input, &mut output)?;
        same(&output.download()?, &x.iter().map(|x| expected(*x)).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn apply_table(on: &Context) -> Outcome {
    let (x, choice) = (between(72, 0.0, 300.0, 1000), below(73, 4, 1000));
    let functions: Vec<_> = table().iter().map(|(function, _)| *function).collect();
    let (functions, input) = (on.device.upload(&functions)?, on.device.upload(&x)?);
    let (choices, launch) = (on.device.upload(&choice)?, Launch::linear(x.len()));
    let mut output = on.device.zeros::<f32>(x.len())?;
    on.kernels.apply_table(&on.stream, launch, &functions, &choices, &input, &mut output)?;
    let expected = x.iter().zip(choice).map(|(x, choice)| table()[choice as usize].1(*x));
    same(&output.download()?, &expected.collect::<Vec<_>>())?;

    let nothing = on.device.zeros::<DeviceFn<fn(f32) -> f32>>(4)?;
    on.kernels.apply_table(&on.stream, launch, &nothing, &choices, &input, &mut output)?;
    let expected = Expected {
        kind: PanicKind::Explicit,
        place: ("tables.rs", 30),
        message: &["a `DeviceFn` was called that is not a device function of these kernels"],
    };
    expected.check(&reported(&on.stream)?)
}

fn apply_steps(on: &Context) -> Outcome {
    let Functions { rotate_color, nearer, .. } = Kernels::functions();
    let numbers = below(74, 256, 300);
    let dot = |c: &[u32]| Dot { color: [c[0] as u8, c[1] as u8, c[2] as u8], depth: c[0] as f32 };
    let dots: Vec<_> = numbers.chunks(3).map(dot).collect();
    let mut buffer = on.device.upload(&dots)?;
    let steps = Steps { first: rotate_color, rounds: 3, then: [nearer, rotate_color] };
    on.kernels.apply_steps(&on.stream, Launch::linear(dots.len()), steps, &mut buffer)?;
    let expected =
        |Dot { color: [r, g, b], depth }: Dot| Dot { color: [b, r, g], depth: depth - 0.5 };
    same(&buffer.download()?, &dots.into_iter().map(expected).collect::<Vec<_>>())
}

fn apply_higher(on: &Context) -> Outcome {
    let Functions { twice, add_thread, .. } = Kernels::functions();
    let mut buffer = on.device.upload(&(0..100).collect::<Vec<u32>>())?;
    on.kernels.apply_higher(&on.stream, Launch::grid([2], [64]), twice, add_thread, &mut buffer)?;
    same(&buffer.download()?, &(0..100).map(|i| i + 2 * (i % 64)).collect::<Vec<u32>>())
}

fn apply_within_block(on: &Context) -> Outcome {
    let Functions { add_thread, opposite, below_thousand, anything, .. } = Kernels::functions();
    let x: Vec<u32> = (0..256).collect();
    let (input, launch) = (on.device.upload(&x)?, Launch::grid([4], [64]));
    for (function, expected) in [
        (add_thread, (|i| i + i % 64) as fn(u32) -> u32),
        (opposite, |i| i / 64 * 64 + 63 - i % 64),
    ] {
        for check in [below_thousand, anything] {
            let mut output = on.device.zeros::<u32>(x.len())?;
            on.kernels.apply_within_block(
                &on.stream,
                launch,
                function,
                check,
                &input,
                &mut output,
            )?;
            same(&output.download()?, &x.iter().map(|x| expected(*x)).collect::<Vec<_>>())?;
        }
    }
    let large = on.device.upload(&(900..1156).collect::<Vec<u32>>())?;
    let mut output = on.device.zeros::<u32>(x.len())?;
    let stream = &on.stream;
    on.kernels.apply_within_block(stream, launch, opposite, below_thousand, &large, &mut output)?;
    let expected = Expected {
        kind: PanicKind::Explicit,
        place: ("table_functions.rs", 92),
        message: &["is too large"],
    };
    expected.check(&reported(stream)?)
}
