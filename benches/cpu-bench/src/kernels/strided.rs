//! `y += a * x`, each thread every element a whole grid apart.

use crate::{Case, Outcome, Setup, Values, Who, Work, opencl::Argument, setup::floats};
use kernelmill::Launch;
use rayon::prelude::*;

const SOURCE: (&str, &str) = (include_str!("../../cl/strided.cl"), "strided");
/// So small that `y` stays finite, however often it is added to.
const A: f32 = 0.001;
/// Elements that a task of rayon's takes at least.
const CHUNK: usize = 1 << 14;
/// Blocks of a launch, and threads of a block.
const GRID: (usize, usize) = (64, 256);

pub(super) fn case(setup: &Setup) -> Outcome<Case<'_>> {
    let n = setup.pick(1 << 12, 1 << 22);
    let (x, y) = (floats(1, n), floats(2, n));
    let expected = x.iter().zip(&y).map(|(x, y)| A * x + y).collect();
    let mut case = Case::new(
        "strided saxpy",
        format!("{n} elements, {} threads", GRID.0 * GRID.1),
        Values::Floats(expected),
        1e-6,
    );
    // Two elements are read, one is written.
    case.work = Work::Bytes(12 * n);
    let launch = Launch::grid([GRID.0 as u32], [GRID.1 as u32]);
    case.add_ours(
        || Ok((setup.device.upload(&x)?, setup.device.upload(&y)?)),
        move |(x, y)| setup.kernels.strided(&setup.stream, launch, A, &*x, y),
        // SAFETY: both have `n` elements.
        move |(x, y)| unsafe {
            setup.kernels.cpp_strided(&setup.stream, launch, n as u32, A, &*x, y)
        },
        |(_, y)| y.download(),
    )?;
    for opencl in &setup.opencl {
        let (on_device, out) = (opencl.upload(&x)?, opencl.upload(&y)?);
        let [from_, out_] = [&on_device, &out].map(Argument::Memory);
        let arguments = [Argument::Number(n as u32), Argument::Float(A), from_, out_];
        let job = opencl.job(SOURCE, &arguments, &[GRID.0 * GRID.1], &[GRID.1])?;
        case.add_opencl::<f32>(opencl, job, out, vec![on_device]);
    }
    case.add_host(Who::Rayon, y, move |y| {
        y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).for_each(|(y, x)| {
            for (y, x) in y.iter_mut().zip(x) {
                *y += A * x;
            }
        });
    });
    Ok(case)
}
