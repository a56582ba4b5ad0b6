//! Checks of `kernels/warp.rs`.

use crate::{
    Check, Context, Outcome,
    compare::{below, between, same},
};
use kernelmill::{Backend, Buffer, Launch};

pub(crate) const CHECKS: &[Check] = &[
    Check::new("warp_sums", sums),
    Check::new("warp_prefix_sums", prefix_sums),
    Check::new("warp_shuffles", shuffles),
    Check::new("warp_votes", votes),
    Check::new("warp_mixed", mixed),
    Check::new("warp_mixed_apart", mixed_apart),
    Check::new("warp_mixed_rest", mixed_rest),
];

const N: usize = 128 * 3;
const LAUNCH: ([u32; 1], [u32; 1]) = ([3], [128]);

fn launch() -> Launch<1> {
    Launch::grid(LAUNCH.0, LAUNCH.1)
}

fn sums(on: &Context) -> Outcome {
    let x = below(51, 1000, N);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(N)?);
    on.kernels.warp_sums(&on.stream, launch(), &input, &mut output)?;
    let expected: Vec<u32> =
        x.chunks(32).flat_map(|lanes| vec![lanes.iter().sum::<u32>(); 32]).collect();
    same(&output.download()?, &expected)
}

fn prefix_sums(on: &Context) -> Outcome {
    let x = below(52, 1000, N);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(N)?);
    on.kernels.warp_prefix_sums(&on.stream, launch(), &input, &mut output)?;
    let expected: Vec<u32> = x
        .chunks(32)
        .flat_map(|lanes| {
            lanes.iter().scan(0, |sum, value| {
                *sum += value;
                Some(*sum)
            })
        })
        .collect();
    same(&output.download()?, &expected)
}

fn shuffles(on: &Context) -> Outcome {
    let x: Vec<f32> = between(53, 0.0, 64.0, N).iter().map(|value| value.floor()).collect();
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<f32>(N)?);
    on.kernels.warp_shuffles(&on.stream, launch(), &input, &mut output)?;
    let value = |i: usize| {
        let (warp, lane) = (i / 32 * 32, i % 32);
        let below = if lane + 4 < 32 { lane + 4 } else { lane };
        x[warp + 3] * 100.0 + x[warp + below]
    };
    same(&output.download()?, &(0..N).map(value).collect::<Vec<_>>())
}

fn votes(on: &Context) -> Outcome {
    let mut x = below(54, 1000, N);
    x[40] = 77;
    x[100] = 5000;
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(N)?);
    on.kernels.warp_votes(&on.stream, launch(), &input, &mut output)?;
    let vote = |lanes: &[u32]| {
        let odd = lanes.iter().enumerate().fold(0, |bits, (lane, x)| bits | (x % 2) << lane);
        let all = u32::from(lanes.iter().all(|&x| x < 1000));
        let any = u32::from(lanes.contains(&77));
        odd ^ (all << 1) ^ any
    };
    let expected: Vec<u32> = x.chunks(32).flat_map(|lanes| vec![vote(lanes); 32]).collect();
    same(&output.download()?, &expected)
}

fn mixed(on: &Context) -> Outcome {
    mixed_by(on, false, |launch, rounds, x, y| {
        on.kernels.warp_mixed(&on.stream, launch, rounds, x, y)
    })
}

fn mixed_apart(on: &Context) -> Outcome {
    mixed_by(on, true, |launch, rounds, x, y| {
        on.kernels.warp_mixed_apart(&on.stream, launch, rounds, x, y)
    })
}

fn mixed_rest(on: &Context) -> Outcome {
    mixed_by(on, false, |launch, rounds, x, y| {
        on.kernels.warp_mixed_rest(&on.stream, launch, rounds, x, y)
    })
}

/// Launches a kernel over blocks of many shapes; what lanes that there are not give is defined on the
/// CPU only. Where `opposite`, a thread gives what the one opposite it in its block has.
fn mixed_by(
    on: &Context,
    opposite: bool,
    run: impl Fn(Launch<3>, u32, &Buffer<u32>, &mut Buffer<u32>) -> kernelmill::Result<()>,
) -> Outcome {
    const WHOLE: [[u32; 3]; 6] =
        [[32, 1, 1], [1024, 1, 1], [8, 4, 1], [1, 32, 2], [48, 2, 1], [5, 32, 3]];
    const PARTIAL: [[u32; 3]; 6] =
        [[1, 1, 1], [33, 1, 1], [40, 1, 1], [5, 3, 7], [16, 3, 1], [100, 2, 5]];
    let partial = if on.device.backend() == Backend::Cpu { &PARTIAL[..] } else { &[] };
    for (seed, &block) in (55..).zip(WHOLE.iter().chain(partial)) {
        let (blocks, threads) = (3, block.iter().product::<u32>() as usize);
        let x = below(seed, 1 << 30, blocks * threads);
        for rounds in [1, 6] {
            let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(x.len())?);
            let launch = Launch::<3>::grid([blocks as u32, 1, 1], block);
            run(launch, rounds, &input, &mut output)?;
            let warps = x.chunks(threads).flat_map(|block| block.chunks(32));
            let mut expected: Vec<u32> = warps.flat_map(|warp| mix(warp, rounds)).collect();
            if opposite {
                expected.chunks_mut(threads).for_each(<[u32]>::reverse);
            }
            same(&output.download()?, &expected).map_err(|error| format!("{block:?}: {error}"))?;
        }
    }
    Ok(())
}

/// What the lanes of a warp have after some rounds.
fn mix(x: &[u32], rounds: u32) -> Vec<u32> {
    let mut values = x.to_vec();
    // Each lane gets the value of lane `from`, or its own.
    let exchange = |values: &[u32], from: &dyn Fn(usize) -> Option<u32>| -> Vec<u32> {
        let value =
            |lane| *from(lane).and_then(|it| values.get(it as usize)).unwrap_or(&values[lane]);
        (0..values.len()).map(value).collect()
    };
    let each = |values: &mut Vec<u32>, others: &[u32], change: fn(u32, u32) -> u32| {
        values.iter_mut().zip(others).for_each(|(value, &other)| *value = change(*value, other));
    };
    for round in 0..rounds {
        let by = round * 11 % 40;
        let others = exchange(&values, &|_| Some(round * 5 % 32));
        each(&mut values, &others, |value, other| value ^ other);
        let others = exchange(&values, &|lane| Some(lane as u32 ^ by));
        each(&mut values, &others, |value, other| value.rotate_left(3).wrapping_add(other));
        let others = exchange(&values, &|lane| (lane as u32).checked_sub(x[lane] % 37));
        each(&mut values, &others, u32::wrapping_add);
        let others = exchange(&values, &|lane| Some(lane as u32 + by));
        each(&mut values, &others, |value, other| value ^ other);
        let others = exchange(&values, &|lane| Some((lane - lane / 2) as u32));
        each(&mut values, &others, u32::wrapping_add);
        let thirds = (0..)
            .zip(&values)
            .fold(0, |bits, (lane, value)| bits | u32::from(value % 3 == 0) << lane);
        values.iter_mut().for_each(|value| *value = value.wrapping_mul(31) ^ thirds);
        if values.iter().all(|value| value % 2 == 0) || values.iter().any(|value| value % 64 == 5) {
            values.iter_mut().for_each(|value| *value = value.wrapping_add(1));
        }
    }
    values
}
