//! Checks of `kernels/warp.rs`.

use crate::{
    Check, Context, Outcome,
    compare::{below, between, same},
};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] = &[
    Check::new("warp_sums", sums),
    Check::new("warp_prefix_sums", prefix_sums),
    Check::new("warp_shuffles", shuffles),
    Check::new("warp_votes", votes),
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
