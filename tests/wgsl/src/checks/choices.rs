//! Kernels in Rust whose pointers may be of one buffer or of another.

use super::{On, numbers};
use kernelmill::{Launch, Result};

pub(crate) fn of_one(on: &On<'_>) -> Result<()> {
    let [x, y] = [1.5_f32, -2.5].map(|step| (0..90).map(|i| i as f32 * step).collect::<Vec<_>>());
    let (first, second) = (on.device.upload(&x)?, on.device.upload(&y[..70])?);
    for which in [0, 1, 0] {
        let mut z = on.device.zeros::<f32>(100)?;
        let launch = Launch::grid([4], [32]);
        on.kernels.of_one(&on.stream, launch, which, &first, &second, &mut z)?;
        let source = if which == 0 { &x[..] } else { &y[..70] };
        let expected: Vec<f32> = (0..100).map(|i| *source.get(i).unwrap_or(&-1.0)).collect();
        assert_eq!(z.download()?, expected, "{which}");
    }
    Ok(())
}

pub(crate) fn in_turn(on: &On<'_>) -> Result<()> {
    let (x, y): (Vec<u32>, Vec<u32>) = (numbers(64).collect(), numbers(101).skip(50).collect());
    let (first, second) = (on.device.upload(&x)?, on.device.upload(&y)?);
    for rounds in [0, 1, 9] {
        let mut z = on.device.zeros::<u32>(100)?;
        let launch = Launch::grid([2], [64]);
        on.kernels.in_turn(&on.stream, launch, rounds, &first, &second, &mut z)?;
        let value = |i: usize| {
            let sources = if i.is_multiple_of(3) { [&y[..], &x] } else { [&x[..], &y] };
            (0..rounds as usize).fold(0_u32, |sum, round| {
                let table = [7, 11, 13, 17];
                let source = if round % 4 == 3 { &table[..] } else { sources[round % 2] };
                sum.wrapping_mul(3).wrapping_add(source[(i + round) % source.len()])
            })
        };
        assert_eq!(z.download()?, (0..100).map(value).collect::<Vec<_>>(), "{rounds}");
    }
    Ok(())
}

pub(crate) fn or_none(on: &On<'_>) -> Result<()> {
    let [x, y] = [9_u64, 1 << 40].map(|step| (1..=20).map(|i| i * step).collect::<Vec<_>>());
    let (first, second) = (on.device.upload(&x)?, on.device.upload(&y[..15])?);
    let mut z = on.device.zeros::<u64>(96)?;
    on.kernels.or_none(&on.stream, Launch::grid([3], [32]), &first, &second, &mut z)?;
    let value = |i: usize| {
        let own = if i.is_multiple_of(2) { &x[..] } else { &y[..15] };
        match own.get(i / 4).filter(|_| i % 4 != 3) {
            None => 5,
            Some(number) => number.wrapping_mul(1000).wrapping_add((own.len() - i / 4) as u64),
        }
    };
    assert_eq!(z.download()?, (0..96).map(value).collect::<Vec<_>>());
    // The most threads that it may have, rounded down to whole subgroups: no size of one divides 99, and each up to 32 divides 96.
    let kernel = on.kernels.compiled().or_none()?;
    assert_eq!(kernel.resources()?.max_threads, Some(99));
    assert_eq!(kernel.suggested_block_size(0)?, 96);
    Ok(())
}

pub(crate) fn write_one(on: &On<'_>) -> Result<()> {
    const COUNT: usize = 128;
    let mut bytes = [on.device.upload(&[1_u8; COUNT])?, on.device.upload(&[2_u8; COUNT])?];
    let mut words = [on.device.zeros::<u32>(4)?, on.device.zeros::<u32>(4)?];
    let old = |which: u32| -> Vec<[u32; 6]> {
        (0..COUNT as u32).map(|i| std::array::from_fn(|k| which + i * 8 + k as u32)).collect()
    };
    let old = [old(0), old(5000)];
    let mut rows = [on.device.upload(&old[0])?, on.device.upload(&old[1])?];
    {
        let ([a, b], [c, d], [e, f]) = (&mut bytes, &mut words, &mut rows);
        let launch = Launch::grid([COUNT as u32 / 32], [32]);
        on.kernels.write_one(&on.stream, launch, a, b, c, d, e, f)?;
    }
    let written = |which: usize, first: u8| -> Vec<u8> {
        (0..COUNT).map(|i| if i % 2 == which { (3 * i) as u8 } else { first }).collect()
    };
    assert_eq!(bytes[0].download()?, written(0, 1));
    assert_eq!(bytes[1].download()?, written(1, 2));
    let times = |rest: usize| (0..COUNT).filter(|i| i % 3 == rest).count() as u32;
    assert_eq!(words[0].download()?, [times(0), 0, times(2), 0]);
    assert_eq!(words[1].download()?, [0, times(1), 0, times(0) - 1]);
    for which in [0, 1] {
        let expected = (0..COUNT).map(|i| {
            let mut row = old[usize::from(i % 4 < 2)][i];
            row[i % 6] += 100;
            if i % 2 == which { row } else { old[which][i] }
        });
        assert_eq!(rows[which].download()?, expected.collect::<Vec<_>>(), "{which}");
    }
    Ok(())
}

pub(crate) fn shared_or_not(on: &On<'_>) -> Result<()> {
    let x: Vec<u32> = numbers(64).collect();
    let there = on.device.upload(&x)?;
    let mut z = on.device.zeros::<u32>(128)?;
    on.kernels.shared_or_not(&on.stream, Launch::grid([2], [64]), &there, &mut z)?;
    let value = |t: usize| if x[t].is_multiple_of(2) { 10 * (63 - t as u32) } else { x[t] };
    let expected: Vec<u32> = (0..128).map(|i| value(i % 64)).collect();
    assert_eq!(z.download()?, expected);
    Ok(())
}
