//! Products of square matrices, with tiles in shared memory.

use crate::{Case, Outcome, Setup, Values, Who, Work, opencl::Argument, setup::floats};
use kernelmill::{Buffer, Launch};
use rayon::prelude::*;

const SOURCE: &str = include_str!("../../cl/matmul.cl");

/// What one launch works on.
type State = (Buffer<f32>, Buffer<f32>, Buffer<f32>);

/// Launches a kernel for matrices of so many rows.
type Run = fn(&Setup, Launch<2>, u32, &mut State) -> kernelmill::Result<()>;

pub(super) fn tiles_of_16x16(setup: &Setup) -> Outcome<Case<'_>> {
    case(
        setup,
        "matmul 16x16",
        "matmul_16x16",
        ([16, 16], 16),
        |on, launch, n, (a, b, c)| on.kernels.matmul_16x16(&on.stream, launch, n, &*a, &*b, c),
        // SAFETY: matrices of `n` rows, which is a multiple of 16.
        |on, launch, n, (a, b, c)| unsafe {
            on.kernels.cpp_matmul_16x16(&on.stream, launch, n, &*a, &*b, c)
        },
    )
}

pub(super) fn tiles_of_32x8(setup: &Setup) -> Outcome<Case<'_>> {
    case(
        setup,
        "matmul 32x8",
        "matmul_32x8",
        ([32, 8], 32),
        |on, launch, n, (a, b, c)| on.kernels.matmul_32x8(&on.stream, launch, n, &*a, &*b, c),
        // SAFETY: matrices of `n` rows, which is a multiple of 32.
        |on, launch, n, (a, b, c)| unsafe {
            on.kernels.cpp_matmul_32x8(&on.stream, launch, n, &*a, &*b, c)
        },
    )
}

fn case<'s>(
    setup: &'s Setup,
    name: &'static str,
    kernel: &str,
    (block, tile): ([u32; 2], u32),
    in_rust: Run,
    in_cpp: Run,
) -> Outcome<Case<'s>> {
    let n = setup.pick(64, 384);
    let (a, b) = (floats(7, n * n), floats(8, n * n));
    let mut expected = vec![0.0; n * n];
    expected.chunks_mut(n).enumerate().for_each(|(row, out)| multiply(row, &a, &b, out));
    let size = format!("{n} x {n}");
    let mut case = Case::new(name, size, Values::Floats(expected), 1e-4);
    // A product and a sum for each element of a row and a column.
    case.work = Work::Operations(2 * n * n * n);
    let (rows, blocks) = (n as u32, n as u32 / tile);
    let launch = Launch::<2>::grid([blocks, blocks], block);
    case.add_ours(
        || Ok((setup.device.upload(&a)?, setup.device.upload(&b)?, setup.device.zeros(n * n)?)),
        move |state| in_rust(setup, launch, rows, state),
        move |state| in_cpp(setup, launch, rows, state),
        |(.., c)| c.download(),
    )?;
    for opencl in &setup.opencl {
        let (left, right) = (opencl.upload(&a)?, opencl.upload(&b)?);
        let out = opencl.zeros(n * n)?;
        let [l, r, o] = [&left, &right, &out].map(Argument::Memory);
        let arguments = [Argument::Number(n as u32), l, r, o];
        let threads = block.map(|side| (blocks * side) as usize);
        let block = block.map(|side| side as usize);
        let job = opencl.job((SOURCE, kernel), &arguments, &threads, &block)?;
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
