//! Parts of buffers, copies, streams and events, and what is refused.

use super::{On, numbers};
use crate::rows::copy_rows;
use kernelmill::{Buffer, Capability, Error, Launch, Result, Support};

/// Parts that start anywhere: the device wants multiples of its alignment.
pub(crate) fn parts(on: &On<'_>) -> Result<()> {
    let x: Vec<f32> = (0..300).map(|i| i as f32).collect();
    let there = on.device.upload(&x)?;
    for (from, to) in [(0, 100), (1, 100), (3, 67), (64, 300), (7, 299)] {
        let mut y = on.device.upload(&vec![1.0_f32; 300])?;
        let launch = Launch::grid([5], [64]);
        let count = to - from;
        let mut target = y.slice_mut(from..to);
        on.kernels.saxpy(&on.stream, launch, 2.0, &there.slice(to - count..to), &mut target)?;
        let inside = |i: usize| if (from..to).contains(&i) { 2.0 * x[i] + 1.0 } else { 1.0 };
        assert_eq!(y.download()?, (0..300).map(inside).collect::<Vec<_>>(), "{from}..{to}");
    }
    Ok(())
}

/// Copies of bytes, which wgpu has none of.
pub(crate) fn bytes(on: &On<'_>) -> Result<()> {
    let bytes: Vec<u8> = numbers(1003).map(|x| x as u8).collect();
    let mut there = on.device.upload(&bytes)?;
    assert_eq!(there.download()?, bytes);
    let mut expected = bytes.clone();
    for (from, count) in [(1, 1), (5, 2), (3, 9), (998, 5), (16, 8)] {
        let new: Vec<u8> = (0..count).map(|i| 200 + i as u8).collect();
        there.slice_mut(from..from + count).copy_from(&new)?;
        expected[from..from + count].copy_from_slice(&new);
        assert_eq!(there.slice(from..from + count).download()?, new);
    }
    assert_eq!(there.download()?, expected);
    let mut copy: Buffer<u8> = on.device.zeros(1003)?;
    copy.slice_mut(2..503).copy_from_buffer(&on.stream, &there.slice(1..502))?;
    let copied = copy.download()?;
    assert_eq!((&copied[..2], &copied[2..503]), (&[0, 0][..], &expected[1..502]));
    assert!(copied[503..].iter().all(|byte| *byte == 0));
    for (from, to) in [(0, 1003), (1, 2), (1, 8), (4, 12), (6, 9), (1001, 1003)] {
        there.fill(&on.stream, 7)?;
        there.slice_mut(from..to).fill_zeros(&on.stream)?;
        let zeroed = |i: usize| if (from..to).contains(&i) { 0 } else { 7 };
        assert_eq!(there.download()?, (0..1003).map(zeroed).collect::<Vec<u8>>(), "{from}..{to}");
    }
    Ok(())
}

/// Rows of elements of two bytes, most of which begin or end within a word.
pub(crate) fn rows(on: &On<'_>) -> Result<()> {
    copy_rows(on.device);
    on.stream.synchronize()
}

/// Tasks that wait, and slices that are cast.
pub(crate) fn awaits(on: &On<'_>) -> Result<()> {
    let ones = on.device.upload(&[1.0_f32; 64])?;
    crate::awaits::awaits::<f32>(on.device, |stream, y| {
        on.kernels.saxpy(stream, Launch::grid([1], [64]), 1.0, &ones, y).unwrap();
    });
    on.stream.synchronize()
}

/// Work on several streams has the order in which it was given.
pub(crate) fn streams(on: &On<'_>) -> Result<()> {
    let streams = [on.device.new_stream()?, on.device.new_stream()?];
    let x = on.device.upload(&[1.0_f32; 1000])?;
    let mut y = on.device.zeros::<f32>(1000)?;
    let start = streams[0].record()?;
    for round in 0..20 {
        let launch = Launch::grid([16], [64]);
        on.kernels.saxpy(&streams[round % 2], launch, 1.0, &x, &mut y)?;
    }
    let end = streams[1].record()?;
    end.synchronize()?;
    assert!(start.is_complete()? && end.is_complete()?);
    let time = end.elapsed_since(&start)?;
    assert!(time.as_nanos() > 0, "{time:?}");
    assert_eq!(y.download()?, [20.0; 1000]);
    streams[0].synchronize()
}

pub(crate) fn refused(on: &On<'_>) -> Result<()> {
    let text = |result: Result<()>| result.expect_err("it is refused").to_string();
    let x = on.device.upload(&[1.0_f32; 64])?;
    let mut y = on.device.upload(&[1.0_f32; 64])?;
    let mut none = on.device.zeros::<f32>(0)?;
    let launch = Launch::grid([1], [64]);
    let empty = text(on.kernels.saxpy(&on.stream, launch, 1.0, &x, &mut none));
    assert!(empty.contains("the argument `y` of `saxpy`"), "{empty}");
    assert!(
        empty.contains("it has no elements, but a buffer of WGSL must have at least one"),
        "{empty}"
    );
    // No threads are no launch.
    on.kernels.saxpy(&on.stream, Launch::grid([0], [64]), 1.0, &x, &mut none)?;
    let block = text(on.kernels.saxpy(&on.stream, Launch::grid([1], [32]), 1.0, &x, &mut y));
    assert!(block.contains("compiled for blocks of [64, 1, 1] threads"), "{block}");
    let grid = text(on.kernels.saxpy(&on.stream, Launch::grid([1 << 31], [64]), 1.0, &x, &mut y));
    assert!(grid.contains("blocks in x"), "{grid}");
    let shared = text(on.kernels.saxpy(&on.stream, launch.shared_bytes(16), 1.0, &x, &mut y));
    assert!(shared.contains("WGSL has no dynamic shared memory"), "{shared}");
    let large = on.device.zeros::<f32>(1 << 40).expect_err("there is no such memory");
    assert!(matches!(large, Error::OutOfMemory { .. }), "{large}");
    assert_eq!(on.device.support(Capability::Printing), Support::None);
    // After all this the device is as before.
    on.kernels.saxpy(&on.stream, launch, 1.0, &x, &mut y)?;
    assert_eq!(y.download()?, [2.0; 64]);
    Ok(())
}
