//! Prefix sums of 256 elements at a time.

use crate::{Case, Outcome, Setup, Values, Who, Work, opencl::Argument, setup::numbers};
use kernelmill::Launch;
use rayon::prelude::*;

const SOURCE: (&str, &str) = (include_str!("../../cl/scan.cl"), "scan");
/// Blocks that a task of rayon's takes at least.
const CHUNK: usize = 64;

pub(super) fn case(setup: &Setup) -> Outcome<Case<'_>> {
    let n: usize = setup.pick(1 << 12, 1 << 20);
    let x = numbers(11, n);
    let mut expected = vec![0; n];
    expected.chunks_mut(256).zip(x.chunks(256)).for_each(|(y, x)| running(x, y));
    let size = format!("{n} elements, 256 a block");
    let mut case = Case::new("prefix scan", size, Values::Numbers(expected), 0.0);
    // An element is read, one is written.
    case.work = Work::Bytes(8 * n);
    let launch = Launch::grid([n as u32 / 256], [256]);
    case.add_ours(
        || Ok((setup.device.upload(&x)?, setup.device.zeros::<u32>(n)?)),
        move |(x, y)| setup.kernels.scan(&setup.stream, launch, &*x, y),
        // SAFETY: both have 256 elements for each block.
        move |(x, y)| unsafe { setup.kernels.cpp_scan(&setup.stream, launch, &*x, y) },
        |(_, y)| y.download(),
    )?;
    for opencl in &setup.opencl {
        let (from, out) = (opencl.upload(&x)?, opencl.zeros(n)?);
        let arguments = [&from, &out].map(Argument::Memory);
        let job = opencl.job(SOURCE, &arguments, &[n], &[256])?;
        case.add_opencl::<u32>(opencl, job, out, vec![from]);
    }
    // A plain loop is the best algorithm for one thread too.
    for who in [Who::Rayon, Who::Sequential] {
        let x = x.clone();
        case.add_host(who, vec![0_u32; n], move |y| {
            let parts = y.par_chunks_mut(256).zip(x.par_chunks(256)).with_min_len(CHUNK);
            parts.for_each(|(y, x)| running(x, y));
        });
    }
    Ok(case)
}

fn running(x: &[u32], y: &mut [u32]) {
    let mut sum = 0_u32;
    for (y, x) in y.iter_mut().zip(x) {
        sum = sum.wrapping_add(*x);
        *y = sum;
    }
}
