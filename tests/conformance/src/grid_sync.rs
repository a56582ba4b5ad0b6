//! Checks of `kernels/grid_sync.rs`.

use crate::{
    Check, Context, Outcome,
    compare::{below, same},
    panics::{Expected, reported},
};
use kernelmill::{Buffer, Error, Launch, PanicKind};

pub(crate) const CHECKS: &[Check] = &[
    Check::new("grid_distances", distances),
    Check::new("grid_jacobi", jacobi),
    Check::new("grid_rounds", rounds),
    Check::new("grid_panics", panics),
    Check::on_cpu("grid_leaves", leaves),
];

fn distances(on: &Context) -> Outcome {
    for (blocks, n) in [(1, 64), (7, 400), (16, 1024)] {
        let x = below(43, 1000, n);
        let mut sums = on.device.zeros::<u32>(2)?;
        let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(n)?);
        let launch = Launch::grid([blocks], [64]);
        on.kernels.grid_distances(&on.stream, launch, &input, &mut sums, &mut output)?;
        let mean = x.iter().sum::<u32>() / n as u32;
        let distances: Vec<_> = x.iter().map(|x| x.abs_diff(mean)).collect();
        let all: u32 = distances.iter().sum();
        let expected: Vec<_> = distances.iter().map(|distance| distance + all).collect();
        same(&output.download()?, &expected)?;
    }
    Ok(())
}

/// The iteration on the host, in the same order.
fn jacobi_steps(mut from: Vec<f32>, steps: u32) -> Vec<f32> {
    for _ in 0..steps {
        let middle = from.windows(3).map(|it| 0.5 * (it[0] + it[2]));
        let middle: Vec<_> = middle.collect();
        let end = from.len() - 1;
        from[1..end].copy_from_slice(&middle);
    }
    from
}

fn jacobi(on: &Context) -> Outcome {
    // On two streams at once: a word that both launches counted in would open barriers too early, or never.
    let streams = [on.stream.clone(), on.device.new_stream()?];
    let starts: [Vec<f32>; 2] =
        [500, 1000].map(|n| (0..n).map(|i| (i * i % 97) as f32 - 40.0).collect());
    let upload = |start: &Vec<f32>| {
        Ok::<_, kernelmill::Error>([on.device.upload(start)?, on.device.upload(start)?])
    };
    let mut buffers: Vec<[Buffer<f32>; 2]> = starts.iter().map(upload).collect::<Result<_, _>>()?;
    for _ in 0..3 {
        for (stream, [even, odd]) in streams.iter().zip(&mut buffers) {
            let launch = Launch::linear_in_blocks(even.len(), 64);
            on.kernels.grid_jacobi(stream, launch, 10, even, odd)?;
        }
    }
    for (start, [even, _]) in starts.iter().zip(&buffers) {
        same(&even.download()?, &jacobi_steps(start.clone(), 30))?;
    }
    Ok(())
}

fn rounds(on: &Context) -> Outcome {
    let (grid, block, rounds) = ([3, 2, 2], [5, 3, 2], 4);
    let mut cells = on.device.zeros::<u32>(rounds + 1)?;
    let launch = Launch::<3>::grid(grid, block);
    on.kernels.grid_rounds(&on.stream, launch, rounds as u32, &mut cells)?;
    let threads: u32 = grid.iter().chain(&block).product();
    same(&cells.download()?, &[threads, threads, threads, threads, 0])?;
    // One block more than the device holds.
    let block = [1024, 1, 1];
    let most = on.kernels.compiled().grid_rounds()?.max_cooperative_blocks(block, 0)?;
    let most = most.ok_or("no cooperative launches")?;
    let launch = Launch::<3>::grid([most as u32 + 1, 1, 1], block);
    match on.kernels.grid_rounds(&on.stream, launch, rounds as u32, &mut cells) {
        Err(Error::Limit { quantity: "blocks of a cooperative launch", limit, .. })
            if limit == most => {}
        other => return Err(format!("{} blocks are not refused: {other:?}", most + 1).into()),
    }
    same(&cells.download()?, &[threads, threads, threads, threads, 0])
}

fn panics(on: &Context) -> Outcome {
    // Two warps a block: without the barrier before it, the thread that counts its block would go ahead of the other warp.
    let launch = Launch::grid([8], [64]);
    let mut x: Vec<u32> = (1..=512).collect();
    x[101] = 0;
    let mut cells = on.device.zeros::<u32>(2)?;
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(512)?);
    on.kernels.grid_panics(&on.stream, launch, &input, &mut cells, &mut output)?;
    let panic = reported(&on.stream)?;
    let expected = Expected {
        kind: PanicKind::DivisionByZero,
        place: ("grid_sync.rs", 79),
        message: &["divide by zero"],
    };
    expected.check(&panic)?;
    if (panic.block, panic.thread) != ([1, 0, 0], [37, 0, 0]) {
        return Err(format!("the panic is of another thread: {panic:?}").into());
    }
    // The next launch on the stream is as if there had been no panic.
    x[101] = 101;
    let input = on.device.upload(&x)?;
    let mut cells = on.device.zeros::<u32>(2)?;
    on.kernels.grid_panics(&on.stream, launch, &input, &mut cells, &mut output)?;
    let sum: u32 = x.iter().map(|x| 512 + 100 / x).sum();
    same(&output.download()?, &[sum; 512])
}

fn leaves(on: &Context) -> Outcome {
    let launch = Launch::grid([4], [32]);
    for (end, words) in [
        (
            37,
            "37 threads wait at its barrier, 27 threads of their blocks have exited, 2 blocks have ended",
        ),
        (
            64,
            "64 threads wait at its barrier, 0 threads of their blocks have exited, 2 blocks have ended",
        ),
        (
            127,
            "127 threads wait at its barrier, 1 threads of their blocks have exited, 0 blocks have ended",
        ),
    ] {
        let mut cells = on.device.zeros::<u32>(1)?;
        on.kernels.grid_leaves(&on.stream, launch, end, &mut cells)?;
        let panic = reported(&on.stream)?;
        if panic.kind != PanicKind::Deadlock || !panic.message.contains(words) {
            return Err(format!("not a deadlock with {words:?}: {panic:?}").into());
        }
        on.stream.synchronize()?;
    }
    let mut cells = on.device.zeros::<u32>(1)?;
    on.kernels.grid_leaves(&on.stream, launch, 128, &mut cells)?;
    same(&cells.download()?, &[128])
}
