//! How often the number of each pixel can be squared before it leaves the circle.

use crate::{Case, Outcome, Setup, Values, Who, Work, opencl::Argument, simd};
use kernelmill::Launch;
use rayon::prelude::*;

const SOURCE: (&str, &str) = (include_str!("../../cl/mandelbrot.cl"), "mandelbrot");

pub(super) fn case(setup: &Setup) -> Outcome<Case<'_>> {
    let (width, limit) = setup.pick((64_usize, 50_u32), (512, 256));
    let step = 2.5 / width as f32;
    let pixels = width * width;
    let expected: Vec<u32> =
        (0..pixels).map(|i| count(i / width, i % width, step, limit)).collect();
    let steps = expected.iter().map(|&steps| steps as usize).sum::<usize>();
    let size = format!("{width} x {width} pixels, at most {limit} steps");
    let mut case = Case::new("mandelbrot", size, Values::Numbers(expected), 0.0);
    // Per step 3 products, 5 sums, of the pixels as far as they go.
    case.work = Work::Operations(8 * steps);
    case.one_may_differ_of = 100;
    let (side, stream, kernels) = (width as u32, &setup.stream, &setup.kernels);
    let launch = Launch::<2>::grid([side / 16, side / 16], [16, 16]);
    case.add_ours(
        || setup.device.zeros::<u32>(pixels),
        move |out| kernels.mandelbrot(stream, launch, side, step, limit, out),
        // SAFETY: as many pixels as two sides have.
        move |out| unsafe { kernels.cpp_mandelbrot(stream, launch, side, side, step, limit, out) },
        |out| out.download(),
    )?;
    for opencl in &setup.opencl {
        let out = opencl.zeros(pixels)?;
        let arguments = [
            Argument::Number(width as u32),
            Argument::Float(step),
            Argument::Number(limit),
            Argument::Memory(&out),
        ];
        let job = opencl.job(SOURCE, &arguments, &[width, width], &[16, 16])?;
        case.add_opencl::<u32>(opencl, job, out, Vec::new());
    }
    if simd::width() > 0 {
        case.add_host(Who::Simd, vec![0_u32; pixels], move |out| {
            let rows = out.par_chunks_mut(width).enumerate();
            rows.for_each(|(row, out)| simd::mandelbrot_row(row, step, limit, out));
        });
    }
    case.add_host(Who::Rayon, vec![0_u32; pixels], move |out| {
        out.par_chunks_mut(width).enumerate().for_each(|(row, out)| {
            for (column, out) in out.iter_mut().enumerate() {
                *out = count(row, column, step, limit);
            }
        });
    });
    Ok(case)
}

fn count(row: usize, column: usize, step: f32, limit: u32) -> u32 {
    let (cx, cy) = (column as f32 * step - 2.0, row as f32 * step - 1.25);
    let (mut x, mut y, mut count) = (0.0_f32, 0.0_f32, 0);
    while count < limit && x * x + y * y <= 4.0 {
        (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
        count += 1;
    }
    count
}
