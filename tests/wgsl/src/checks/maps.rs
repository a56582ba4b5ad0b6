//! Kernels with one invocation for each element.

use super::{On, groups, numbers};
use crate::kernels::Boid;
use kernelmill::{Launch, Result};

pub(crate) fn saxpy(on: &On<'_>) -> Result<()> {
    for count in [1, 63, 64, 1000, 4097] {
        let x: Vec<f32> = (0..count).map(|i| i as f32).collect();
        let there = on.device.upload(&x)?;
        let mut y = on.device.upload(&vec![0.5_f32; count])?;
        let launch = Launch::grid([groups(count, 64)], [64]);
        on.kernels.saxpy(&on.stream, launch, 3.0, &there, &mut y)?;
        on.kernels.saxpy(&on.stream, launch, -1.0, &there, &mut y)?;
        let expected: Vec<f32> = x.iter().map(|x| 2.0 * x + 0.5).collect();
        assert_eq!(y.download()?, expected, "{count}");
    }
    Ok(())
}

pub(crate) fn saxpy4(on: &On<'_>) -> Result<()> {
    let x: Vec<[f32; 4]> = (0..77).map(|i| [i as f32, 1.0, -2.0, 0.25]).collect();
    let there = on.device.upload(&x)?;
    let mut y = on.device.upload(&vec![[1.0_f32; 4]; 77])?;
    let a = [1.0, 2.0, 3.0, 4.0];
    on.kernels.saxpy4(&on.stream, Launch::grid([3], [32]), a, &there, &mut y)?;
    let expected: Vec<[f32; 4]> =
        x.iter().map(|x| std::array::from_fn(|k| a[k] * x[k] + 1.0)).collect();
    assert_eq!(y.download()?, expected);
    Ok(())
}

pub(crate) fn integers(on: &On<'_>) -> Result<()> {
    let mut signed: Vec<i32> = numbers(50).map(|x| x as i32 - 10_000_000).collect();
    let mut unsigned: Vec<u32> = numbers(50).map(|x| x % 97 + 1).collect();
    (signed[3], unsigned[3]) = (-17, 0);
    (signed[7], unsigned[7]) = (i32::MIN, u32::MAX);
    let (x, y) = (on.device.upload(&signed)?, on.device.upload(&unsigned)?);
    let mut out = on.device.zeros::<[i32; 2]>(50)?;
    on.kernels.integers(&on.stream, Launch::grid([4], [16]), &x, &y, &mut out)?;
    let expected = signed.iter().zip(&unsigned).map(|(x, y)| {
        // By zero, and where the quotient is too large, the dividend.
        let quotient = x.checked_div(*y as i32).unwrap_or(*x);
        [quotient, x >> (y & 31)]
    });
    assert_eq!(out.download()?, expected.collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn collatz(on: &On<'_>) -> Result<()> {
    let start: Vec<u32> = (1..=333).collect();
    let mut steps = on.device.upload(&start)?;
    on.kernels.collatz(&on.stream, Launch::grid([6], [64]), &mut steps)?;
    let count = |mut n: u32| {
        let mut count = 0;
        while n > 1 {
            n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
            count += 1;
        }
        count
    };
    assert_eq!(steps.download()?, start.into_iter().map(count).collect::<Vec<u32>>());
    Ok(())
}

/// Indices past the end are those of an element: nothing around the buffers changes.
pub(crate) fn beyond(on: &On<'_>) -> Result<()> {
    let numbers: Vec<_> = (0..64).map(|i| 3.0 + i as f32).collect();
    let x = on.device.upload(&numbers)?;
    let mut y = on.device.upload(&[1.0_f32; 64])?;
    let guards: Vec<_> = (0..8).map(|_| on.device.upload(&[2.0_f32; 64])).collect::<Result<_>>()?;
    on.kernels.beyond(&on.stream, Launch::grid([1], [64]), &x, &mut y)?;
    // Both indices are those of the last elements.
    let mut expected = [1.0; 64];
    expected[63] = numbers[63];
    assert_eq!(y.download()?, expected);
    for guard in guards {
        assert_eq!(guard.download()?, [2.0; 64]);
    }
    Ok(())
}

pub(crate) fn signed_indices(on: &On<'_>) -> Result<()> {
    let signed: Vec<i32> = (0..200).map(|i| i * 1000 - 7).collect();
    let there = on.device.upload(&signed)?;
    let mut turned = on.device.zeros::<i32>(signed.len())?;
    on.kernels.signed_indices(&on.stream, Launch::grid([4], [64]), &there, &mut turned)?;
    let square = |i: i32| if (4..12).contains(&i) { (i - 4) * (i - 4) } else { 49 };
    let expected: Vec<_> = signed.iter().rev().zip(0..).map(|(it, i)| it + square(i)).collect();
    assert_eq!(turned.download()?, expected);
    Ok(())
}

pub(crate) fn move_boids(on: &On<'_>) -> Result<()> {
    let boid = |i: usize| Boid { position: [i as f32, 2.0], velocity: [0.5, -(i as f32)] };
    let mut boids = on.device.upload(&(0..150).map(boid).collect::<Vec<_>>())?;
    on.kernels.move_boids(&on.stream, Launch::grid([3], [64]), &mut boids)?;
    for (i, moved) in boids.download()?.into_iter().enumerate() {
        assert_eq!(moved.position, [i as f32 + 0.5, 2.0 - i as f32], "{i}");
    }
    Ok(())
}
