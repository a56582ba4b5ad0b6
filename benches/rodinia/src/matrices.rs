//! Programs on matrices: gaussian, lud, backprop.

use kernelmill::Launch;

use crate::{
    numbers::{difference, fractions},
    program::{Machine, Program, Run},
};

pub(crate) fn programs() -> [Program; 3] {
    [gaussian(512), lud(512), backprop(65_536)]
}

/// A matrix whose diagonal is larger than the rest of its row, so that no pivot is looked for.
fn dominant(size: usize, seed: u64) -> Vec<f32> {
    let mut matrix = fractions(size * size, seed);
    for row in 0..size {
        matrix[row * size + row] += size as f32;
    }
    matrix
}

/// Gaussian elimination, a launch for the factors and one for the rows of each column.
fn gaussian(size: usize) -> Program {
    let (matrix, right) = (dominant(size, 7), fractions(size, 8));
    let (mut rows, mut ends) = (matrix.clone(), right.clone());
    for column in 0..size - 1 {
        for row in column + 1..size {
            let factor = rows[row * size + column] / rows[column * size + column];
            for x in column..size {
                rows[row * size + x] -= factor * rows[column * size + x];
            }
            ends[row] -= factor * ends[column];
        }
    }
    Program::new("gaussian", move |machine: &Machine| {
        let Machine { device, kernels, stream } = machine;
        let mut factors = device.zeros::<f32>(size * size)?;
        let (mut a, mut b) = (device.upload(&matrix)?, device.upload(&right)?);
        let (sides, groups) = (size as i32, size.div_ceil(16) as u32);
        let time = machine.time(|| {
            for column in 0..sides - 1 {
                let line = Launch::grid([size.div_ceil(256) as u32], [256]);
                let square = Launch::grid([groups, groups], [16, 16]);
                // SAFETY: the matrices have `size * size` elements, and the vector has `size`.
                unsafe {
                    kernels.Fan1(stream, line, &mut factors, &mut a, &mut b, sides, column)?;
                    kernels.Fan2(stream, square, &mut factors, &mut a, &mut b, sides, column)?;
                }
            }
            Ok(())
        })?;
        let off = difference(&a.download()?, &rows).max(difference(&b.download()?, &ends));
        Ok(Run { time, difference: off })
    })
}

/// The factors of a matrix, L without its diagonal of ones below U, in tiles.
fn lud(size: usize) -> Program {
    const TILE: usize = 16;
    let matrix = dominant(size, 9);
    let mut expected = matrix.clone();
    for column in 0..size {
        for row in column + 1..size {
            expected[row * size + column] /= expected[column * size + column];
            let factor = expected[row * size + column];
            for x in column + 1..size {
                expected[row * size + x] -= factor * expected[column * size + x];
            }
        }
    }
    Program::new("lud", move |machine: &Machine| {
        let Machine { device, kernels, stream } = machine;
        let mut m = device.upload(&matrix)?;
        let square = TILE * TILE;
        let sides = size as i32;
        let time = machine.time(|| {
            for start in (0..size).step_by(TILE) {
                let (left, at) = (((size - start) / TILE - 1) as u32, start as i32);
                // SAFETY: the matrix has `size * size` elements, and `left` tiles are right of this one.
                unsafe {
                    kernels.lud_diagonal(
                        stream,
                        Launch::grid([1], [16]),
                        &mut m,
                        square,
                        sides,
                        at,
                    )?;
                    if left == 0 {
                        break;
                    }
                    kernels.lud_perimeter(
                        stream,
                        Launch::grid([left], [32]),
                        &mut m,
                        square,
                        square,
                        square,
                        sides,
                        at,
                    )?;
                    kernels.lud_internal(
                        stream,
                        Launch::grid([left, left], [16, 16]),
                        &mut m,
                        square,
                        square,
                        sides,
                        at,
                    )?;
                }
            }
            Ok(())
        })?;
        Ok(Run { time, difference: difference(&m.download()?, &expected) })
    })
}

/// A layer of a neural network with 16 hidden units, forward and back.
fn backprop(inputs: usize) -> Program {
    const HIDDEN: usize = 16;
    const WIDTH: usize = HIDDEN + 1;
    let input = fractions(inputs + 1, 10);
    let weights = fractions((inputs + 1) * WIDTH, 11);
    let (changes, deltas) = (fractions((inputs + 1) * WIDTH, 12), fractions(WIDTH, 13));
    let groups = inputs / 16;
    let mut sums = vec![0.0; groups * HIDDEN];
    let mut forward = weights.clone();
    for group in 0..groups {
        for x in 0..16 {
            let place = |y: usize| (16 * group + y + 1) * WIDTH + x + 1;
            let mut column: [f32; 16] =
                std::array::from_fn(|y| weights[place(y)] * input[16 * group + y + 1]);
            for step in [1, 2, 4, 8, 16] {
                for y in (0..16).step_by(step) {
                    column[y] += column[y + step / 2];
                }
            }
            for (y, value) in column.into_iter().enumerate() {
                forward[place(y)] = value;
            }
            sums[group * HIDDEN + x] = column[0];
        }
    }
    let (mut adjusted, mut changed) = (forward.clone(), changes.clone());
    for y in 0..=inputs {
        for x in 1..WIDTH {
            let from = if y == 0 { 1.0 } else { input[y] };
            let change = 0.3 * deltas[x] * from + 0.3 * changes[y * WIDTH + x];
            adjusted[y * WIDTH + x] += change;
            changed[y * WIDTH + x] = change;
        }
    }
    Program::new("backprop", move |machine: &Machine| {
        let Machine { device, kernels, stream } = machine;
        let (mut given, mut output) = (device.upload(&input)?, device.zeros::<f32>(WIDTH)?);
        let (mut w, mut partial) =
            (device.upload(&weights)?, device.zeros::<f32>(groups * HIDDEN)?);
        let (mut delta, mut old) = (device.upload(&deltas)?, device.upload(&changes)?);
        let (hidden, count) = (HIDDEN as i32, inputs as i32);
        let launch = Launch::grid([1, groups as u32], [16, 16]);
        let time = machine.time(|| {
            // SAFETY: there is a group for each 16 inputs, and a row of weights for each of them and one more.
            unsafe {
                kernels.bpnn_layerforward_ocl(
                    stream,
                    launch,
                    &mut given,
                    &mut output,
                    &mut w,
                    &mut partial,
                    16,
                    256,
                    count,
                    hidden,
                )?;
                kernels.bpnn_adjust_weights_ocl(
                    stream, launch, &mut delta, hidden, &mut given, count, &mut w, &mut old,
                )?;
            }
            Ok(())
        })?;
        let found = [(w, &adjusted), (old, &changed), (partial, &sums)];
        let mut most: f64 = 0.0;
        for (buffer, expected) in found {
            most = most.max(difference(&buffer.download()?, expected));
        }
        Ok(Run { time, difference: most })
    })
}
