//! Checks of `kernels/neighbours.rs`.

use crate::{
    Check, Context, Outcome,
    compare::{below, between, same},
    kernels::{Color, Particle},
};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] = &[
    Check::new("clamped_neighbours", clamped),
    Check::new("fields_of_colors", colors),
    Check::new("fields_of_particles", particles),
    Check::new("exchanged", exchanges),
    Check::new("rows_along_x", rows),
    Check::new("quotients", quotients),
    Check::new("crosses", crosses),
];

/// Numbers of elements that fill whole vectors, and that do not.
const LENGTHS: [usize; 5] = [1, 15, 64, 100, 193];

fn clamped(on: &Context) -> Outcome {
    for (width, height) in [(1, 1), (3, 2), (16, 5), (40, 4), (97, 3)] {
        for block in [[16, 4], [32, 2], [64, 1], [5, 3]] {
            let x = below(71, 1 << 20, (width * height) as usize);
            let (input, mut y) = (on.device.upload(&x)?, on.device.zeros::<u32>(x.len())?);
            let grid = [(width as u32).div_ceil(block[0]), (height as u32).div_ceil(block[1])];
            let launch = Launch::<2>::grid(grid, block);
            on.kernels.clamped_neighbours(&on.stream, launch, width, height, &input, &mut y)?;
            let at = |row: i32, column: i32| x[(row * width + column) as usize];
            let value = |i: usize| {
                let (row, column) = (i as i32 / width, i as i32 % width);
                let (left, right) = ((column - 1).max(0), (column + 2).min(width - 1));
                let own = at(row, left) + 3 * at(row, right);
                let (above, under) = ((row - 1).max(0), (row + 1).min(height - 1));
                let more = 5 * at(above, left) + 7 * at(under, right) + 11 * at(row, left);
                own + if (column + row) % 3 == 0 { 0 } else { more }
            };
            same(&y.download()?, &(0..x.len()).map(value).collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

fn colors(on: &Context) -> Outcome {
    for n in LENGTHS {
        let x = below(72, 1 << 24, n);
        let color = |x: &u32| Color { r: *x as u8, g: (x >> 8) as u8, b: (x >> 16) as u8 };
        let input = on.device.upload(&x.iter().map(color).collect::<Vec<_>>())?;
        let mut y = on.device.zeros::<u32>(n)?;
        on.kernels.fields_of_colors(&on.stream, Launch::linear(n), &input, &mut y)?;
        same(&y.download()?, &x)?;
    }
    Ok(())
}

fn particles(on: &Context) -> Outcome {
    for n in LENGTHS {
        let (x, kinds) = (between(73, 0.0, 1.0, 4 * n), below(74, 100, 2 * n));
        let particle = |(it, kind): (&[f32], &u32)| Particle {
            x: it[0],
            y: it[1],
            z: it[2],
            kind: *kind,
            mass: it[3],
        };
        let particles: Vec<_> = x.chunks(4).zip(&kinds).map(particle).collect();
        let (input, numbers) = (on.device.upload(&particles)?, on.device.upload(&kinds)?);
        let mut y = on.device.zeros::<f32>(n)?;
        on.kernels.fields_of_particles(&on.stream, Launch::linear(n), &input, &numbers, &mut y)?;
        let value = |i: usize| {
            let (own, other) = (&particles[i], &particles[n - 1 - i]);
            own.x * own.z + other.mass + own.kind as f32 + kinds[2 * i + 1] as f32
        };
        for (found, i) in y.download()?.iter().zip(0..) {
            let expected = value(i);
            if (found - expected).abs() > 1e-4 * expected.abs() {
                return Err(format!("element {i} of {n}: {found} in place of {expected}").into());
            }
        }
    }
    Ok(())
}

fn exchanges(on: &Context) -> Outcome {
    for n in LENGTHS {
        for flip in [0, 1, 5, 8, 16, 24, 64, 96] {
            for width in [64, 48, 20] {
                let x = below(75, 1 << 20, n);
                let (input, mut y) = (on.device.upload(&x)?, on.device.zeros::<u32>(n)?);
                let launch = Launch::<1>::grid([(n as u32).div_ceil(width)], [width]);
                on.kernels.exchanged(&on.stream, launch, flip, &input, &mut y)?;
                let value = |i: usize| match x.get(i ^ flip as usize) {
                    Some(other) => ((3 * x[i]) ^ other) + u32::from(*other > x[i]),
                    None => 0,
                };
                same(&y.download()?, &(0..n).map(value).collect::<Vec<_>>())?;
            }
        }
    }
    Ok(())
}

fn rows(on: &Context) -> Outcome {
    for (width, height) in [(1_u32, 7_u32), (40, 20), (33, 65), (16, 16)] {
        for block in [[16, 16], [4, 32], [8, 20], [64, 1]] {
            let (x, factors) = (below(76, 1 << 20, width as usize), below(77, 99, height as usize));
            let before = below(78, u32::MAX, (width * height) as usize);
            let (input, by) = (on.device.upload(&x)?, on.device.upload(&factors)?);
            let mut y = on.device.upload(&before)?;
            let launch =
                Launch::<2>::grid([height.div_ceil(block[0]), width.div_ceil(block[1])], block);
            on.kernels.rows_along_x(&on.stream, launch, width, height, &input, &by, &mut y)?;
            let value = |(i, before): (usize, &u32)| {
                let (row, column) = (i / width as usize, i % width as usize);
                before.wrapping_sub(factors[row].wrapping_mul(x[column]))
            };
            let expected: Vec<_> = before.iter().enumerate().map(value).collect();
            same(&y.download()?, &expected)?;
        }
    }
    Ok(())
}

fn quotients(on: &Context) -> Outcome {
    let edges = [0, 1, 2, 3, 7, 127, 128, 255, 256, 32_767, 32_768, 65_535, 65_536, 1 << 31];
    let edges = edges.iter().flat_map(|it: &u32| [*it, it.wrapping_neg(), it.wrapping_sub(1)]);
    let some: Vec<u32> = edges.chain(below(81, u32::MAX, 60)).collect();
    let pairs = some.iter().flat_map(|a| some.iter().map(|b| [*a, *b]));
    // Numbers beside a multiple, the hardest to round.
    let multiples = pairs.clone().flat_map(|[a, b]| {
        let product = a.wrapping_mul(b);
        [[product, b], [product.wrapping_sub(1), b], [product.wrapping_add(1), b]]
    });
    let all = pairs.chain(multiples);
    // Where no number of a vector has more than 31 bits, and where some have.
    let x: Vec<[u32; 2]> = all.clone().map(|pair| pair.map(|it| it >> 1)).chain(all).collect();
    let (input, mut y) = (on.device.upload(&x)?, on.device.zeros(x.len())?);
    on.kernels.quotients(&on.stream, Launch::linear(x.len()), &input, &mut y)?;
    let expected = x.iter().map(|[a, b]| {
        let mut out = [0; 16];
        macro_rules! divided {
            ($a:expr, $b:expr; $($ty:ty, $at:literal;)*) => { $(
                let (left, right) = ($a as $ty, $b as $ty);
                if right != 0 {
                    out[$at] = left.wrapping_div(right) as u32;
                    out[$at + 1] = left.wrapping_rem(right) as u32;
                }
            )* };
        }
        divided!(*a, *b; u32, 0; i32, 2; u16, 4; i16, 6; u8, 8; i8, 10; u64, 12;);
        divided!(*a as i32, *b as i32; i64, 14;);
        out
    });
    same(&y.download()?, &expected.collect::<Vec<_>>())
}

fn crosses(on: &Context) -> Outcome {
    for (width, height) in [(1, 1), (1, 70), (70, 1), (3, 2), (16, 5), (97, 3), (64, 64)] {
        let x = below(82, 1 << 20, width * height);
        let (input, mut y) = (on.device.upload(&x)?, on.device.zeros::<u32>(x.len())?);
        on.kernels.crosses(&on.stream, Launch::linear(x.len()), width as u32, &input, &mut y)?;
        let value = |i: usize| {
            let (column, row) = (i % width, i / width);
            let left = if column > 0 { x[i - 1] } else { 0 };
            let right = if column + 1 < width { x[i + 1] } else { 0 };
            let above = if row > 0 { x[i - width] } else { 0 };
            let under = if row + 1 < height { x[i + width] } else { 0 };
            3 * x[i] + left + 5 * right + 7 * above + 11 * under
        };
        same(&y.download()?, &(0..x.len()).map(value).collect::<Vec<_>>())?;
    }
    Ok(())
}
