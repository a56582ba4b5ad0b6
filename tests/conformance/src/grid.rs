//! Checks of `kernels/grid.rs`.

use crate::{Check, Context, Outcome, compare::same};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] = &[Check::new("index_3d", index_3d)];

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
