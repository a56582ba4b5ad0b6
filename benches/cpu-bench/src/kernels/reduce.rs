//! Sums of 256 elements at a time.

use crate::{Case, Outcome, Setup, Values, Who, Work, opencl::Argument, setup::floats};
use kernelmill::{Buffer, Launch};
use rayon::prelude::*;

const SOURCE: (&str, &str) = (include_str!("../../cl/reduce.cl"), "reduce");
/// Sums that a task of rayon's takes at least.
const CHUNK: usize = 64;
/// Of the elements.
const SEED: u32 = 9;

/// What one launch works on: elements, and a sum for each block.
type State = (Buffer<f32>, Buffer<f32>);

/// Launches a kernel for so many elements.
type Run = fn(&Setup, Launch<1>, u32, &mut State) -> kernelmill::Result<()>;

pub(super) fn by_a_tree(setup: &Setup) -> Outcome<Case<'_>> {
    let mut case = case(
        setup,
        "tree reduction",
        |on, launch, _, (x, sums)| on.kernels.reduce(&on.stream, launch, &*x, sums),
        // SAFETY: `n` elements, and a sum for each block.
        |on, launch, n, (x, sums)| unsafe {
            on.kernels.cpp_reduce(&on.stream, launch, n, &*x, sums)
        },
    )?;
    for opencl in &setup.opencl {
        let n = elements(setup);
        let (from, out) = (opencl.upload(&floats(SEED, n))?, opencl.zeros(n / 256)?);
        let arguments = [&from, &out].map(Argument::Memory);
        let job = opencl.job(SOURCE, &arguments, &[n], &[256])?;
        case.add_opencl::<f32>(opencl, job, out, vec![from]);
    }
    Ok(case)
}

pub(super) fn by_warps(setup: &Setup) -> Outcome<Case<'_>> {
    case(
        setup,
        "reduction by warps",
        |on, launch, _, (x, sums)| on.kernels.reduce_by_warps(&on.stream, launch, &*x, sums),
        // SAFETY: `n` elements, and a sum for each block.
        |on, launch, n, (x, sums)| unsafe {
            on.kernels.cpp_reduce_by_warps(&on.stream, launch, n, &*x, sums)
        },
    )
}

fn elements(setup: &Setup) -> usize {
    setup.pick(1 << 12, 1 << 20)
}

fn case<'s>(setup: &'s Setup, name: &'static str, in_rust: Run, in_cpp: Run) -> Outcome<Case<'s>> {
    let n = elements(setup);
    let x = floats(SEED, n);
    let sum = |part: &[f32]| part.iter().map(|&x| f64::from(x)).sum::<f64>() as f32;
    let expected = x.chunks(256).map(sum).collect();
    let size = format!("{n} elements, 256 a block");
    let mut case = Case::new(name, size, Values::Floats(expected), 1e-4);
    // An element is read.
    case.work = Work::Bytes(4 * n);
    let launch = Launch::grid([n as u32 / 256], [256]);
    case.add_ours(
        || Ok((setup.device.upload(&x)?, setup.device.zeros::<f32>(n / 256)?)),
        move |state| in_rust(setup, launch, n as u32, state),
        move |state| in_cpp(setup, launch, n as u32, state),
        |(_, sums)| sums.download(),
    )?;
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
