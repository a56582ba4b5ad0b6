//! `y += a * x`.

use crate::{Case, Outcome, Setup, Values, Who, Work, opencl::Argument, setup::floats};
use kernelmill::Launch;
use rayon::prelude::*;

const SOURCE: (&str, &str) = (include_str!("../../cl/saxpy.cl"), "saxpy");
/// So small that `y` stays finite, however often it is added to.
const A: f32 = 0.001;
/// Elements that a task of rayon's takes at least.
const CHUNK: usize = 1 << 14;

pub(super) fn case(setup: &Setup) -> Outcome<Case<'_>> {
    let n = setup.pick(1 << 12, 1 << 22);
    let (x, y) = (floats(1, n), floats(2, n));
    let expected = x.iter().zip(&y).map(|(x, y)| A * x + y).collect();
    let mut case = Case::new("saxpy", format!("{n} elements"), Values::Floats(expected), 1e-6);
    // Two elements are read, one is written.
    case.work = Work::Bytes(12 * n);
    let launch = Launch::linear(n);
    case.add_ours(
        || Ok((setup.device.upload(&x)?, setup.device.upload(&y)?)),
        move |(x, y)| setup.kernels.saxpy(&setup.stream, launch, A, &*x, y),
        // SAFETY: both have `n` elements.
        move |(x, y)| unsafe {
            setup.kernels.cpp_saxpy(&setup.stream, launch, n as u32, A, &*x, y)
        },
        |(_, y)| y.download(),
    )?;
    for opencl in &setup.opencl {
        let (on_device, out) = (opencl.upload(&x)?, opencl.upload(&y)?);
        let arguments = [Argument::Float(A), Argument::Memory(&on_device), Argument::Memory(&out)];
        let job = opencl.job(SOURCE, &arguments, &[n], &[256])?;
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
