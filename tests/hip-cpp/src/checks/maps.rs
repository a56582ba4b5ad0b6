//! A thread for each element.

use super::{On, floats, integers};
use crate::kernels::{Particle, float2, float3, float4};
use kernelmill::{Launch, Result};

const COUNT: u32 = 1000;
const LENGTH: usize = COUNT as usize;

fn launch() -> Launch<1> {
    Launch::linear(LENGTH)
}

/// The settings have a contract, which makes the wrapper safe.
pub(crate) fn saxpy(on: &On<'_>) -> Result<()> {
    let x = on.device.upload(&floats(COUNT))?;
    let mut y = on.device.upload(&[1.0_f32; LENGTH])?;
    on.kernels.saxpy(&on.stream, launch(), 3.0, &x, &mut y, COUNT)?;
    assert_eq!(y.download()?, floats(COUNT).iter().map(|x| 3.0 * x + 1.0).collect::<Vec<_>>());
    let refused = on.kernels.saxpy(&on.stream, launch(), 3.0, &x, &mut y, COUNT + 1);
    assert!(refused.unwrap_err().to_string().contains("saxpy"));
    // With other scalars, which the contract is checked for on every device.
    let mut prepared = on.kernels.prepare().saxpy(launch(), 0.0, &x, &mut y, 1)?;
    let refused = on.kernels.set_scalars().saxpy(&mut prepared, 2.0, COUNT + 1);
    assert!(matches!(refused, Err(kernelmill::Error::Contract { .. })), "{refused:?}");
    for a in [2.0, -4.0] {
        on.kernels.set_scalars().saxpy(&mut prepared, a, COUNT)?;
        prepared.launch(&on.stream)?;
    }
    drop(prepared);
    assert_eq!(y.download()?, floats(COUNT).iter().map(|x| x + 1.0).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn scale_int(on: &On<'_>) -> Result<()> {
    let mut x = on.device.upload(&integers(COUNT))?;
    let few = Launch::<1>::grid([2], [64]);
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.scale_int(&on.stream, few, &mut x, 3, COUNT as i32) }?;
    assert_eq!(x.download()?, integers(COUNT).iter().map(|x| 3 * x).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn scale_double(on: &On<'_>) -> Result<()> {
    let all: Vec<_> = floats(COUNT).into_iter().map(f64::from).collect();
    let mut x = on.device.upload(&all)?;
    // SAFETY: there are more elements than the last argument says.
    unsafe { on.kernels.scale_double(&on.stream, launch(), &mut x, 0.5, COUNT as i32 - 1) }?;
    let mut expected: Vec<_> = all.iter().map(|x| 0.5 * x).collect();
    expected[LENGTH - 1] = all[LENGTH - 1];
    assert_eq!(x.download()?, expected);
    Ok(())
}

pub(crate) fn smooth(on: &On<'_>) -> Result<()> {
    let all = floats(COUNT);
    let x = on.device.upload(&all)?;
    let mut y = on.device.zeros::<f32>(LENGTH)?;
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.smooth(&on.stream, launch(), &x, &mut y, COUNT as i32) }?;
    let at = |i: usize| all[i.min(LENGTH - 1)];
    let sum = |i: usize| 0.25 * at(i.saturating_sub(1)) + 0.5 * at(i) + 0.25 * at(i + 1);
    assert_eq!(y.download()?, (0..LENGTH).map(sum).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn particles(on: &On<'_>) -> Result<()> {
    let one = |i: u32| {
        let x = i as f32;
        let place = float4 { x, y: 2.0 * x, z: 0.5, w: 1.0 };
        Particle { place, speed: float3 { x: 1.0, y: x, z: -2.0 }, kind: (i % 2) as i32 }
    };
    let all: Vec<_> = (0..100).map(one).collect();
    let mut particles = on.device.upload(&all)?;
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.r#move(&on.stream, Launch::linear(100), &mut particles, 0.5, 100) }?;
    for (before, after) in all.iter().zip(particles.download()?) {
        let float3 { x, y, z } = before.speed;
        let step = [x * 0.5, y * 0.5, z * 0.5, 0.0];
        let float4 { x: a, y: b, z: c, w: d } = before.place;
        let moved = [a + step[0], b + step[1], c + step[2], d];
        let turned = |i: usize| -(2.0 * moved[i] - step[i]) / 4.0;
        let expected = if before.kind == 1 { [0, 1, 2, 3].map(turned) } else { moved };
        let float4 { x: p, y: q, z: r, w: s } = after.place;
        assert_eq!([p, q, r, s], expected);
        let float3 { x: p, y: q, z: r } = after.speed;
        assert_eq!([p, q, r], [x * x, y * y, z * z]);
    }
    Ok(())
}

pub(crate) fn spin(on: &On<'_>) -> Result<()> {
    let all: Vec<_> = floats(COUNT).into_iter().map(|x| float2 { x, y: 1.0 }).collect();
    let mut z = on.device.upload(&all)?;
    let by = float2 { x: 0.0, y: 2.0 };
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.spin(&on.stream, launch(), &mut z, by, COUNT as i32) }?;
    // 2i divided by its conjugate is -1.
    for (before, after) in all.iter().zip(z.download()?) {
        assert_eq!((after.x, after.y), (-before.x, -before.y));
    }
    Ok(())
}
