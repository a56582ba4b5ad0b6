//! Sums, extremes and prefix sums of work-groups.

use super::{On, numbers};
use kernelmill::{Launch, Result};

pub(crate) fn group_sums(on: &On<'_>) -> Result<()> {
    let x: Vec<f32> = numbers(500).map(|x| (x % 100) as f32).collect();
    let there = on.upload(&x)?;
    let mut sums = on.device.zeros::<f32>(4)?;
    let launch = Launch::grid([4], [128]);
    on.kernels.group_sums(&on.stream, launch, &there, &mut sums, 128, 500)?;
    let expected: Vec<f32> = x.chunks(128).map(|group| group.iter().sum()).collect();
    assert_eq!(sums.download()?, expected);
    // The configuration has a contract, of the number of elements in local memory too.
    let result = on.kernels.group_sums(&on.stream, launch, &there, &mut sums, 100, 500);
    let error = result.expect_err("too little local memory").to_string();
    assert!(error.contains("partial >= 128"), "{error}");
    Ok(())
}

pub(crate) fn least(on: &On<'_>) -> Result<()> {
    let x: Vec<i32> = numbers(256).map(|x| x as i32 % 1000 - 500).collect();
    let there = on.upload(&x)?;
    let (mut values, mut places) = (on.device.zeros::<i32>(4)?, on.device.zeros::<u32>(4)?);
    let launch = Launch::grid([4], [64]);
    // SAFETY: there are four groups of 64 elements.
    unsafe { on.kernels.least(&on.stream, launch, &there, &mut values, &mut places) }?;
    let (values, places) = (values.download()?, places.download()?);
    for (group, part) in x.chunks(64).enumerate() {
        assert_eq!(Some(&values[group]), part.iter().min());
        assert_eq!(x[places[group] as usize], values[group]);
    }
    Ok(())
}

pub(crate) fn required_size(on: &On<'_>) -> Result<()> {
    let there = on.upload(&[0_i32; 32])?;
    let (mut values, mut places) = (on.device.zeros::<i32>(1)?, on.device.zeros::<u32>(1)?);
    let launch = Launch::grid([1], [32]);
    // SAFETY: nothing is launched.
    let result = unsafe { on.kernels.least(&on.stream, launch, &there, &mut values, &mut places) };
    let error = result.expect_err("the kernel is made for groups of 64").to_string();
    assert!(error.contains("compiled for blocks of [64, 1, 1] threads"), "{error}");
    Ok(())
}

pub(crate) fn pairs(on: &On<'_>) -> Result<()> {
    let x: Vec<u8> = numbers(66).map(|x| x as u8).collect();
    let there = on.upload(&x)?;
    let mut out = on.device.zeros::<[i32; 4]>(66)?;
    let launch = Launch::grid([2], [33]);
    // SAFETY: there are two groups of 33 work-items, each with an element of both parts.
    unsafe { on.kernels.pairs(&on.stream, launch, &there, &mut out, 33, 33) }?;
    let expected: Vec<[i32; 4]> = (0..66)
        .map(|i| {
            let (group, lane) = (&x[i / 33 * 33..], (i % 33 + 1) % 33);
            [group[lane], group[32 - lane], group[0], lane as u8].map(i32::from)
        })
        .collect();
    assert_eq!(out.download()?, expected);
    Ok(())
}

pub(crate) fn groups(on: &On<'_>) -> Result<()> {
    let x: Vec<i32> = numbers(160).map(|x| x as i32 % 100).collect();
    let there = on.upload(&x)?;
    let mut out = on.device.zeros::<i32>(6 * 160)?;
    // SAFETY: there are six elements for each work-item.
    unsafe { on.kernels.groups(&on.stream, Launch::grid([2], [80]), &there, &mut out) }?;
    let out = out.download()?;
    for (group, part) in x.chunks(80).enumerate() {
        for lane in 0..80 {
            let warp = &part[lane / 32 * 32..(lane / 32 * 32 + 32).min(80)];
            let is_any = i32::from(part.iter().any(|x| *x > 90));
            let expected = [
                part.iter().sum(),
                part[..=lane].iter().sum(),
                part[..lane].iter().copied().max().unwrap_or(i32::MIN),
                part[3],
                is_any + 2,
                warp.iter().copied().max().unwrap_or_default() + 1000 * (lane as i32 % 32),
            ];
            let first = 6 * (80 * group + lane);
            assert_eq!(out[first..first + 6], expected, "group {group}, lane {lane}");
        }
    }
    Ok(())
}

pub(crate) fn hillis_steele(on: &On<'_>) -> Result<()> {
    let x: Vec<i32> = numbers(200).map(|x| x as i32 % 50 - 25).collect();
    let there = on.upload(&x)?;
    let mut out = on.device.zeros::<i32>(200)?;
    let launch = Launch::grid([2], [100]);
    // SAFETY: local memory has two elements for each work-item.
    unsafe { on.kernels.hillis_steele(&on.stream, launch, &there, &mut out, 200) }?;
    let sums = |part: &[i32]| {
        let mut sum = 0;
        part.iter().map(|x| (sum += x, sum).1).collect::<Vec<_>>()
    };
    assert_eq!(out.download()?, x.chunks(100).flat_map(sums).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn blelloch(on: &On<'_>) -> Result<()> {
    let x: Vec<u32> = numbers(256).map(|x| x % 1000).collect();
    let there = on.upload(&x)?;
    let (mut out, mut totals) = (on.device.zeros::<u32>(256)?, on.device.zeros::<u32>(2)?);
    let launch = Launch::grid([2], [64]);
    // SAFETY: each work-item has two elements of everything, local memory among it.
    unsafe { on.kernels.blelloch(&on.stream, launch, &there, &mut out, &mut totals, 128) }?;
    let sums = |part: &[u32]| {
        let mut sum = 0;
        part.iter().map(|x| (sum, sum += x).0).collect::<Vec<_>>()
    };
    assert_eq!(out.download()?, x.chunks(128).flat_map(sums).collect::<Vec<_>>());
    assert_eq!(totals.download()?, x.chunks(128).map(|it| it.iter().sum()).collect::<Vec<u32>>());
    Ok(())
}

pub(crate) fn sub_groups(on: &On<'_>) -> Result<()> {
    let x: Vec<f32> = numbers(128).map(|x| (x % 100) as f32).collect();
    let there = on.upload(&x)?;
    let mut out = on.device.zeros::<f32>(128)?;
    let mut votes = on.device.zeros::<u32>(6 * 128)?;
    let launch = Launch::grid([2], [64]);
    // SAFETY: there is an element for each work-item, and six of the votes.
    unsafe { on.kernels.sub_groups(&on.stream, launch, &there, &mut out, &mut votes) }?;
    let expected: Vec<f32> = (0..128)
        .map(|i| {
            let (warp, lane) = (&x[i / 32 * 32..i / 32 * 32 + 32], i % 32);
            let before: f32 = warp[..lane].iter().sum();
            let turned = warp[lane ^ 1] * 1000.0 + warp[0] * 0.25;
            let is_any = f32::from(warp.iter().any(|x| *x > 90.0));
            warp.iter().sum::<f32>() + before * 0.5 + turned + is_any
        })
        .collect();
    assert_eq!(out.download()?, expected);
    let expected: Vec<u32> = (0..128)
        .flat_map(|i| {
            let (warp, lane) = (&x[i / 32 * 32..i / 32 * 32 + 32], i as u32 % 32);
            let is = |lane: &u32| warp[*lane as usize] > 50.0 || *lane == 5;
            let are: Vec<u32> = (0..32).filter(is).collect();
            let [before, until] =
                [lane, lane + 1].map(|end| are.iter().filter(|lane| **lane < end).count() as u32);
            let ends = are[0] + 100 * are[are.len() - 1];
            let count = are.len() as u32 + 100 * (31 - lane);
            [count, before, until, ends, u32::from(is(&lane)) + 2, 3 + 11]
        })
        .collect();
    assert_eq!(votes.download()?, expected);
    Ok(())
}
