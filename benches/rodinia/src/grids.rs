//! Programs on grids: hotspot, hotspot3D, nw, pathfinder.

use kernelmill::Launch;

use crate::{
    kernels::Kernels,
    numbers::{difference, fractions, integers, mismatches},
    program::{Machine, Program, Run},
};

/// `BLOCK_SIZE` of the kernels.
const TILE: usize = 16;

pub(crate) fn programs() -> [Program; 4] {
    [hotspot(1024, 60, 2), hotspot_3d([512, 512, 8], 20), nw(2048), pathfinder(100_000, 100, 20)]
}

/// The temperatures of a chip of `side * side` cells after some steps, of which a launch does `at_once`.
fn hotspot(side: usize, steps: usize, at_once: usize) -> Program {
    const AMBIENT: f32 = 80.0;
    let temperatures: Vec<_> =
        fractions(side * side, 1).iter().map(|it| 320.0 + 20.0 * it).collect();
    let powers: Vec<_> = fractions(side * side, 2).iter().map(|it| it * 1e-3).collect();
    // The constants of a chip of 16 mm.
    let size = 0.016 / side as f32;
    let capacity = 0.5 * 1.75e6 * 0.0005 * size * size;
    let (across, through) = (1.0 / (2.0 * 100.0 * 0.0005), 0.0005 / (100.0 * size * size));
    let step = 0.001 / (3.0e6 / (0.5 * 0.0005 * 1.75e6));
    let mut expected = temperatures.clone();
    for _ in 0..steps {
        let old = expected.clone();
        for y in 0..side {
            for x in 0..side {
                let at = |y: usize, x: usize| old[y.min(side - 1) * side + x.min(side - 1)];
                let center = at(y, x);
                let vertical = at(y + 1, x) + at(y.saturating_sub(1), x) - 2.0 * center;
                let horizontal = at(y, x + 1) + at(y, x.saturating_sub(1)) - 2.0 * center;
                expected[y * side + x] = center
                    + step / capacity
                        * (powers[y * side + x]
                            + vertical / across
                            + horizontal / across
                            + (AMBIENT - center) / through);
            }
        }
    }
    let groups = side.div_ceil(TILE - 2 * at_once) as u32;
    Program::new("hotspot", move |machine: &Machine| {
        let Machine { device, kernels, stream } = machine;
        let mut power = device.upload(&powers)?;
        let (mut from, mut to) = (device.upload(&temperatures)?, device.upload(&temperatures)?);
        let time = machine.time(|| {
            for _ in 0..steps / at_once {
                let launch = Launch::grid([groups, groups], [16, 16]);
                let (sides, border) = (side as i32, at_once as i32);
                // SAFETY: the grid has `side * side` cells, and groups of that many steps cover it.
                unsafe {
                    kernels.hotspot(
                        stream, launch, border, &mut power, &mut from, &mut to, sides, sides,
                        border, border, capacity, across, across, through, step,
                    )?;
                }
                std::mem::swap(&mut from, &mut to);
            }
            Ok(())
        })?;
        Ok(Run { time, difference: difference(&from.download()?, &expected) })
    })
}

/// The temperatures of a stack of layers.
fn hotspot_3d([width, height, depth]: [usize; 3], steps: usize) -> Program {
    const AMBIENT: f32 = 80.0;
    let count = width * height * depth;
    let temperatures: Vec<_> = fractions(count, 3).iter().map(|it| 320.0 + 20.0 * it).collect();
    let powers = fractions(count, 4);
    let (side, layer, power) = (0.05, 0.02, 0.1);
    let center = 1.0 - (4.0 * side + 3.0 * layer);
    let mut expected = temperatures.clone();
    for _ in 0..steps {
        let old = expected.clone();
        let at = |x: usize, y: usize, z: usize| {
            let (x, y, z) = (x.min(width - 1), y.min(height - 1), z.min(depth - 1));
            old[(z * height + y) * width + x]
        };
        for (place, new) in expected.iter_mut().enumerate() {
            let (x, y, z) = (place % width, place / width % height, place / width / height);
            let around = at(x.saturating_sub(1), y, z) + at(x + 1, y, z);
            let around = around + at(x, y + 1, z) + at(x, y.saturating_sub(1), z);
            let layers = at(x, y, z.saturating_sub(1)) + at(x, y, z + 1) + AMBIENT;
            *new = center * at(x, y, z) + side * around + layer * layers + power * powers[place];
        }
    }
    Program::new("hotspot3D", move |machine: &Machine| {
        let Machine { device, kernels, stream } = machine;
        let mut supplied = device.upload(&powers)?;
        let (mut from, mut to) = (device.upload(&temperatures)?, device.upload(&temperatures)?);
        let [nx, ny, nz] = [width, height, depth].map(|it| it as i32);
        let time = machine.time(|| {
            for _ in 0..steps {
                let launch = Launch::grid([nx as u32 / 64, ny as u32 / 4], [64, 4]);
                // SAFETY: there is a work-item for each cell of a layer.
                unsafe {
                    kernels.hotspotOpt1(
                        stream,
                        launch,
                        &mut supplied,
                        &mut from,
                        &mut to,
                        power,
                        nx,
                        ny,
                        nz,
                        side,
                        side,
                        side,
                        side,
                        layer,
                        layer,
                        center,
                    )?;
                }
                std::mem::swap(&mut from, &mut to);
            }
            Ok(())
        })?;
        Ok(Run { time, difference: difference(&from.download()?, &expected) })
    })
}

/// The scores of alignments of two sequences (Needleman and Wunsch), tile by tile along diagonals.
fn nw(length: usize) -> Program {
    const PENALTY: i32 = 10;
    let columns = length + 1;
    let reference: Vec<_> =
        integers(columns * columns, 20, 6).iter().map(|score| score - 10).collect();
    let mut start = vec![0; columns * columns];
    for place in 1..columns {
        start[place] = -(place as i32) * PENALTY;
        start[place * columns] = -(place as i32) * PENALTY;
    }
    let mut expected = start.clone();
    for y in 1..columns {
        for x in 1..columns {
            let at = y * columns + x;
            let both = expected[at - columns - 1] + reference[at];
            let one = expected[at - 1].max(expected[at - columns]) - PENALTY;
            expected[at] = both.max(one);
        }
    }
    Program::new("nw", move |machine: &Machine| {
        let Machine { device, kernels, stream } = machine;
        let mut scores = device.upload(&reference)?;
        let mut items = device.upload(&start)?;
        let mut unused = device.zeros::<i32>(1)?;
        let (tiles, columns) = ((length / TILE) as i32, columns as i32);
        let (local, square) = ((TILE + 1) * (TILE + 1), TILE * TILE);
        let time = machine.time(|| {
            // A kernel for the diagonals up to the longest, and one for those after it.
            let first = (1..=tiles).map(|diagonal| (diagonal, true));
            for (diagonal, is_first) in first.chain((1..tiles).rev().map(|it| (it, false))) {
                let launch = Launch::grid([diagonal as u32], [16]);
                let kernel = if is_first { Kernels::nw_kernel1 } else { Kernels::nw_kernel2 };
                // SAFETY: a diagonal has that many tiles.
                unsafe {
                    kernel(
                        kernels,
                        stream,
                        launch,
                        &mut scores,
                        &mut items,
                        &mut unused,
                        local,
                        square,
                        columns,
                        PENALTY,
                        diagonal,
                        tiles,
                        0,
                        0,
                        0,
                    )?;
                }
            }
            Ok(())
        })?;
        Ok(Run { time, difference: mismatches(&items.download()?, &expected) })
    })
}

/// The cheapest ways through a grid from its first row down to each place of its last; a launch does some steps.
fn pathfinder(columns: usize, steps: usize, at_once: usize) -> Program {
    /// Work-items of a group.
    const GROUP: usize = 256;
    let first = integers(columns, 10, 14);
    let wall = integers(columns * steps, 10, 15);
    let mut expected = first.clone();
    for row in wall.chunks(columns) {
        let old = expected.clone();
        for (x, (cost, expected)) in row.iter().zip(&mut expected).enumerate() {
            let near = &old[x.saturating_sub(1)..(x + 2).min(columns)];
            *expected = cost + near.iter().min().expect("the place above is there");
        }
    }
    let groups = columns.div_ceil(GROUP - 2 * at_once) as u32;
    Program::new("pathfinder", move |machine: &Machine| {
        let Machine { device, kernels, stream } = machine;
        let mut costs = device.upload(&wall)?;
        let (mut from, mut to) = (device.upload(&first)?, device.zeros::<i32>(columns)?);
        // A work-item of each group writes where the cost so far says.
        let mut output = device.zeros::<i32>(16 * steps)?;
        let (width, height) = (columns as i32, steps as i32 + 1);
        let iterations = at_once as i32;
        let time = machine.time(|| {
            for step in (0..steps).step_by(at_once) {
                let launch = Launch::grid([groups], [GROUP as u32]);
                // SAFETY: the groups cover the columns, each with a border of that many steps on both sides, and a way of
                // `steps` costs less than `16 * steps`.
                unsafe {
                    kernels.dynproc_kernel(
                        stream,
                        launch,
                        iterations,
                        &mut costs,
                        &mut from,
                        &mut to,
                        width,
                        height,
                        step as i32,
                        iterations,
                        1,
                        GROUP,
                        GROUP,
                        &mut output,
                    )?;
                }
                std::mem::swap(&mut from, &mut to);
            }
            Ok(())
        })?;
        Ok(Run { time, difference: mismatches(&from.download()?, &expected) })
    })
}
