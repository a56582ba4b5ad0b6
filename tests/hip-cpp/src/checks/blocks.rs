//! Threads of a block that share memory.

use super::{On, floats, integers, numbers};
use kernelmill::{Launch, Result};

pub(crate) fn transpose(on: &On<'_>) -> Result<()> {
    let (width, height) = (50_usize, 20_usize);
    let all = floats(1000);
    let x = on.device.upload(&all)?;
    let mut out = on.device.zeros::<f32>(1000)?;
    let launch = Launch::<2>::grid([4, 2], [16, 16]);
    // SAFETY: there are as many elements as width times height.
    unsafe { on.kernels.transpose(&on.stream, launch, &x, &mut out, width as i32, height as i32) }?;
    let expected: Vec<_> = (0..1000).map(|i| all[i % height * width + i / height]).collect();
    assert_eq!(out.download()?, expected);
    Ok(())
}

pub(crate) fn histogram(on: &On<'_>) -> Result<()> {
    let all = numbers(1000);
    let x = on.device.upload(&all)?;
    let mut counts = on.device.zeros::<u32>(16)?;
    let (mut greatest, mut sum) = (on.device.zeros::<u32>(1)?, on.device.zeros::<f32>(1)?);
    let mut extremes = on.device.upload(&[0.0_f32, 0.0])?;
    let launch = Launch::<1>::grid([3], [64]);
    // SAFETY: there are as many elements as the last argument says, sixteen counts and two extremes.
    unsafe {
        let (counts, greatest, sum) = (&mut counts, &mut greatest, &mut sum);
        let extremes = &mut extremes;
        on.kernels.histogram(&on.stream, launch, &x, counts, greatest, sum, extremes, 1000)
    }?;
    let mut expected = [0; 16];
    all.iter().for_each(|x| expected[*x as usize % 16] += 1);
    assert_eq!(counts.download()?, expected);
    assert_eq!(greatest.download()?, [*all.iter().max().unwrap_or(&0)]);
    let [least, most] = [all.iter().min(), all.iter().max()].map(|it| *it.unwrap_or(&0) as f32);
    assert_eq!(extremes.download()?, [least - 50.0, most + 0.5]);
    assert_eq!(sum.download()?, [all.iter().map(|x| x % 16).sum::<u32>() as f32]);
    Ok(())
}

pub(crate) fn scan(on: &On<'_>) -> Result<()> {
    let all = integers(256);
    let x = on.device.upload(&all)?;
    let mut sums = on.device.zeros::<i32>(256)?;
    let launch = Launch::<1>::grid([2], [128]).shared_bytes(4 * 128);
    // SAFETY: there is an element, and shared memory, for each thread.
    unsafe { on.kernels.scan(&on.stream, launch, &x, &mut sums) }?;
    let expected = all.chunks(128).flat_map(|block| {
        block.iter().scan(0, |sum, x| {
            *sum += x;
            Some(*sum)
        })
    });
    assert_eq!(sums.download()?, expected.collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn tiles(on: &On<'_>) -> Result<()> {
    let all = integers(64);
    let x = on.device.upload(&all)?;
    let mut out = on.device.zeros::<i32>(8)?;
    // SAFETY: there is an element for each thread, and a result for each eight of them.
    unsafe { on.kernels.tiles(&on.stream, Launch::<1>::grid([1], [64]), &x, &mut out) }?;
    let expected: Vec<i32> = all.chunks(8).map(|tile| tile.iter().sum()).collect();
    assert_eq!(out.download()?, expected);
    Ok(())
}

pub(crate) fn checked(on: &On<'_>) -> Result<()> {
    let all = integers(100);
    let x = on.device.upload(&all)?;
    let mut out = on.device.zeros::<i32>(100)?;
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.checked(&on.stream, Launch::linear(100), &x, &mut out, 100) }?;
    assert_eq!(out.download()?, all);
    Ok(())
}

/// A variable that the host does not reach has its initial value at first, and keeps what kernels write.
pub(crate) fn remembered(on: &On<'_>) -> Result<()> {
    let mut x = on.device.zeros::<u32>(8)?;
    let launch = Launch::<1>::grid([1], [8]).shared_bytes(4 * 8);
    let mut run = |limit| {
        // SAFETY: there is an element, and shared memory, for each thread.
        unsafe { on.kernels.remembered(&on.stream, launch, &mut x, limit) }?;
        x.download()
    };
    // Four threads add 2 each to 5, and four to 7.
    assert_eq!(run(1000)?, [5 + 7 + 9 + 11 + 7 + 9 + 11 + 13; 8]);
    assert_eq!(run(1000)?, [72 + 2 * 4 * 8; 8]);
    let error = run(10).expect_err("a failed assertion").to_string();
    assert!(error.contains("sum < limit"), "{error}");
    Ok(())
}

/// The assertion comes to the host with its text, its line and the thread.
pub(crate) fn failed(on: &On<'_>) -> Result<()> {
    let x = on.device.upload(&[1, 2, -3])?;
    let mut out = on.device.zeros::<i32>(3)?;
    let stream = on.device.new_stream()?;
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.checked(&stream, Launch::linear(3), &x, &mut out, 3) }?;
    let error = stream.synchronize().unwrap_err().to_string();
    for part in ["kernels/blocks.hip:61", "assertion failed: x[i] >= 0", "thread 2,0,0"] {
        assert!(error.contains(part), "{error}");
    }
    Ok(())
}
