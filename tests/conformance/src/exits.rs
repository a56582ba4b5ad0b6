//! Checks of `kernels/exits.rs`.

use crate::{
    Check, Context, Outcome,
    compare::{below, same},
};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] = &[
    Check::new("exit_sums", sums),
    Check::new("exit_image", image),
    Check::new("exit_inside", inside),
    Check::new("exit_votes", votes),
];

/// Blocks of which all, some and no threads have an element.
fn sums(on: &Context) -> Outcome {
    const THREADS: usize = 4 * 128;
    for n in [0, 1, 127, 128, 300, THREADS] {
        let x = below(71, 1000, n.max(1));
        let x = &x[..n];
        let (input, mut output) = (on.device.upload(x)?, on.device.zeros::<u32>(THREADS)?);
        on.kernels.exit_sums(&on.stream, Launch::grid([4], [128]), &input, &mut output)?;
        let mut expected = vec![0; THREADS];
        for (block, elements) in x.chunks(128).enumerate() {
            let sum: u32 = elements.iter().sum();
            let places = expected[block * 128..].iter_mut();
            places.zip(elements).for_each(|(place, element)| *place = sum + element);
        }
        same(&output.download()?, &expected).map_err(|error| format!("{n} elements: {error}"))?;
    }
    Ok(())
}

fn image(on: &Context) -> Outcome {
    for (block, [w, h]) in [([16, 16], [50, 20]), ([16, 4], [16, 4]), ([5, 7], [23, 30])] {
        let grid = [(w as u32).div_ceil(block[0]), (h as u32).div_ceil(block[1])];
        let x = below(72, 4096, w * h);
        let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(w * h)?);
        let launch = Launch::<2>::grid(grid, block);
        let (width, height) = (w as u32, h as u32);
        on.kernels.exit_image(&on.stream, launch, width, height, 3, &input, &mut output)?;
        let size = block.map(|size| size as usize);
        let mut expected = vec![0; w * h];
        for corner in
            (0..h).step_by(size[1]).flat_map(|y| (0..w).step_by(size[0]).map(move |x| [x, y]))
        {
            expected_of_block(&x, [w, h], corner, size, &mut expected);
        }
        let what = |error| format!("{block:?}, {w} x {h}: {error}");
        same(&output.download()?, &expected).map_err(what)?;
    }
    Ok(())
}

fn inside(on: &Context) -> Outcome {
    let x = below(73, 1000, 3 * 64);
    let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(x.len())?);
    on.kernels.exit_inside(&on.stream, Launch::grid([3], [64]), &input, &mut output)?;
    let left = |x: u32| if x % 2 == 1 && !x.is_multiple_of(3) { x + (x + 3) / 2 } else { x };
    let expected = x.iter().enumerate().map(|(i, &value)| match value % 6 {
        3 => value + 3,
        _ => left(x[i / 64 * 64 + 63 - i % 64]) ^ value,
    });
    same(&output.download()?, &expected.collect::<Vec<_>>())
}

/// Launches of which all, some and no threads have an element.
fn votes(on: &Context) -> Outcome {
    const THREADS: usize = 3 * 64;
    for n in [0, 1, 64, 100, THREADS] {
        let x = below(74, u32::MAX, THREADS);
        let (input, mut output) = (on.device.upload(&x)?, on.device.zeros::<u32>(THREADS)?);
        let launch = Launch::grid([3], [64]);
        on.kernels.exit_votes(&on.stream, launch, n as u32, &input, &mut output)?;
        let mut expected = vec![0; THREADS];
        for (warp, places) in expected[..n].chunks_mut(32).enumerate() {
            let own = &x[warp * 32..warp * 32 + places.len()];
            let round = |votes: u32, round: usize| {
                votes * 3 + own.iter().map(|x| x >> round & 1).sum::<u32>()
            };
            places.fill((0..n.div_ceil(50)).fold(32, round));
        }
        same(&output.download()?, &expected).map_err(|error| format!("{n} elements: {error}"))?;
    }
    Ok(())
}

/// What the block from this corner on writes.
fn expected_of_block(
    x: &[u32],
    [w, h]: [usize; 2],
    [left, top]: [usize; 2],
    size: [usize; 2],
    out: &mut [u32],
) {
    let inside = |dx: usize, dy: usize| left + dx < w && top + dy < h;
    let is_border = |dx: usize, dy: usize| {
        dx == 0
            || dy == 0
            || dx + 1 == size[0]
            || dy + 1 == size[1]
            || left + dx + 1 >= w
            || top + dy + 1 >= h
    };
    let at = |dx: usize, dy: usize| (top + dy) * w + left + dx;
    let threads = || (0..size[1]).flat_map(|dy| (0..size[0]).map(move |dx| (dx, dy)));
    let mut values = vec![0; size[0] * size[1]];
    for (dx, dy) in threads().filter(|&(dx, dy)| inside(dx, dy)) {
        values[dy * size[0] + dx] = x[at(dx, dy)];
        out[at(dx, dy)] = x[at(dx, dy)] ^ 1;
    }
    let mut tile = values.clone();
    for round in 0..3 {
        let before = tile.clone();
        for (dx, dy) in threads().filter(|&(dx, dy)| inside(dx, dy) && !is_border(dx, dy)) {
            let t = dy * size[0] + dx;
            let around = before[t - 1] + before[t + 1] + before[t - size[0]] + before[t + size[0]];
            values[t] = values[t].wrapping_mul(3).wrapping_add(around % 1009) + round % 2;
            tile[t] = values[t] % 4096;
        }
    }
    for (dx, dy) in threads().filter(|&(dx, dy)| inside(dx, dy) && !is_border(dx, dy)) {
        let t = dy * size[0] + dx;
        out[at(dx, dy)] = values[t] ^ tile[t + 1];
    }
}
