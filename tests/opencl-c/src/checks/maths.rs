//! Built-in functions of numbers.

use super::{On, assert_close, numbers};
use kernelmill::{Launch, Result};

const REALS: [f32; 12] = [0.0, 0.25, -0.25, 0.5, -1.0, 1.5, 2.5, -3.75, 3.0, 0.001, -0.9, 1.999];

pub(crate) fn elementary(on: &On<'_>) -> Result<()> {
    let there = on.upload(&REALS)?;
    let mut out = on.device.zeros::<f32>(20 * REALS.len())?;
    // SAFETY: there are twenty elements for each work-item.
    unsafe { on.kernels.elementary(&on.stream, Launch::grid([1], [12]), &there, &mut out) }?;
    let expected = |x: f32| {
        let wide = f64::from(x);
        [
            x.sin(),
            x.cos(),
            x.exp(),
            (x.abs() + 1.0).ln(),
            x.abs().powf(1.5),
            1.0 / (x.abs() + 1.0).sqrt(),
            x.tanh(),
            x.atan2(2.0),
            x.hypot(3.0),
            10.0_f32.powf(0.25 * x),
            x / 3.0,
            x.cbrt(),
            erf(wide) as f32,
            x * x * x,
            (std::f64::consts::PI * wide).sin() as f32,
            x % 0.7,
            (x.abs() + 1.0).log2(),
            x.abs().cbrt(),
            gamma(wide.abs() + 1.0) as f32,
            x.exp_m1(),
        ]
    };
    let expected: Vec<f32> = REALS.into_iter().flat_map(expected).collect();
    assert_close(&out.download()?, &expected, 1e-6);
    Ok(())
}

/// By its series.
fn erf(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

/// By Lanczos's approximation.
fn gamma(x: f64) -> f64 {
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let terms = TERMS.iter().enumerate().skip(1);
    let sum: f64 = TERMS[0] + terms.map(|(i, term)| term / (x + i as f64)).sum::<f64>();
    let t = x + 7.5;
    (2.0 * std::f64::consts::PI).sqrt() * t.powf(x + 0.5) * (-t).exp() * sum
}

pub(crate) fn common(on: &On<'_>) -> Result<()> {
    let there = on.upload(&REALS)?;
    let mut out = on.device.zeros::<f32>(16 * REALS.len())?;
    let mut whole = on.device.zeros::<i32>(2 * REALS.len())?;
    let launch = Launch::grid([1], [12]);
    // SAFETY: there are as many elements for each work-item as it writes.
    unsafe { on.kernels.common(&on.stream, launch, &there, &mut out, &mut whole) }?;
    let mut expected = Vec::new();
    let mut numbers = Vec::new();
    for x in REALS {
        let t = ((x + 1.0) / 3.0).clamp(0.0, 1.0);
        let exponent = if x == 0.0 { 0 } else { x.abs().log2().floor() as i32 + 1 };
        expected.extend([
            x.clamp(-1.0, 1.0),
            x + (10.0 - x) * 0.25,
            f32::from(x >= 0.5),
            t * t * (3.0 - 2.0 * t),
            if x == 0.0 { 0.0 } else { x.signum() },
            x.to_degrees(),
            x - x.floor(),
            x.floor(),
            x.fract(),
            x.trunc(),
            x / 2.0_f32.powi(exponent),
            8.0 * x,
            (x - 0.5).max(0.0),
            2.0_f32.copysign(x),
            if x.abs() > 1.25 { x } else { 1.25 },
            x.round_ties_even(),
        ]);
        let log = if x == 0.0 { i32::MIN } else { exponent - 1 };
        let flags = 2 * i32::from(x < 0.0) + 4 * i32::from(x < 0.5);
        numbers.extend([exponent, log.wrapping_mul(8).wrapping_add(flags)]);
    }
    assert_close(&out.download()?, &expected, 1e-6);
    assert_eq!(whole.download()?, numbers);
    Ok(())
}

pub(crate) fn geometry(on: &On<'_>) -> Result<()> {
    let a: Vec<[f32; 4]> = (0..16).map(|i| [i as f32 + 0.5, 2.0, -1.0, 0.0]).collect();
    let b: Vec<[f32; 4]> = (0..16).map(|i| [1.0, i as f32 * 0.25, 3.0, 0.0]).collect();
    let (a_there, b_there) = (on.upload(&a)?, on.upload(&b)?);
    let mut out = on.device.zeros::<f32>(16 * 8)?;
    let launch = Launch::grid([1], [16]);
    // SAFETY: there are eight elements for each work-item.
    unsafe { on.kernels.geometry(&on.stream, launch, &a_there, &b_there, &mut out) }?;
    let expected = a.iter().zip(&b).flat_map(|(a, b)| {
        let dot = |x: &[f32; 4], y: &[f32; 4]| x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
        let gap = [a[0] - b[0], a[1] - b[1], a[2] - b[2], 0.0];
        let length = |x: &[f32; 4]| dot(x, x).sqrt();
        [
            dot(a, b),
            length(a),
            length(&gap),
            length(b),
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
            a[1] / length(a),
        ]
    });
    assert_close(&out.download()?, &expected.collect::<Vec<_>>(), 1e-6);
    Ok(())
}

pub(crate) fn integers(on: &On<'_>) -> Result<()> {
    let mut a: Vec<i32> = numbers(30).map(|x| (x << 8) as i32).collect();
    let mut b: Vec<i32> = numbers(60).skip(30).map(|x| (x << 7) as i32 - 5).collect();
    a.extend([i32::MIN, i32::MAX, 0, -1]);
    b.extend([-1, i32::MAX, 0, i32::MIN]);
    let (a_there, b_there) = (on.upload(&a)?, on.upload(&b)?);
    let mut out = on.device.zeros::<i32>(20 * a.len())?;
    let launch = Launch::grid([1], [34]);
    // SAFETY: there are twenty elements for each work-item.
    unsafe { on.kernels.integers(&on.stream, launch, &a_there, &b_there, &mut out) }?;
    for (found, (x, y)) in out.download()?.chunks(20).zip(a.into_iter().zip(b)) {
        let (wide, other) = (i64::from(x), i64::from(y));
        let held = |x: i64| x.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        let high = ((wide * other) >> 32) as i32;
        let expected = [
            (x & 0xffff) * (y & 0x7f),
            (x & 0xff) * (y & 0xff) + 7,
            high,
            high.wrapping_add(5),
            x.rotate_left(5),
            x.count_ones() as i32,
            x.leading_zeros() as i32,
            ((wide + other) >> 1) as i32,
            ((wide + other + 1) >> 1) as i32,
            x.saturating_add(y),
            x.saturating_sub(y),
            held(wide * other + wide),
            x.unsigned_abs() as i32,
            x.abs_diff(y) as i32,
            x.min(y),
            x.clamp(-100, 100),
            x & !0x0f0f_0f0f | y & 0x0f0f_0f0f,
            if x > y { y } else { x },
            (x << 16) | (y & 0xffff),
            ((u64::from(x as u32) * u64::from(y as u32)) >> 32) as i32,
        ];
        assert_eq!(found, expected, "{x} and {y}");
    }
    Ok(())
}

pub(crate) fn doubles(on: &On<'_>) -> Result<()> {
    let x: Vec<f64> = (0..16).map(|i| f64::from(i) * 0.375 - 2.0).collect();
    let there = on.upload(&x)?;
    let mut out = on.device.zeros::<[f64; 4]>(16)?;
    // SAFETY: there is an element for each work-item.
    unsafe { on.kernels.doubles(&on.stream, Launch::grid([1], [16]), &there, &mut out) }?;
    for (found, x) in out.download()?.into_iter().zip(x) {
        let expected =
            [x.abs().sqrt(), x.mul_add(x, 1.0), (-x * x).exp(), gamma(x.abs() + 0.5).ln()];
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{x}: {found}, not {expected}");
        }
    }
    Ok(())
}
