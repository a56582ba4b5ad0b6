//! A weighted mean of the nine pixels around each.

use crate::{Case, Outcome, Setup, Values, Who, Work, opencl::Argument, setup::floats};
use kernelmill::Launch;
use rayon::prelude::*;

const SOURCE: (&str, &str) = (include_str!("../../cl/stencil.cl"), "stencil");

pub(super) fn case(setup: &Setup) -> Outcome<Case<'_>> {
    let (width, height) = setup.pick((64, 32), (2048, 1024));
    let x = floats(6, width * height);
    let mut expected = vec![0.0; width * height];
    (0..height).for_each(|row| filter(row, width, height, &x, &mut expected[row * width..]));
    let size = format!("{width} x {height} pixels");
    let mut case = Case::new("stencil 3x3", size, Values::Floats(expected), 1e-5);
    // An element is read, one is written: rows stay in the cache.
    case.work = Work::Bytes(8 * width * height);
    let (w, h) = (width as u32, height as u32);
    let launch = Launch::<2>::grid([w / 32, h / 8], [32, 8]);
    case.add_ours(
        || Ok((setup.device.upload(&x)?, setup.device.zeros::<f32>(width * height)?)),
        move |(x, y)| setup.kernels.stencil(&setup.stream, launch, w, h, &*x, y),
        // SAFETY: both have `w` times `h` pixels.
        move |(x, y)| unsafe { setup.kernels.cpp_stencil(&setup.stream, launch, w, h, &*x, y) },
        |(_, y)| y.download(),
    )?;
    for opencl in &setup.opencl {
        let (from, out) = (opencl.upload(&x)?, opencl.zeros(width * height)?);
        let [from_, out_] = [&from, &out].map(Argument::Memory);
        let arguments = [Argument::Number(w), Argument::Number(h), from_, out_];
        let job = opencl.job(SOURCE, &arguments, &[width, height], &[32, 8])?;
        case.add_opencl::<f32>(opencl, job, out, vec![from]);
    }
    case.add_host(Who::Rayon, vec![0.0_f32; width * height], move |y| {
        let rows = y.par_chunks_mut(width).enumerate();
        rows.for_each(|(row, y)| filter(row, width, height, &x, y));
    });
    Ok(case)
}

/// One row.
fn filter(row: usize, width: usize, height: usize, x: &[f32], y: &mut [f32]) {
    let line = |row: usize| &x[row * width..][..width];
    let (y, here) = (&mut y[..width], line(row));
    if row == 0 || row + 1 == height {
        y.copy_from_slice(here);
        return;
    }
    let (up, down) = (line(row - 1), line(row + 1));
    (y[0], y[width - 1]) = (here[0], here[width - 1]);
    for i in 1..width - 1 {
        let corners = up[i - 1] + up[i + 1] + down[i - 1] + down[i + 1];
        let edges = up[i] + down[i] + here[i - 1] + here[i + 1];
        y[i] = 0.0625 * corners + 0.125 * edges + 0.25 * here[i];
    }
}
