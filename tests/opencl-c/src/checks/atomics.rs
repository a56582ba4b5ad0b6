//! Atomic functions.

use super::{On, numbers};
use kernelmill::{Launch, Result};

pub(crate) fn histogram(on: &On<'_>) -> Result<()> {
    let data: Vec<u8> = numbers(5000).map(|x| x as u8).collect();
    let there = on.upload(&data)?;
    let mut bins = on.device.zeros::<u32>(64)?;
    let launch = Launch::grid([4], [96]);
    // SAFETY: the length is the one that the kernel is told.
    unsafe { on.kernels.histogram(&on.stream, launch, &there, &mut bins, 5000) }?;
    let mut expected = vec![0; 64];
    data.iter().for_each(|byte| expected[usize::from(byte & 63)] += 1);
    assert_eq!(bins.download()?, expected);
    Ok(())
}

pub(crate) fn old(on: &On<'_>) -> Result<()> {
    let x: Vec<i32> = numbers(256).map(|x| x as i32 % 4096 - 1000).collect();
    let there = on.upload(&x)?;
    let mut words = on.upload(&[0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 9, 0])?;
    // SAFETY: there are twelve words.
    unsafe { on.kernels.old_atomics(&on.stream, Launch::grid([4], [64]), &mut words, &there) }?;
    let sum: i32 = x.iter().sum();
    let expected = [
        sum,
        -sum,
        x.iter().copied().min().unwrap_or_default().min(0),
        x.iter().copied().max().unwrap_or_default().max(0),
        x.iter().fold(-1, |all, x| all & (x | 0xff)),
        x.iter().fold(0, |all, x| all | x),
        x.iter().fold(0, |all, x| all ^ x),
        256,
        -256,
        512,
        5,
        9,
    ];
    assert_eq!(words.download()?, expected);
    Ok(())
}

pub(crate) fn new(on: &On<'_>) -> Result<()> {
    let x: Vec<i32> = numbers(128).map(|x| x as i32 % 4096 - 1000).collect();
    let there = on.upload(&x)?;
    let mut words = on.device.zeros::<i32>(7)?;
    let (mut wide, mut real) = (on.upload(&[7_i64])?, on.upload(&[1.0_f32])?);
    let launch = Launch::grid([2], [64]);
    // SAFETY: there are as many words as the kernel uses.
    unsafe {
        on.kernels.new_atomics(&on.stream, launch, &mut words, &there, &mut wide, &mut real)
    }?;
    let sum: i32 = x.iter().sum();
    let expected = [
        sum,
        -sum,
        x.iter().copied().min().unwrap_or_default().min(0),
        x.iter().copied().max().unwrap_or_default().max(0),
        x.iter().fold(0, |all, x| all | x),
        384,
        77,
    ];
    assert_eq!(words.download()?, expected);
    assert_eq!(wide.download()?, [(i64::from(sum) << 33) + 7]);
    assert_eq!(real.download()?, [65.0]);
    Ok(())
}

pub(crate) fn compact(on: &On<'_>) -> Result<()> {
    let x: Vec<i32> = numbers(320).map(|x| x as i32 % 1000).collect();
    let there = on.upload(&x)?;
    let (mut out, mut count) = (on.device.zeros::<i32>(320)?, on.device.zeros::<i32>(1)?);
    let launch = Launch::grid([5], [64]);
    // SAFETY: the output has room for all elements.
    unsafe { on.kernels.compact(&on.stream, launch, &there, &mut out, &mut count) }?;
    let mut expected: Vec<i32> = x.into_iter().filter(|x| x % 3 == 0).collect();
    let count = count.download()?[0] as usize;
    let mut found = out.download()?[..count].to_vec();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
    Ok(())
}
