//! Kernels with one work-item for each element.

use super::On;
use kernelmill::{Backend, Launch, Result};

pub(crate) fn saxpy(on: &On<'_>) -> Result<()> {
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let x_there = on.upload(&x)?;
    let mut y = on.upload(&vec![0.5_f32; 1000])?;
    // SAFETY: the lengths are those that the kernel is told.
    unsafe { on.kernels.saxpy(&on.stream, Launch::linear(1000), 3.0, &x_there, &mut y, 1000) }?;
    let expected: Vec<f32> = x.iter().map(|x| 3.0 * x + 0.5).collect();
    assert_eq!(y.download()?, expected);
    Ok(())
}

pub(crate) fn saxpy4(on: &On<'_>) -> Result<()> {
    let x: Vec<[f32; 4]> = (0..64).map(|i| [i as f32, 1.0, -2.0, 0.25]).collect();
    let x_there = on.upload(&x)?;
    let mut y = on.upload(&vec![[1.0_f32; 4]; 64])?;
    let (a, launch) = ([1.0, 2.0, 3.0, 4.0], Launch::grid([2], [32]));
    // SAFETY: there is an element for each work-item.
    unsafe { on.kernels.saxpy4(&on.stream, launch, a, &x_there, &mut y) }?;
    let expected: Vec<[f32; 4]> =
        x.iter().map(|x| std::array::from_fn(|k| a[k] * x[k] + 1.0)).collect();
    assert_eq!(y.download()?, expected);
    Ok(())
}

pub(crate) fn merges(on: &On<'_>) -> Result<()> {
    let x: Vec<[f32; 4]> = (0..64).map(|i| [(i * 7 % 10) as f32, i as f32, 2.0, 3.0]).collect();
    let x_there = on.upload(&x)?;
    let [mut low, mut high] = [on.upload(&[[0.0_f32; 4]; 32])?, on.upload(&[[0.0_f32; 4]; 32])?];
    let launch = Launch::grid([2], [16]);
    // SAFETY: there are two elements for each work-item, and one of each result.
    unsafe { on.kernels.merges(&on.stream, launch, &x_there, &mut low, &mut high) }?;
    let (low, high) = (low.download()?, high.download()?);
    for (pair, found) in x.as_chunks::<2>().0.iter().zip(low.into_iter().zip(high)) {
        let [a, b] = *pair;
        let (less, mut more) = if a[0] < b[0] { (a, b) } else { (b, a) };
        more.reverse();
        assert_eq!(found, (less, more));
    }
    Ok(())
}

pub(crate) fn squares(on: &On<'_>) -> Result<()> {
    let mut out = on.device.zeros::<u32>(777)?;
    // SAFETY: the length is the one that the kernel is told.
    unsafe { on.kernels.squares(&on.stream, Launch::grid([3], [64]), &mut out, 777) }?;
    let expected: Vec<u32> = (0..777).map(|i| i * i).collect();
    assert_eq!(out.download()?, expected);
    Ok(())
}

pub(crate) fn places(on: &On<'_>) -> Result<()> {
    let mut out = on.device.zeros::<[u32; 4]>(2 * 12 * 6)?;
    // SAFETY: there are two elements for each of 12 by 6 work-items.
    unsafe { on.kernels.places(&on.stream, Launch::grid([3, 2], [4, 3]), &mut out) }?;
    // Along an axis that there is not, a group has one work-item, and for pocl 3.1 none.
    let beyond = u32::from(on.device.backend() != Backend::OpenCl);
    let expected: Vec<[u32; 4]> = (0..6)
        .flat_map(|y| (0..12).map(move |x| (x, y)))
        .flat_map(|(x, y)| [[x % 4, y % 3, x / 4, y / 3], [4, 2, 2, beyond]])
        .collect();
    assert_eq!(out.download()?, expected);
    Ok(())
}
