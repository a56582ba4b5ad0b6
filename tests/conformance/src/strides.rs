//! Checks of `kernels/strides.rs`.

use crate::{
    Check, Context, Outcome,
    compare::{below, same},
    panics::reported,
};
use kernelmill::{Launch, PanicKind};

pub(crate) const CHECKS: &[Check] = &[
    Check::new("strided_sums", sums),
    Check::new("strided_by_grids", by_grids),
    Check::new("strided_rows", rows),
    Check::new("strided_counts", counts),
];

/// Numbers of elements that leave threads rounds of their own, one, none, and no element at all.
const LENGTHS: [usize; 6] = [1, 191, 2048, 2 * 2048 + 17, 3 * 2048 + 191, 9000];

fn sums(on: &Context) -> Outcome {
    for (blocks, width) in [(3, 64), (4, 41), (1, 40), (1, 7)] {
        for n in LENGTHS {
            let x = below(61, 1 << 20, n);
            let input = on.device.upload(&x)?;
            let step = 2048;
            let mut y = on.device.zeros::<u32>(n)?;
            let launch = Launch::<1>::grid([blocks], [width]);
            on.kernels.strided_sums(&on.stream, launch, step, &input, &mut y)?;
            let has_thread = |i: usize| i % (step as usize) < (blocks * width) as usize;
            let value = |i: usize| if has_thread(i) { 3 * x[i] + i as u32 } else { 0 };
            same(&y.download()?, &(0..n).map(value).collect::<Vec<_>>())?;
        }
    }
    let short = on.device.upload(&below(62, 9, 3000))?;
    let mut y = on.device.zeros::<u32>(5000)?;
    on.kernels.strided_sums(&on.stream, Launch::<1>::grid([16], [64]), 1024, &short, &mut y)?;
    let panic = reported(&on.stream)?;
    match panic.kind == PanicKind::IndexOutOfBounds && panic.message.contains("the len is 3000") {
        true => Ok(()),
        false => Err(format!("another panic was reported: {panic:?}").into()),
    }
}

fn by_grids(on: &Context) -> Outcome {
    for (blocks, width) in [(17, 64), (1, 300), (9, 40), (200, 128)] {
        for n in LENGTHS {
            let x = below(65, 1 << 20, n);
            let (input, mut y) = (on.device.upload(&x)?, on.device.zeros::<u32>(n)?);
            let launch = Launch::<1>::grid([blocks], [width]);
            on.kernels.strided_by_grids(&on.stream, launch, &input, &mut y)?;
            let expected: Vec<_> = (0..n).map(|i| 3 * x[i] + i as u32).collect();
            same(&y.download()?, &expected)?;
        }
    }
    Ok(())
}

fn rows(on: &Context) -> Outcome {
    for (grid, block) in
        [([33, 1, 1], [32, 2, 2]), ([33, 1, 1], [37, 3, 1]), ([1100, 1, 1], [1, 2, 1])]
    {
        for width in [40, 1300, 5000] {
            let count = (block[1] * block[2]) as usize;
            let x = below(63, u32::MAX, count * width as usize);
            let input = on.device.upload(&x)?;
            let step = (grid[0] * block[0]) as usize;
            let mut y = on.device.zeros::<[u32; 2]>(step * count)?;
            let launch = Launch::<3>::grid(grid, block);
            on.kernels.strided_rows(&on.stream, launch, width, &input, &mut y)?;
            let expected = x.chunks(width as usize).flat_map(|row| {
                (0..step).map(move |first| {
                    let own = row.iter().skip(first).step_by(step);
                    own.fold([0_u32, 0], |[sum, _], x| [sum.rotate_left(1) ^ x, *x])
                })
            });
            same(&y.download()?, &expected.collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

fn counts(on: &Context) -> Outcome {
    for (blocks, width) in [(33, 64), (40, 33), (2, 16)] {
        let x = below(64, 1 << 31, 9100);
        let input = on.device.upload(&x)?;
        let mut bins = on.device.zeros::<u32>(128)?;
        let launch = Launch::<1>::grid([blocks], [width]);
        on.kernels.strided_counts(&on.stream, launch, &input, &mut bins)?;
        let mut expected = [0; 128];
        for value in x {
            expected[value as usize % 64] += 1;
            expected[64 + (value >> 6) as usize % 64] += 1;
        }
        same(&bins.download()?, &expected)?;
    }
    Ok(())
}
