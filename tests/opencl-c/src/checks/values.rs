//! Vectors, structs, tables and conversions.

use super::{On, assert_close};
use crate::kernels;
use half::f16;
use kernelmill::{Launch, Result};

pub(crate) fn structs_in_memory(on: &On<'_>) -> Result<()> {
    let particle = |i: u8| kernels::particle_t {
        position: [f32::from(i), 1.0, 2.0, 3.0],
        velocity: [0.5, -1.0, f32::from(i), 0.0],
        charges: [10, 20],
        kind: i,
    };
    let mut particles = on.upload(&(0..40).map(particle).collect::<Vec<_>>())?;
    let launch = Launch::grid([2], [20]);
    // SAFETY: there is a particle for each work-item.
    unsafe { on.kernels.r#move(&on.stream, launch, &mut particles, 2.0, [1, 2, 3, 0]) }?;
    for (i, found) in particles.download()?.into_iter().enumerate() {
        let x = i as f32;
        assert_eq!(found.position, [x + 2.0, 1.0, 5.0 + 2.0 * x, 1.25 + x * x]);
        assert_eq!(found.charges, if i % 2 == 0 { [13, 20] } else { [10, 23] });
    }
    Ok(())
}

pub(crate) fn structs_by_value(on: &On<'_>) -> Result<()> {
    let mut y = on.device.zeros::<f32>(32)?;
    let line = kernels::line { slope: 0.5, offset: -3.0, first: 4, added: [0.0, 0.0, 0.0, 8.0] };
    // SAFETY: there is an element for each work-item.
    unsafe { on.kernels.lines(&on.stream, Launch::grid([1], [32]), &mut y, line, 100) }?;
    let expected: Vec<f32> =
        (0..32).map(|i| if i < 4 { -1.0 } else { 0.5 * (i + 100) as f32 + 5.0 }).collect();
    assert_eq!(y.download()?, expected);
    Ok(())
}

pub(crate) fn swizzles(on: &On<'_>) -> Result<()> {
    let x: Vec<[f32; 4]> =
        (0..8).map(|i| [0.0, 1.0, 2.0, 3.0].map(|k| k + i as f32 - 3.0)).collect();
    let there = on.upload(&x)?;
    let mut out = on.device.zeros::<[f32; 8]>(8)?;
    let (mut ends, mut bytes) = (on.device.zeros::<[f32; 2]>(8)?, on.device.zeros::<[i8; 16]>(8)?);
    let launch = Launch::grid([1], [8]);
    // SAFETY: there is an element for each work-item.
    unsafe { on.kernels.swizzles(&on.stream, launch, &there, &mut out, &mut ends, &mut bytes) }?;
    let (out, ends, bytes) = (out.download()?, ends.download()?, bytes.download()?);
    for (i, [a, b, c, d]) in x.into_iter().enumerate() {
        let wide = [d, c, b, a, a, c, b, d];
        let kept = |x: f32| if x > 2.5 { -x } else { x };
        assert_eq!(out[i], wide.map(kept), "{i}");
        assert_eq!(ends[i], [f32::from(d > 3.0), f32::from(a >= 0.0)]);
        let all: Vec<u8> = [a, b, c, d].into_iter().flat_map(f32::to_le_bytes).collect();
        assert_eq!(bytes[i].to_vec(), all.iter().map(|byte| (byte ^ 1) as i8).collect::<Vec<_>>());
    }
    Ok(())
}

pub(crate) fn unaligned(on: &On<'_>) -> Result<()> {
    let x: Vec<f32> = (0..129).map(|i| i as f32).collect();
    let there = on.upload(&x)?;
    let mut out = on.device.zeros::<f32>(7 * 32)?;
    // SAFETY: the last vector ends with the input.
    unsafe { on.kernels.unaligned(&on.stream, Launch::grid([1], [32]), &there, &mut out) }?;
    let turned = x[1..97].chunks(3).flat_map(|v| v.iter().rev().copied());
    let doubled = x[1..].iter().map(|x| 2.0 * x);
    assert_eq!(out.download()?, turned.chain(doubled).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn tables(on: &On<'_>) -> Result<()> {
    let x: Vec<i32> = (0..64).map(|i| i * 37 % 256).collect();
    let (there, given) = (on.upload(&x)?, on.upload(&[0.25_f32, 0.5, 0.75])?);
    let mut out = on.device.zeros::<f32>(64)?;
    // SAFETY: there is an element for each work-item, and the table has three.
    unsafe { on.kernels.tables(&on.stream, Launch::grid([2], [32]), &there, &mut out, &given) }?;
    let expected: Vec<f32> = x
        .iter()
        .enumerate()
        .map(|(i, x)| {
            let sum: i32 = (0..8).map(|k| 3_i32.pow(k) * (x >> k & 1)).sum();
            let (factor, offset) = if i % 2 == 0 { (2, 0.5) } else { (-3, 1.5) };
            (sum * factor) as f32 + offset + 0.25 * (i % 3 + 1) as f32
        })
        .collect();
    assert_eq!(out.download()?, expected);
    Ok(())
}

pub(crate) fn conversions(on: &On<'_>) -> Result<()> {
    let x = [0.5_f32, 1.5, -1.5, 2.6, -0.4, 300.7, 1e20, -1e20, f32::NAN, 40000.0, 0.1, -7.0];
    let there = on.upload(&x)?;
    let mut out = on.device.zeros::<i32>(8 * x.len())?;
    let mut pixels = on.device.zeros::<[u8; 4]>(x.len())?;
    let mut halves = on.upload(&vec![f16::ZERO; x.len()])?;
    let launch = Launch::grid([1], [12]);
    // SAFETY: there are eight elements of `out` for each work-item, and one of the others.
    unsafe {
        on.kernels.conversions(&on.stream, launch, &there, &mut out, &mut pixels, &mut halves)
    }?;
    let (out, pixels, halves) = (out.download()?, pixels.download()?, halves.download()?);
    for (i, x) in x.into_iter().enumerate() {
        let own = &out[8 * i..];
        assert_eq!(own[0], x as i32, "convert_int_sat({x})");
        if x.abs() < 1e9 {
            let rounded = [x.round_ties_even(), x.ceil(), x.floor()].map(|x| x as i32);
            assert_eq!(own[1..4], rounded, "{x}");
        }
        assert_eq!(own[4], i32::from(x.round_ties_even() as u8), "convert_uchar_sat_rte({x})");
        assert_eq!(own[5], x.to_bits() as i32);
        assert_eq!(own[6], i32::from(x as i16), "convert_short_sat({x})");
        assert_eq!(own[7], x as u32 as i32, "convert_uint_sat({x})");
        let parts = [x, x + 0.5, x * 100.0, -x].map(|x| x.round_ties_even() as u8);
        assert_eq!(pixels[i], parts, "{x}");
    }
    let halves: Vec<u16> = halves.into_iter().map(f16::to_bits).collect();
    assert_eq!(halves[..5], [0x3800, 0x3e00, 0xbe00, 0x4133, 0xb666]);
    assert_eq!((halves[6], halves[7], halves[8] & 0x7c00), (0x7c00, 0xfc00, 0x7c00));
    let halves: Vec<f16> = (0..16).map(|i| f16::from_bits(0x3c00 + 64 * i)).collect();
    let there = on.upload(&halves)?;
    let mut sums = on.device.zeros::<f32>(4)?;
    // SAFETY: there are four numbers for each work-item.
    unsafe { on.kernels.half_sums(&on.stream, Launch::grid([1], [4]), &there, &mut sums) }?;
    let value = |i: usize| 1.0 + i as f32 / 16.0;
    let expected: Vec<f32> =
        (0..4).map(|i| (4 * i..4 * i + 4).map(value).sum::<f32>() + value(4 * i)).collect();
    assert_close(&sums.download()?, &expected, 1e-6);
    Ok(())
}

pub(crate) fn variables(on: &On<'_>) -> Result<()> {
    let mut out = on.device.zeros::<i32>(1)?;
    for expected in [40, 41, 42] {
        // SAFETY: one work-item writes the one element.
        unsafe { on.kernels.counts(&on.stream, Launch::grid([2], [32]), &mut out) }?;
        assert_eq!(out.download()?, [expected]);
    }
    Ok(())
}
