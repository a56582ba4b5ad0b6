//! Checks of `kernels/places.rs`.

use crate::{
    Check, Context, Outcome,
    compare::{below, same},
};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] = &[
    Check::new("masked_places", masked_places),
    Check::new("wrapped_places", wrapped_places),
    Check::new("own_atomics", own_atomics),
    Check::new("own_tickets", own_tickets),
];

fn masked_places(on: &Context) -> Outcome {
    for (size, mask, flip) in [
        (64, 63, 0),
        (64, 31, 16),
        (64, 15, 32),
        (64, 7, 1),
        (64, 48, 63),
        (64, 21, 8),
        (40, 15, 16),
        (40, 5, 3),
        (16, 15, 48),
        (7, 3, 2),
    ] {
        let mut output = on.device.zeros::<u32>(2 * size as usize)?;
        let launch = Launch::grid([2], [size]);
        on.kernels.masked_places(&on.stream, launch, mask, flip, &mut output)?;
        let tile = |t: u32| 3 * t + 1;
        let value = |t: u32| {
            let partner = if t ^ flip < size { 1000 * tile(t ^ flip) } else { 0 };
            let low = tile(t & 7) + 10 * tile(t & 31) + 100 * tile(t & mask);
            let next = (t + 1) % size;
            let last = next / 32 + (next >> 3) + u32::from(next < 32);
            low + partner + tile(t - (t & mask)) + 7 * last
        };
        let expected: Vec<u32> = (0..2 * size).map(|t| value(t % size)).collect();
        same(&output.download()?, &expected)?;
    }
    Ok(())
}

fn wrapped_places(on: &Context) -> Outcome {
    let x = below(61, 1000, 100);
    let input = on.device.upload(&x)?;
    for first in [0_u32, 5, 90, u32::MAX - 7, u32::MAX - 15, u32::MAX - 70, 1 << 31] {
        let mut output = on.device.zeros::<u32>(150)?;
        on.kernels.wrapped_places(
            &on.stream,
            Launch::grid([3], [64]),
            first,
            &input,
            &mut output,
        )?;
        let value = |i: u32| x.get(first.wrapping_add(i) as usize).copied().unwrap_or(7);
        same(&output.download()?, &(0..150).map(value).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn own_atomics(on: &Context) -> Outcome {
    for (size, count) in [(64, 1000), (48, 77), (20, 333)] {
        let x = below(62, 16, count);
        let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(48)?);
        on.kernels.own_atomics(&on.stream, Launch::grid([1], [size]), &input, &mut output)?;
        let places: Vec<Vec<u32>> = (0..16)
            .map(|value| (0..count as u32).filter(|&i| x[i as usize] == value).collect())
            .collect();
        let mut expected: Vec<u32> = places.iter().map(|all| all.len() as u32).collect();
        expected.extend(places.iter().map(|all| all.last().copied().unwrap_or(0)));
        expected.extend(places.iter().map(|all| all.first().copied().unwrap_or(u32::MAX)));
        same(&output.download()?, &expected)?;
    }
    Ok(())
}

fn own_tickets(on: &Context) -> Outcome {
    let rounds = below(63, 9, 50);
    let all = rounds.iter().sum::<u32>() as usize;
    let (input, mut output) = (on.device.upload(&rounds)?, on.device.zeros::<u32>(all)?);
    on.kernels.own_tickets(&on.stream, Launch::grid([1], [50]), &input, &mut output)?;
    same(&output.download()?, &vec![1_u32; all])
}
