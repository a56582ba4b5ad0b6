//! Checks of `kernels/grid.rs`.

use crate::{Check, Context, Outcome, compare::same};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] =
    &[Check::new("index_3d", index_3d), Check::new("sum_of_each_block", sum_of_each_block)];

fn index_3d(on: &Context) -> Outcome {
    let (grid, block) = ([2, 3, 4], [4, 2, 3]);
    let size: Vec<u32> = (0..3).map(|axis| grid[axis] * block[axis]).collect();
    let mut output = on.device.zeros::<[u32; 3]>(size.iter().product::<u32>() as usize)?;
    on.kernels.index_3d(&on.stream, Launch::<3>::grid(grid, block), &mut output)?;
    let planes = 0..size[2];
    let expected: Vec<[u32; 3]> = planes
        .flat_map(|z| (0..size[1]).map(move |y| (y, z)))
        .flat_map(|(y, z)| (0..size[0]).map(move |x| [x, y, z]))
        .collect();
    same(&output.download()?, &expected)
}

/// One result fewer than blocks: the last block has none.
fn sum_of_each_block(on: &Context) -> Outcome {
    let (grid, block) = ([2, 3, 4], [4, 2, 3]);
    let mut first = on.device.zeros::<usize>(24)?;
    let mut sums = on.device.upload(&[7; 24])?;
    let launch = Launch::<3>::grid(grid, block);
    on.kernels.sum_of_each_block(&on.stream, launch, &mut first, &mut sums.slice_mut(..23))?;
    let blocks = (0..4).flat_map(|z| (0..3).flat_map(move |y| (0..2).map(move |x| [x, y, z])));
    let first_of = |[x, y, z]: [usize; 3]| (z * 3 * 3 * 2 + y * 2) * 8 + x * 4;
    same(&first.download()?, &blocks.clone().map(first_of).collect::<Vec<_>>())?;
    let mut expected: Vec<u32> = blocks.map(|[_, y, _]| 190 + 20 * y as u32).collect();
    expected[23] = 7;
    same(&sums.download()?, &expected)
}
