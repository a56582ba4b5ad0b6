//! Checks of `kernels/shared.rs`.

use crate::{
    Check, Context, Outcome,
    compare::{below, same},
    panics::reported,
};
use kernelmill::{Launch, PanicKind};

pub(crate) const CHECKS: &[Check] = &[
    Check::new("reverse_blocks", reverse_blocks),
    Check::new("reverse_array", reverse_array),
    Check::new("sum_arrays", sum_arrays),
    Check::new("count_arrays", count_arrays),
    Check::new("early_exit", early_exit),
    Check::new("divergent_loop", divergent_loop),
    Check::on_cpu("divergent_lanes", divergent_lanes),
    Check::new("barrier_trap", barrier_trap),
    Check::new("dynamic_shared", dynamic_shared),
    Check::new("barrier_in_function", barrier_in_function),
    Check::new("transpose", transpose),
    Check::new("one_of_the_tile", one_of_the_tile),
    Check::new("small_tiles", small_tiles),
    Check::new("small_rows", small_rows),
    Check::on_cpu("barriers_apart", barriers_apart),
];

fn reverse_blocks(on: &Context) -> Outcome {
    let x = below(31, 1 << 30, 64 * 50);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(x.len())?);
    on.kernels.reverse_blocks(&on.stream, Launch::grid([50], [64]), &input, &mut output)?;
    let expected: Vec<u32> = x.chunks(64).flat_map(|block| block.iter().rev().copied()).collect();
    same(&output.download()?, &expected)
}

fn early_exit(on: &Context) -> Outcome {
    let x = below(32, 1000, 64 * 2 + 37);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(x.len())?);
    on.kernels.early_exit(&on.stream, Launch::grid([3], [64]), &input, &mut output)?;
    let value = |(i, x): (usize, &u32)| (i, *x);
    let expected: Vec<u32> = x
        .iter()
        .enumerate()
        .map(value)
        .map(|(i, own)| if i % 64 == 0 { own } else { own + x[i - 1] })
        .collect();
    same(&output.download()?, &expected)
}

fn divergent_loop(on: &Context) -> Outcome {
    let mut output = on.device.zeros::<u32>(128 * 3)?;
    on.kernels.divergent_loop(&on.stream, Launch::grid([3], [128]), &mut output)?;
    // What a warp holds after each of its rounds.
    let held = |warp: usize, round: usize| (0..=round).map(|r| (r * 10 + warp) as u32).sum::<u32>();
    let value = |t: usize| {
        let warp = t % 128 / 32;
        if warp == 3 { 0 } else { (0..=warp).map(|round| held(warp + 1, round)).sum() }
    };
    same(&output.download()?, &(0..128 * 3).map(value).collect::<Vec<_>>())
}

fn divergent_lanes(on: &Context) -> Outcome {
    let mut output = on.device.zeros::<u32>(50 * 2)?;
    on.kernels.divergent_lanes(&on.stream, Launch::grid([2], [50]), &mut output)?;
    let value = |t: u32| (1..=t % 50 + 1).sum();
    same(&output.download()?, &(0..100).map(value).collect::<Vec<u32>>())
}

fn barrier_trap(on: &Context) -> Outcome {
    let mut output = on.device.zeros::<f32>(64)?;
    on.kernels.barrier_trap(&on.stream, Launch::grid([1], [64]), 40, &mut output)?;
    let tile = |t: usize| if t < 40 { t as f32 * 2.0 } else { t as f32 };
    let value = |t: usize| if t < 40 { tile(t) + tile(63 - t) } else { tile(63 - t) - 3.0 };
    same(&output.download()?, &(0..64).map(value).collect::<Vec<_>>())
}

fn dynamic_shared(on: &Context) -> Outcome {
    for block in [32_u32, 96, 256] {
        let x = below(33, 1000, block as usize * 4);
        let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(x.len())?);
        let launch = Launch::grid([4], [block]).shared_bytes(block as usize * 4);
        on.kernels.dynamic_shared(&on.stream, launch, &input, &mut output)?;
        let mut expected = x;
        for block in expected.chunks_mut(block as usize) {
            for t in 1..block.len() {
                block[t] += block[t - 1];
            }
        }
        same(&output.download()?, &expected)?;
    }
    Ok(())
}

fn barrier_in_function(on: &Context) -> Outcome {
    let mut output = on.device.zeros::<u32>(128)?;
    on.kernels.barrier_in_function(&on.stream, Launch::grid([2], [64]), &mut output)?;
    let value = |t: u32| (t % 64 + 4) % 64 + 4;
    same(&output.download()?, &(0..128).map(value).collect::<Vec<_>>())
}

fn transpose(on: &Context) -> Outcome {
    let (columns, rows) = (48_usize, 32_usize);
    let x: Vec<f32> = (0..columns * rows).map(|i| i as f32).collect();
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<f32>(x.len())?);
    let launch = Launch::grid([columns as u32 / 16, rows as u32 / 16], [16, 16]);
    on.kernels.transpose(&on.stream, launch, columns as u32, &input, &mut output)?;
    let value = |i: usize| x[i % rows * columns + i / rows];
    same(&output.download()?, &(0..x.len()).map(value).collect::<Vec<_>>())
}

fn one_of_the_tile(on: &Context) -> Outcome {
    let x = below(33, u32::MAX, 64 * 3);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(x.len())?);
    on.kernels.one_of_the_tile(&on.stream, Launch::grid([3], [64]), &input, &mut output)?;
    let expected = x.chunks(64).flat_map(|block| {
        let low = |value: u32| value & 0xffff;
        let own = move |t: usize| block[t].wrapping_sub(low(block[block[t] as usize / 256 % 64]));
        (0..64).map(move |t| {
            let place = own(t) as usize / 512 % 64;
            own(t) ^ low(if place == 0 { own(0) } else { block[place] })
        })
    });
    same(&output.download()?, &expected.collect::<Vec<_>>())
}

fn small_tiles(on: &Context) -> Outcome {
    let x = below(36, u32::MAX, 64 * 6);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(x.len())?);
    on.kernels.small_tiles(&on.stream, Launch::grid([3, 2], [8, 8]), &input, &mut output)?;
    let expected = x.chunks(64).flat_map(|tile| {
        let sum = |row: usize, column: usize| {
            let of = |sum: u32, k: usize| {
                sum.rotate_left(1).wrapping_add(tile[8 * row + k] ^ tile[8 * k + column])
            };
            (0..8).fold(0, of)
        };
        let mirrored = |at: usize| sum(at % 8, at / 8);
        (0..64).map(|at| mirrored(at).wrapping_sub(mirrored(63 - at))).collect::<Vec<_>>()
    });
    same(&output.download()?, &expected.collect::<Vec<_>>())
}

fn small_rows(on: &Context) -> Outcome {
    let x = below(37, 1 << 20, 24 * 6);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(x.len())?);
    on.kernels.small_rows(&on.stream, Launch::grid([3, 2], [4, 6]), &input, &mut output)?;
    let value = |(i, x): (usize, &u32)| {
        let (row, column) = ((i / 4 % 6) as u32, (i % 4) as u32);
        let (mut value, mut steps) = (*x, 0);
        while !value.is_multiple_of(row + 2) && steps < 20 + column {
            value = value / 2 + column;
            steps += 1;
        }
        value
    };
    same(&output.download()?, &x.iter().enumerate().map(value).collect::<Vec<_>>())
}

/// Blocks whose threads all have the same branch pass, and the first one that has both is an error.
fn barriers_apart(on: &Context) -> Outcome {
    let mut x = vec![5_u32; 50 * 3];
    x[50..100].fill(0);
    let mut output = on.device.zeros::<u32>(x.len())?;
    let input = on.device.upload(&x)?;
    on.kernels.barriers_apart(&on.stream, Launch::grid([3], [50]), &input, &mut output)?;
    let expected: Vec<u32> = x.iter().map(|x| if *x > 0 { x + 1 } else { 7 }).collect();
    same(&output.download()?, &expected)?;
    x[63] = 1;
    let input = on.device.upload(&x)?;
    on.kernels.barriers_apart(&on.stream, Launch::grid([3], [50]), &input, &mut output)?;
    let panic = reported(&on.stream)?;
    let text = "deadlock in a block: its threads wait at 2 different barriers: 49 and 1 threads, 0 have exited";
    if (panic.kind, panic.block, panic.thread) != (PanicKind::Deadlock, [1, 0, 0], [13, 0, 0]) {
        return Err(format!("not a deadlock of thread 13 of block 1: {panic:?}").into());
    }
    if panic.message != text {
        return Err(format!("the message is: {}", panic.message).into());
    }
    Ok(())
}

fn reverse_array(on: &Context) -> Outcome {
    let x = below(81, 1 << 30, 64 * 50 - 7);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(64 * 50)?);
    on.kernels.reverse_array(&on.stream, Launch::grid([50], [64]), &input, &mut output)?;
    // What no thread has written is zero.
    let padded: Vec<u32> = x.into_iter().chain([0; 7]).collect();
    let reversed = padded.chunks(64).flat_map(|block| block.iter().rev().copied());
    same(&output.download()?, &reversed.collect::<Vec<_>>())
}

fn sum_arrays(on: &Context) -> Outcome {
    let x = below(82, 1000, 256 * 3 + 100);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(x.len())?);
    on.kernels.sum_arrays(&on.stream, Launch::grid([4], [256]), &input, &mut output)?;
    let sums = x.chunks(256).flat_map(|block| vec![block.iter().sum::<u32>(); block.len()]);
    same(&output.download()?, &sums.collect::<Vec<_>>())
}

fn count_arrays(on: &Context) -> Outcome {
    let x = below(83, 1000, 5000);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<[u32; 100]>(33)?);
    on.kernels.count_arrays(&on.stream, Launch::grid([1], [33]), &input, &mut output)?;
    let mut counts = [0; 100];
    x.iter().for_each(|x| counts[*x as usize % 100] += 1);
    same(&output.download()?, &[counts; 33])
}
