//! Kernels with workgroup memory, barriers and atomics.

use super::{On, groups, numbers};
use crate::kernels::Extremes;
use kernelmill::{Launch, Result};

pub(crate) fn group_sums(on: &On<'_>) -> Result<()> {
    // Sums of such numbers are exact.
    let values: Vec<f32> = numbers(1001).map(|x| (x % 512) as f32).collect();
    let there = on.device.upload(&values)?;
    let count = groups(values.len(), 128);
    let mut sums = on.device.zeros::<f32>(count as usize)?;
    on.kernels.group_sums(&on.stream, Launch::grid([count], [128]), &there, &mut sums)?;
    let expected: Vec<f32> = values.chunks(128).map(|group| group.iter().sum()).collect();
    assert_eq!(sums.download()?, expected);
    // Its workgroup and its memory, as naga has read them, and of a kernel in Rust what the device allows.
    let kernel = on.kernels.compiled().group_sums()?;
    let resources = kernel.resources()?;
    let found = (resources.max_threads, resources.static_shared_bytes);
    assert_eq!((found, kernel.suggested_block_size(0)?), ((Some(128), Some(512)), 128));
    let kernel = on.kernels.compiled().blend()?;
    let (resources, limits) = (kernel.resources()?, on.device.limits());
    let found = (resources.max_threads, resources.static_shared_bytes);
    assert_eq!(found, (Some(limits.threads_per_block.min(1024)), Some(0)));
    assert_eq!(kernel.suggested_block_size(0)?, 256);
    Ok(())
}

pub(crate) fn scan(on: &On<'_>) -> Result<()> {
    let values: Vec<u32> = numbers(256).map(|x| x % 1000).collect();
    let mut there = on.device.upload(&values)?;
    on.kernels.scan(&on.stream, Launch::grid([4], [64]), &mut there)?;
    let of_group = |group: &[u32]| {
        group
            .iter()
            .scan(0, |sum, x| {
                *sum += x;
                Some(*sum)
            })
            .collect::<Vec<u32>>()
    };
    let expected: Vec<u32> = values.chunks(64).flat_map(of_group).collect();
    assert_eq!(there.download()?, expected);
    Ok(())
}

pub(crate) fn zeroed(on: &On<'_>) -> Result<()> {
    let mut counts = on.device.zeros::<u32>(512)?;
    for _ in 0..3 {
        on.kernels.zeroed(&on.stream, Launch::grid([8], [64]), &mut counts)?;
        let counts = counts.download()?;
        // An invocation reads what another writes, before or after that.
        assert!(counts.iter().all(|count| [7, 16].contains(count)), "{counts:?}");
    }
    Ok(())
}

pub(crate) fn histogram(on: &On<'_>) -> Result<()> {
    let data: Vec<u32> = numbers(5003).collect();
    let there = on.device.upload(&data)?;
    let mut bins = on.device.zeros::<[u32; 16]>(1)?;
    let launch = Launch::grid([groups(data.len(), 64)], [64]);
    on.kernels.histogram(&on.stream, launch, &there, &mut bins)?;
    let mut expected = [0; 16];
    data.iter().for_each(|x| expected[(x & 15) as usize] += 1);
    assert_eq!(bins.download()?, [expected]);
    Ok(())
}

pub(crate) fn extremes_of(on: &On<'_>) -> Result<()> {
    let data: Vec<i32> = numbers(500).map(|x| x as i32 - 16_000_000).collect();
    let there = on.device.upload(&data)?;
    let start = Extremes { least: i32::MAX, greatest: i32::MIN, exchanged: 1 };
    let mut extremes = on.device.upload(&[start])?;
    on.kernels.extremes_of(&on.stream, Launch::grid([16], [32]), &there, &mut extremes)?;
    let [least, greatest] = [data.iter().min(), data.iter().max()].map(|it| it.copied().unwrap());
    // Every invocation has added 2.
    let expected = Extremes { least, greatest, exchanged: 1 + 2 * 512 };
    assert_eq!(extremes.download()?, [expected]);
    Ok(())
}
