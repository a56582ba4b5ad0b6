//! Counts of values below 256.

use crate::{Case, Outcome, Setup, Values, Who, Work, opencl::Argument, setup::numbers};
use kernelmill::Launch;
use rayon::prelude::*;

const SOURCE: (&str, &str) = (include_str!("../../cl/histogram.cl"), "histogram");
/// Blocks of a launch.
const BLOCKS: usize = 64;

pub(super) fn case(setup: &Setup) -> Outcome<Case<'_>> {
    let n: usize = setup.pick(1 << 14, 1 << 21);
    let x: Vec<u32> = numbers(12, n).iter().map(|number| number % 256).collect();
    let expected = count(&x).to_vec();
    let mut case = Case::new("histogram", format!("{n} elements"), Values::Numbers(expected), 0.0);
    // An element is read.
    case.work = Work::Bytes(4 * n);
    let launch = Launch::grid([BLOCKS as u32], [256]);
    case.add_ours(
        || Ok((setup.device.upload(&x)?, setup.device.zeros::<u32>(256)?)),
        move |(x, bins)| {
            bins.copy_from(&[0; 256])?;
            setup.kernels.histogram(&setup.stream, launch, &*x, bins)
        },
        move |(x, bins)| {
            bins.copy_from(&[0; 256])?;
            // SAFETY: `n` elements, and 256 bins.
            unsafe { setup.kernels.cpp_histogram(&setup.stream, launch, n as u32, &*x, bins) }
        },
        |(_, bins)| bins.download(),
    )?;
    for opencl in &setup.opencl {
        let (from, out) = (opencl.upload(&x)?, opencl.zeros(256)?);
        let [from_, out_] = [&from, &out].map(Argument::Memory);
        let arguments = [Argument::Number(n as u32), from_, out_];
        let job = opencl.job(SOURCE, &arguments, &[256 * BLOCKS], &[256])?;
        case.add(
            opencl.who,
            (job, out, from),
            |(job, out, _)| {
                opencl.clear(out)?;
                opencl.run(job)
            },
            |(_, out, _)| Ok(Values::Numbers(opencl.download(out)?)),
        );
    }
    case.add_host(Who::Rayon, vec![0_u32; 256], move |bins| {
        let parts = x.par_chunks(x.len() / BLOCKS).map(count);
        let add = |mut a: [u32; 256], b: [u32; 256]| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        bins.copy_from_slice(&parts.reduce(|| [0; 256], add));
    });
    Ok(case)
}

fn count(x: &[u32]) -> [u32; 256] {
    let mut bins = [0; 256];
    x.iter().for_each(|&x| bins[(x % 256) as usize] += 1);
    bins
}
