//! Sorts 512 elements at a time.

use crate::{Case, Outcome, Setup, Values, Who, Work, opencl::Argument, setup::numbers};
use kernelmill::Launch;
use rayon::prelude::*;

const SOURCE: (&str, &str) = (include_str!("../../cl/bitonic.cl"), "bitonic");
/// Elements of a block.
const PART: usize = 512;

pub(super) fn case(setup: &Setup) -> Outcome<Case<'_>> {
    let n: usize = setup.pick(1 << 11, 1 << 18);
    let x = numbers(10, n);
    let mut expected = x.clone();
    expected.chunks_mut(PART).for_each(<[u32]>::sort_unstable);
    let size = format!("{n} elements, {PART} a block");
    let mut case = Case::new("bitonic sort", size, Values::Numbers(expected), 0.0);
    // An element is read, one is written.
    case.work = Work::Bytes(8 * n);
    let launch = Launch::grid([(n / PART) as u32], [256]);
    case.add_ours(
        || Ok((setup.device.upload(&x)?, setup.device.zeros::<u32>(n)?)),
        move |(x, y)| setup.kernels.bitonic(&setup.stream, launch, &*x, y),
        // SAFETY: both have `PART` elements for each block.
        move |(x, y)| unsafe { setup.kernels.cpp_bitonic(&setup.stream, launch, &*x, y) },
        |(_, y)| y.download(),
    )?;
    for opencl in &setup.opencl {
        let (from, out) = (opencl.upload(&x)?, opencl.zeros(n)?);
        let arguments = [&from, &out].map(Argument::Memory);
        let job = opencl.job(SOURCE, &arguments, &[n / 2], &[256])?;
        case.add_opencl::<u32>(opencl, job, out, vec![from]);
    }
    let for_network = x.clone();
    case.add_host(Who::Rayon, vec![0_u32; n], move |y| {
        y.par_chunks_mut(PART).zip(for_network.par_chunks(PART)).for_each(|(y, x)| {
            y.copy_from_slice(x);
            network(y);
        });
    });
    case.add_host(Who::Sequential, vec![0_u32; n], move |y| {
        y.par_chunks_mut(PART).zip(x.par_chunks(PART)).for_each(|(y, x)| {
            y.copy_from_slice(x);
            y.sort_unstable();
        });
    });
    Ok(case)
}

/// The same network as a loop.
fn network(tile: &mut [u32]) {
    let mut size = 2;
    while size <= tile.len() {
        let mut stride = size / 2;
        while stride > 0 {
            for t in 0..tile.len() / 2 {
                let low = 2 * t - (t & (stride - 1));
                let (a, b) = (tile[low], tile[low + stride]);
                if (a > b) == (low & size == 0) {
                    tile.swap(low, low + stride);
                }
            }
            stride /= 2;
        }
        size *= 2;
    }
}
