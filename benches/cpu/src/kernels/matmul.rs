//! Products of square matrices, with tiles in shared memory.

use crate::{Case, Outcome, Setup, Values, Who, opencl::Argument, setup::floats};
use kernelmill::{Buffer, Launch};
use rayon::prelude::*;

const SOURCE: &str = include_str!("../../cl/matmul.cl");

/// What one launch works on.
type State = (Buffer<f32>, Buffer<f32>, Buffer<f32>);

pub(super) fn tiles_of_16x16(setup: &Setup) -> Outcome<Case<'_>> {
    case(
        setup,
        "matmul 16x16",
        "matmul_16x16",
        [16, 16],
        |n| [n, n],
        |on, n, (a, b, c)| {
            let launch = Launch::<2>::grid([n / 16, n / 16], [16, 16]);
            on.kernels.matmul_16x16(&on.stream, launch, n, &*a, &*b, c)
        },
    )
}

pub(super) fn tiles_of_32x8(setup: &Setup) -> Outcome<Case<'_>> {
    case(
        setup,
        "matmul 32x8",
        "matmul_32x8",
        [32, 8],
        |n| [n, n / 4],
        |on, n, (a, b, c)| {
            let launch = Launch::<2>::grid([n / 32, n / 32], [32, 8]);
            on.kernels.matmul_32x8(&on.stream, launch, n, &*a, &*b, c)
        },
    )
}

fn case<'s>(
    setup: &'s Setup,
    name: &'static str,
    kernel: &str,
    block: [usize; 2],
    threads: fn(usize) -> [usize; 2],
    ours: fn(&Setup, u32, &mut State) -> kernelmill::Result<()>,
) -> Outcome<Case<'s>> {
    let n = setup.pick(64, 384);
    let (a, b) = (floats(7, n * n), floats(8, n * n));
    let mut expected = vec![0.0; n * n];
    expected.chunks_mut(n).enumerate().for_each(|(row, out)| multiply(row, &a, &b, out));
    let size = format!("{n} x {n}");
    let mut case = Case::new(name, size, Values::Floats(expected), 1e-4);
    case.add(
        Who::Ours,
        (setup.device.upload(&a)?, setup.device.upload(&b)?, setup.device.zeros(n * n)?),
        move |state| Ok(ours(setup, n as u32, state)?),
        |(.., c)| Ok(Values::Floats(c.download()?)),
    );
    if let Some(opencl) = &setup.opencl {
        let (left, right) = (opencl.upload(&a)?, opencl.upload(&b)?);
        let out = opencl.zeros(n * n)?;
        let [l, r, o] = [&left, &right, &out].map(Argument::Memory);
        let arguments = [Argument::Number(n as u32), l, r, o];
        let job = opencl.job((SOURCE, kernel), &arguments, &threads(n), &block)?;
        case.add_opencl::<f32>(opencl, job, out, vec![left, right]);
    }
    case.add_host(Who::Rayon, vec![0.0_f32; n * n], move |c| {
        c.par_chunks_mut(n).enumerate().for_each(|(row, out)| multiply(row, &a, &b, out));
    });
    Ok(case)
}

/// One row, in the order of loops that compilers vectorise.
fn multiply(row: usize, a: &[f32], b: &[f32], out: &mut [f32]) {
    let n = out.len();
    out.fill(0.0);
    for (k, b) in b.chunks(n).enumerate() {
        let a = a[row * n + k];
        for (out, b) in out.iter_mut().zip(b) {
            *out += a * b;
        }
    }
}
