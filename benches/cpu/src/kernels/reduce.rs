//! Sums of 256 elements at a time.

use crate::{Case, Outcome, Setup, Values, Who, opencl::Argument, setup::floats};
use kernelmill::Launch;
use rayon::prelude::*;

const SOURCE: (&str, &str) = (include_str!("../../cl/reduce.cl"), "reduce");
/// Sums that a task of rayon's takes at least.
const CHUNK: usize = 64;

pub(super) fn case(setup: &Setup) -> Outcome<Case<'_>> {
    let n: usize = setup.pick(1 << 12, 1 << 20);
    let x = floats(9, n);
    let sum = |part: &[f32]| part.iter().map(|&x| f64::from(x)).sum::<f64>() as f32;
    let expected = x.chunks(256).map(sum).collect();
    let size = format!("{n} elements, 256 a block");
    let mut case = Case::new("tree reduction", size, Values::Floats(expected), 1e-4);
    case.add(
        Who::Ours,
        (setup.device.upload(&x)?, setup.device.zeros::<f32>(n / 256)?),
        |(x, sums)| {
            let launch = Launch::grid([sums.len() as u32], [256]);
            Ok(setup.kernels.reduce(&setup.stream, launch, &*x, sums)?)
        },
        |(_, sums)| Ok(Values::Floats(sums.download()?)),
    );
    if let Some(opencl) = &setup.opencl {
        let (from, out) = (opencl.upload(&x)?, opencl.zeros(n / 256)?);
        let arguments = [&from, &out].map(Argument::Memory);
        let job = opencl.job(SOURCE, &arguments, &[n], &[256])?;
        case.add_opencl::<f32>(opencl, job, out, vec![from]);
    }
    let (for_loops, sums) = (x.clone(), vec![0.0_f32; n / 256]);
    case.add_host(Who::Rayon, sums.clone(), move |sums| {
        let parts = sums.par_iter_mut().zip(for_loops.par_chunks(256)).with_min_len(CHUNK);
        parts.for_each(|(sum, x)| *sum = x.iter().sum());
    });
    case.add_host(Who::Sequential, sums, move |sums| {
        let parts = sums.par_iter_mut().zip(x.par_chunks(256)).with_min_len(CHUNK);
        parts.for_each(|(sum, x)| *sum = sum_in_lanes(x));
    });
    Ok(case)
}

/// Sixteen sums side by side, so that vector instructions serve.
fn sum_in_lanes(x: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 16];
    for x in x.as_chunks::<16>().0 {
        for (lane, x) in lanes.iter_mut().zip(x) {
            *lane += x;
        }
    }
    lanes.iter().sum()
}
