//! Checks of `kernels/loops.rs`.

#[path = "../kernels/rounds.rs"]
mod rounds;

use crate::{
    Check, Context, Outcome,
    compare::{close, same},
};
use kernelmill::Launch;

pub(crate) const CHECKS: &[Check] = &[
    Check::new("own_arrays", own_arrays),
    Check::new("two_exits", two_exits),
    Check::new("labelled_loops", labelled_loops),
    Check::new("divisors", divisors),
    Check::new("colours", colours),
];

/// Blocks that groups of lanes divide, and others.
const WIDTHS: [u32; 3] = [64, 41, 5];

fn two_exits(on: &Context) -> Outcome {
    for width in WIDTHS {
        let mut y = on.device.zeros::<u32>(3 * width as usize)?;
        on.kernels.two_exits(&on.stream, Launch::<1>::grid([3], [width]), 3, 11, &mut y)?;
        let expected: Vec<_> = (0..3 * width).map(|i| rounds::all_steps(i, 3, 11)).collect();
        same(&y.download()?, &expected)?;
    }
    Ok(())
}

fn labelled_loops(on: &Context) -> Outcome {
    for width in WIDTHS {
        let mut y = on.device.zeros::<u32>(4 * width as usize)?;
        on.kernels.labelled_loops(&on.stream, Launch::<1>::grid([4], [width]), 9, &mut y)?;
        let expected: Vec<_> = (0..4 * width).map(|i| rounds::nested(i, 9)).collect();
        same(&y.download()?, &expected)?;
    }
    Ok(())
}

fn divisors(on: &Context) -> Outcome {
    let (width, height) = (50_u32, 18_u32);
    let mut y = on.device.zeros::<[u32; 2]>((width * height) as usize)?;
    on.kernels.divisors(&on.stream, Launch::<2>::grid([2, 3], [25, 6]), width, &mut y)?;
    let pixels = (0..height).flat_map(|row| (0..width).map(move |column| (column, row)));
    let expected: Vec<_> =
        pixels.map(|(column, row)| rounds::divisor(column * 6, row * 4 + width)).collect();
    same(&y.download()?, &expected)
}

fn colours(on: &Context) -> Outcome {
    let x: Vec<f32> = (0..100_u16).map(|i| f32::from(i) * 0.37 + 0.01).collect();
    let input = on.device.upload(&x)?;
    let mut y = on.device.zeros::<[f32; 4]>(x.len())?;
    on.kernels.colours(&on.stream, Launch::linear(x.len()), 5, &input, &mut y)?;
    let expected = x.iter().flat_map(|&x| {
        let [red, green, blue] = rounds::colour(x, 5);
        [red, green, blue, (((x * 8.0 + 0.5) as u32) << 8) as f32]
    });
    let expected: Vec<f32> = expected.collect();
    close(&y.download()?.concat(), &expected, 1e-5)
}

fn own_arrays(on: &Context) -> Outcome {
    let mut y = on.device.zeros::<u32>(2 * 64)?;
    on.kernels.own_arrays(&on.stream, Launch::<1>::grid([2], [64]), 4, &mut y)?;
    let expected = (0..2).flat_map(|block| {
        let mut tile: Vec<u32> = (0..64).map(|t| block * 64 + t).collect();
        for round in 0..4 {
            let before = tile.clone();
            for t in 0..64 {
                let other = before[(t + 5) % 64];
                if other % 3 != round % 3 {
                    tile[t] = rounds::folded(other, t as u32);
                }
            }
        }
        tile
    });
    same(&y.download()?, &expected.collect::<Vec<_>>())
}
