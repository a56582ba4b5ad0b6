//! Checks of `kernels/edges.rs`: results where nothing is out of range, and else which thread is said to
//! have read what.

use crate::{Check, Context, Outcome, compare::same, panics::reported};
use kernelmill::{Buffer, Launch, Result};

pub(crate) const CHECKS: &[Check] = &[
    Check::new("edge_row", row),
    Check::new("edge_backwards", backwards),
    Check::new("edge_after_count", after_count),
    Check::new("edge_where_odd", where_odd),
    Check::new("edge_image", image),
    Check::new("edge_places", places),
    Check::new("edge_conditions", conditions),
    Check::new("edge_wide_rows", wide_rows),
];

/// What a thread gets: a number, or the line and the index of what it reads out of range.
type Value = std::result::Result<u32, (u32, usize)>;

/// Reads an element on a line.
fn read(x: &[u32], at: usize, line: u32) -> Value {
    x.get(at).copied().ok_or((line, at))
}

/// Numbers of which each is another.
fn elements(len: usize) -> Vec<u32> {
    (0..len as u32).map(|i| 3 * i + i / 7).collect()
}

/// Launches on as many threads as there are values, and wants these, or where some are none, the panic
/// of one of these threads. `block` is the size of a block along x and y, of which `width` threads lie in
/// a row.
fn expect(
    on: &Context,
    (width, block): (usize, [usize; 2]),
    x: &[u32],
    values: &[Value],
    launch: impl FnOnce(&Buffer<u32>, &mut Buffer<u32>) -> Result<()>,
) -> Outcome {
    let (input, mut output) = (on.device.upload(x)?, on.device.zeros::<u32>(values.len())?);
    launch(&input, &mut output)?;
    let expected: std::result::Result<Vec<u32>, _> = values.iter().copied().collect();
    if let Ok(expected) = expected {
        on.stream.synchronize()?;
        return same(&output.download()?, &expected);
    }
    let panic = reported(&on.stream)?;
    let is_of = |(thread, value): (usize, &Value)| {
        let Err((line, index)) = *value else { return false };
        let (column, row) = (thread % width, thread / width);
        let message = format!("the len is {} but the index is {index}", x.len());
        panic.message.contains(&message)
            && panic.location.is_some_and(|location| location.line == line)
            && panic.block.map(|i| i as usize) == [column / block[0], row / block[1], 0]
            && panic.thread.map(|i| i as usize) == [column % block[0], row % block[1], 0]
    };
    match values.iter().enumerate().any(is_of) {
        true => Ok(()),
        false => Err(format!("no thread does what is said of it: {panic:?}").into()),
    }
}

/// Threads of blocks of 48, the last of which is not full of threads that have an element.
const THREADS: usize = 133;
const ROW: (usize, [usize; 2]) = (THREADS, [48, 1]);

fn launch() -> Launch<1> {
    Launch::grid([3], [48])
}

fn row(on: &Context) -> Outcome {
    let lengths = [1, 2, 16, 17, 18, 30, 47, 48, 49, 112, 113, 128, 129];
    // 96 threads are full vectors alone, in which the last is the only one out of range.
    for (threads, shift) in [96, THREADS].into_iter().flat_map(|n| [0, 1, 2, 20].map(|by| (n, by)))
    {
        for len in lengths.into_iter().chain(threads - 4..threads + 4) {
            let x = elements(len + shift);
            let value = |i: usize| {
                let at = (i + shift).wrapping_sub(1);
                let parts = [(0, 12), (3, 13), (1, 14), (2, 15)];
                parts
                    .into_iter()
                    .try_fold(0, |sum, (by, line)| Ok(sum + read(&x, at.wrapping_add(by), line)?))
            };
            let values: Vec<_> = (0..threads).map(value).collect();
            expect(on, ROW, &x, &values, |x, y| {
                on.kernels.edge_row(&on.stream, launch(), shift as u32, x, y)
            })?;
        }
    }
    Ok(())
}

fn backwards(on: &Context) -> Outcome {
    for (last, len) in [(THREADS - 1, THREADS), (THREADS, THREADS), (500, 500), (500, 501)]
        .into_iter()
        .chain([0, 1, 14, 15, 16, 31, 100, THREADS - 2].map(|last| (last, THREADS)))
    {
        let x = elements(len);
        let value = |i: usize| read(&x, last.wrapping_sub(i), 25);
        let values: Vec<_> = (0..THREADS).map(value).collect();
        expect(on, ROW, &x, &values, |x, y| {
            on.kernels.edge_backwards(&on.stream, launch(), last as u32, x, y)
        })?;
    }
    Ok(())
}

fn after_count(on: &Context) -> Outcome {
    for (limit, len) in [(0, 1), (1, 2), (1, 1), (15, 16), (15, 15), (16, 17), (17, 17), (20, 21)]
        .into_iter()
        .chain([(96, 97), (100, 100), (133, 134), (133, 133), (133, 120), (500, 134)])
    {
        let x = elements(len);
        let value = |i: usize| if i < limit { Ok(1 + read(&x, i + 1, 38)?) } else { Ok(1) };
        let values: Vec<_> = (0..THREADS).map(value).collect();
        expect(on, ROW, &x, &values, |x, y| {
            on.kernels.edge_after_count(&on.stream, launch(), limit as u32, x, y)
        })?;
    }
    Ok(())
}

fn where_odd(on: &Context) -> Outcome {
    for (len, odd) in [1, 16, 17, 96, 132, THREADS, THREADS + 1].into_iter().flat_map(|len| {
        [vec![], vec![0], vec![15], vec![16, 40], vec![len - 1], (0..len).collect()]
            .map(|odd: Vec<usize>| (len, odd))
    }) {
        let is_odd = |(i, value)| 2 * value + u32::from(odd.contains(&i));
        let x: Vec<u32> = elements(len).into_iter().enumerate().map(is_odd).collect();
        let value = |i: usize| {
            let own = read(&x, i, 48)?;
            if own % 2 == 1 { Ok(own + read(&x, i + 1, 50)?) } else { Ok(own) }
        };
        let values: Vec<_> = (0..THREADS).map(value).collect();
        expect(on, ROW, &x, &values, |x, y| on.kernels.edge_where_odd(&on.stream, launch(), x, y))?;
    }
    Ok(())
}

fn image(on: &Context) -> Outcome {
    for (width, height) in [(64, 8), (70, 6), (33, 5), (16, 4), (5, 3), (3, 3), (1, 9), (80, 1)] {
        let all: usize = width * height;
        for len in [all, all - 1, all - width / 2, all.saturating_sub(width + 1), all / 2, 1_usize]
        {
            let x = elements(len.max(1));
            let value = |i: usize| {
                let (row, column) = (i / width, i % width);
                if row == 0 || column == 0 || row + 1 >= height || column + 1 >= width {
                    return read(&x, i, 64);
                }
                let parts = [(i - width, 67), (i + 1, 68), (i - 1, 69), (i + width, 70)];
                parts.into_iter().try_fold(0, |sum, (at, line)| Ok(sum + read(&x, at, line)?))
            };
            let values: Vec<_> = (0..all).map(value).collect();
            let grid = [width.div_ceil(32) as u32, height.div_ceil(4) as u32];
            let (w, h) = (width as u32, height as u32);
            expect(on, (width, [32, 4]), &x, &values, |x, y| {
                on.kernels.edge_image(&on.stream, Launch::grid(grid, [32, 4]), w, h, x, y)
            })?;
        }
    }
    Ok(())
}

fn places(on: &Context) -> Outcome {
    let x = elements(50);
    for (thread, place) in [0, 1, 15, 16, 31, 47, 48, 100, 127, 128, THREADS - 1]
        .into_iter()
        .flat_map(|thread| [49, 50, 51, 1 << 31, u32::MAX].map(|place| (thread, place)))
    {
        let mut places: Vec<u32> = (0..THREADS as u32).map(|i| 7 * i % 50).collect();
        places[thread] = place;
        let value = |&place: &u32| Ok(read(&x, place as usize, 80)? + place);
        let values: Vec<_> = places.iter().map(value).collect();
        let places = on.device.upload(&places)?;
        expect(on, ROW, &x, &values, |x, y| {
            on.kernels.edge_places(&on.stream, launch(), &places, x, y)
        })?;
    }
    Ok(())
}

fn conditions(on: &Context) -> Outcome {
    let x = elements(THREADS + 13);
    let near_nothing = [u32::MAX, u32::MAX - 1, u32::MAX - 15, u32::MAX - 16, u32::MAX - 40];
    let limits: Vec<u32> = (0..=40)
        .chain([47, 48, 49, 60, 61, 95, 96, 97, 127, 128, 129, 132, 133, 134, 144, 400])
        .chain(near_nothing)
        .chain([1 << 31, (1 << 31) - 1])
        .collect();
    for (kind, &a) in (0..13).flat_map(|kind| limits.iter().map(move |a| (kind, a))) {
        let value = |place: usize| {
            let i = place as u32;
            let (s, b, back) = (i as i32 - 40, a as i32, 60_u32.wrapping_sub(i));
            let holds = match kind {
                0 => i < a,
                1 => i <= a,
                2 => i > a,
                3 => i >= a,
                4 => i == a,
                5 => i != a,
                6 => s < b,
                7 => s <= b,
                8 => s > b,
                9 => s >= b,
                10 => back < a,
                11 => 3 * i > a,
                _ => i > 4 && i <= a || i == 50,
            };
            Ok(if holds { x[place] } else { 1000 * x[place + 1 + kind as usize] })
        };
        let values: Vec<_> = (0..THREADS).map(value).collect();
        expect(on, ROW, &x, &values, |x, y| {
            on.kernels.edge_conditions(&on.stream, launch(), kind, a, x, y)
        })?;
    }
    Ok(())
}

/// Of rows whose width times their number is more than 2^64, only those within the slice have elements.
fn wide_rows(on: &Context) -> Outcome {
    for width in [3, 40, 1 << 31, 1 << 32, 1 << 33, 1 << 61, 1 << 62, 1 << 63, usize::MAX] {
        let mut output = on.device.zeros::<u32>(300)?;
        let launch = Launch::grid([2, 5], [32, 2]);
        on.kernels.edge_wide_rows(&on.stream, launch, width, &mut output)?;
        let threads = (0..10).flat_map(|row| (0..64).map(move |column| (row, column)));
        let mut expected = vec![0; 300];
        for (row, column) in threads.filter(|(_, column)| *column < width) {
            let index = row as u128 * width as u128 + column as u128;
            if let Some(count) = usize::try_from(index).ok().and_then(|it| expected.get_mut(it)) {
                *count += 1;
            }
        }
        on.stream.synchronize()?;
        same(&output.download()?, &expected)?;
    }
    Ok(())
}
