//! The pull of all bodies on each of them.

use crate::{Case, Outcome, Setup, Values, Who, Work, opencl::Argument, setup::floats, simd};
use kernelmill::{Buffer, Launch, Stream};
use rayon::prelude::*;

const SOURCE: (&str, &str) = (include_str!("../../cl/nbody.cl"), "nbody");
const SOFTENING: f32 = 0.01;

pub(super) fn case(setup: &Setup) -> Outcome<Case<'_>> {
    let n = setup.pick(256, 4096);
    let bodies: Vec<[f32; 4]> = floats(5, 4 * n)
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&[x, y, z, mass]| [x, y, z, (1.0 + mass) / n as f32])
        .collect();
    let expected: Vec<f32> = bodies.iter().flat_map(|own| reference(own, &bodies)).collect();
    let mut case = Case::new("n-body", format!("{n} bodies"), Values::Floats(expected), 1e-4);
    // Per pair 3 differences, 6 for the distance, 2 for its root and quotient, 3 for its cube and the mass, 6 for the sum.
    case.work = Work::Operations(20 * n * n);
    let launch = Launch::grid([n as u32 / 256], [256]);
    let state = |device: &kernelmill::Device| -> kernelmill::Result<(Buffer<_>, Buffer<_>)> {
        Ok((device.upload(&bodies)?, device.zeros::<[f32; 3]>(n)?))
    };
    let alone: Stream = setup.alone.0.stream();
    case.add_ours(
        || state(&setup.device),
        move |(bodies, out)| setup.kernels.nbody(&setup.stream, launch, SOFTENING, &*bodies, out),
        // SAFETY: both have `n` elements.
        move |(bodies, out)| unsafe {
            setup.kernels.cpp_nbody(&setup.stream, launch, n as u32, SOFTENING, &*bodies, out)
        },
        |(_, out)| out.download(),
    )?;
    case.add(
        Who::OursOnOneThread,
        state(&setup.alone.0)?,
        move |(bodies, out)| Ok(setup.alone.1.nbody(&alone, launch, SOFTENING, &*bodies, out)?),
        |(_, out)| Ok(Values::Floats(out.download()?.into_flattened())),
    );
    for opencl in &setup.opencl {
        let (on_device, out) = (opencl.upload(&bodies)?, opencl.zeros(3 * n)?);
        let arguments = [
            Argument::Float(SOFTENING),
            Argument::Number(n as u32),
            Argument::Memory(&on_device),
            Argument::Memory(&out),
        ];
        let job = opencl.job(SOURCE, &arguments, &[n], &[256])?;
        case.add_opencl::<f32>(opencl, job, out, vec![on_device]);
    }
    if simd::width() > 0 {
        let bodies = bodies.clone();
        case.add_host(Who::Simd, vec![[0.0_f32; 3]; n], move |out| {
            let parts = out.par_chunks_mut(64).enumerate();
            parts.for_each(|(part, out)| simd::nbody(SOFTENING, &bodies, 64 * part, out));
        });
    }
    case.add_host(Who::Rayon, vec![[0.0_f32; 3]; n], move |out| {
        let pairs = out.par_iter_mut().zip(&bodies).with_min_len(64);
        pairs.for_each(|(out, own)| *out = pull(own, &bodies));
    });
    Ok(case)
}

fn pull(own: &[f32; 4], bodies: &[[f32; 4]]) -> [f32; 3] {
    let mut sum = [0.0; 3];
    for other in bodies {
        let d = [other[0] - own[0], other[1] - own[1], other[2] - own[2]];
        let inverse = 1.0 / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + SOFTENING).sqrt();
        let pull = other[3] * inverse * inverse * inverse;
        sum = [sum[0] + d[0] * pull, sum[1] + d[1] * pull, sum[2] + d[2] * pull];
    }
    sum
}

/// In double precision.
fn reference(own: &[f32; 4], bodies: &[[f32; 4]]) -> [f32; 3] {
    let own = own.map(f64::from);
    let mut sum = [0.0; 3];
    for other in bodies {
        let other = other.map(f64::from);
        let d: [f64; 3] = std::array::from_fn(|axis| other[axis] - own[axis]);
        let square = d.iter().map(|d| d * d).sum::<f64>() + f64::from(SOFTENING);
        let pull = other[3] / (square * square.sqrt());
        sum = std::array::from_fn(|axis| sum[axis] + d[axis] * pull);
    }
    sum.map(|axis| axis as f32)
}
