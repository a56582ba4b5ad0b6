//! Operations of wavefronts, which have 32 lanes on these devices.

use super::{On, floats, integers};
use kernelmill::{Launch, Result};

const LANES: usize = 32;

fn one_wavefront() -> Launch<1> {
    Launch::grid([1], [LANES as u32])
}

pub(crate) fn block_sums(on: &On<'_>) -> Result<()> {
    let all = floats(1000);
    let x = on.device.upload(&all)?;
    let mut sums = on.device.zeros::<f32>(8)?;
    let launch = Launch::<1>::grid([8], [128]).shared_bytes(4 * 4);
    // SAFETY: there are as many elements as the last argument says, a sum for each block, and shared memory for each
    // wavefront.
    unsafe { on.kernels.block_sums(&on.stream, launch, &x, &mut sums, 1000) }?;
    let expected: Vec<f32> = all.chunks(128).map(|block| block.iter().sum()).collect();
    assert_eq!(sums.download()?, expected);
    Ok(())
}

pub(crate) fn positives(on: &On<'_>) -> Result<()> {
    let all: Vec<_> = integers(4 * LANES as u32).into_iter().map(|x| x - 50).collect();
    let x = on.device.upload(&all)?;
    let mut out = on.device.zeros::<i32>(all.len())?;
    let mut counts = on.device.zeros::<i32>(4)?;
    let launch = Launch::<1>::grid([4], [LANES as u32]);
    // SAFETY: there is an element for each lane of four wavefronts.
    unsafe { on.kernels.positives(&on.stream, launch, &x, &mut out, &mut counts) }?;
    let (out, counts) = (out.download()?, counts.download()?);
    for (wavefront, values) in all.chunks(LANES).enumerate() {
        let expected: Vec<_> = values.iter().copied().filter(|value| *value > 0).collect();
        assert_eq!(counts[wavefront] as usize, expected.len());
        assert_eq!(out[wavefront * LANES..][..expected.len()], expected);
    }
    Ok(())
}

pub(crate) fn shuffles(on: &On<'_>) -> Result<()> {
    let all = integers(LANES as u32);
    let x = on.device.upload(&all)?;
    let mut out = on.device.zeros::<i32>(8 * LANES)?;
    // SAFETY: there is an element for each lane, and eight results.
    unsafe { on.kernels.shuffles(&on.stream, one_wavefront(), &x, &mut out) }?;
    for (lane, own) in out.download()?.chunks(8).enumerate() {
        let part = lane & !7;
        let from = [
            3,
            part + (lane + 1) % 8,
            lane ^ 5,
            if lane < 2 { lane } else { lane - 2 },
            if lane % 8 < 2 { lane } else { lane - 2 },
            if lane + 3 < LANES { lane + 3 } else { lane },
            if lane % 8 + 3 < 8 { lane + 3 } else { lane },
        ];
        assert_eq!(own[..7], from.map(|lane| all[lane]), "lane {lane}");
        assert_eq!(own[7], 2 * all[lane ^ 1] + 1, "lane {lane}");
    }
    Ok(())
}

pub(crate) fn apart(on: &On<'_>) -> Result<()> {
    let all = integers(LANES as u32);
    let x = on.device.upload(&all)?;
    let mut out = on.device.zeros::<i32>(LANES)?;
    let mut votes = on.device.zeros::<u64>(LANES)?;
    // SAFETY: there is an element for each lane.
    unsafe { on.kernels.apart(&on.stream, one_wavefront(), &x, &mut out, &mut votes) }?;
    let (out, votes) = (out.download()?, votes.download()?);
    let large = (0..LANES).filter(|lane| lane % 2 == 0 && all[*lane] > 50);
    let large: u64 = large.map(|lane| 1 << lane).sum();
    let odd = || (0..LANES).filter(|lane| lane % 2 == 1);
    let any = i32::from(odd().any(|lane| all[lane] > 98));
    for lane in 0..LANES {
        let is_even = lane % 2 == 0;
        let mut expected = if is_even { all[4] } else { all[lane ^ 2] + any * 1000 + 2000 };
        // Three lanes are left, and the second is among them.
        expected += if lane < 3 { all[1] } else { 0 };
        assert_eq!(out[lane], expected, "lane {lane}");
        assert_eq!(votes[lane], if is_even { large } else { 0xaaaa_aaaa }, "lane {lane}");
    }
    Ok(())
}

pub(crate) fn masked(on: &On<'_>) -> Result<()> {
    let all = integers(LANES as u32);
    let x = on.device.upload(&all)?;
    let mut out = on.device.zeros::<i32>(LANES)?;
    // SAFETY: there is an element for each lane.
    unsafe { on.kernels.masked(&on.stream, one_wavefront(), &x, &mut out) }?;
    let votes = all.iter().filter(|value| **value % 3 == 0).count() as i32;
    assert_eq!(out.download()?, [all.iter().sum::<i32>() + votes; LANES]);
    Ok(())
}

pub(crate) fn same(on: &On<'_>) -> Result<()> {
    let all = integers(LANES as u32);
    let x = on.device.upload(&all)?;
    let mut out = on.device.zeros::<u64>(LANES)?;
    // SAFETY: there is an element for each lane.
    unsafe { on.kernels.same(&on.stream, one_wavefront(), &x, &mut out) }?;
    let bit = |lane: usize, other: usize| u64::from(all[lane] % 4 == all[other] % 4) << other;
    let lanes = |lane: usize| (0..LANES).map(|other| bit(lane, other)).sum::<u64>();
    assert_eq!(out.download()?, (0..LANES).map(lanes).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn groups(on: &On<'_>) -> Result<()> {
    let all = integers(LANES as u32);
    let x = on.device.upload(&all)?;
    let mut out = on.device.zeros::<u64>(8 * LANES)?;
    // SAFETY: there is an element for each lane, and eight results.
    unsafe { on.kernels.groups(&on.stream, one_wavefront(), &x, &mut out) }?;
    let xor = all.iter().fold(0, |xor, value| xor ^ value);
    for (lane, own) in out.download()?.chunks(8).enumerate() {
        let group = || (lane % 2..LANES).step_by(2);
        let values = || group().map(|lane| all[lane]);
        let same = group().filter(|other| all[lane] % 4 == all[*other] % 4);
        let mask: u64 = group().map(|lane| 1 << lane).sum();
        let wide = |value: i32| i64::from(value).cast_unsigned();
        let (min, max) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
        let or = values().fold(0, |or, value| or | value);
        let and = values().fold(-1, |and, value| and & (value | 6));
        let expected = [
            same.map(|lane| 1 << lane).sum(),
            mask,
            0,
            10,
            wide(values().sum()),
            wide(max) << 33,
            wide(min + 1000 * xor),
            wide(or + 1000 * and),
        ];
        assert_eq!(own, expected, "lane {lane}");
    }
    Ok(())
}
