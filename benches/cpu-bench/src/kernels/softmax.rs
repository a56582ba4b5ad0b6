//! The softmax of each row.

use crate::{Case, Outcome, Setup, Values, Who, Work, opencl::Argument, setup::floats};
use kernelmill::Launch;
use rayon::prelude::*;

const SOURCE: (&str, &str) = (include_str!("../../cl/softmax.cl"), "softmax");

pub(super) fn case(setup: &Setup) -> Outcome<Case<'_>> {
    let (rows, columns) = setup.pick((8, 512), (512, 1024));
    let x: Vec<f32> = floats(13, rows * columns).iter().map(|x| 8.0 * x).collect();
    let expected = x.chunks(columns).flat_map(reference).collect();
    let size = format!("{rows} rows of {columns}");
    let mut case = Case::new("softmax", size, Values::Floats(expected), 1e-6);
    // An element is read, one is written.
    case.work = Work::Bytes(8 * rows * columns);
    let (launch, width) = (Launch::grid([rows as u32], [256]), columns as u32);
    case.add_ours(
        || Ok((setup.device.upload(&x)?, setup.device.zeros::<f32>(rows * columns)?)),
        move |(x, y)| setup.kernels.softmax(&setup.stream, launch, width, &*x, y),
        // SAFETY: both have a row of `width` elements for each block.
        move |(x, y)| unsafe { setup.kernels.cpp_softmax(&setup.stream, launch, width, &*x, y) },
        |(_, y)| y.download(),
    )?;
    for opencl in &setup.opencl {
        let (from, out) = (opencl.upload(&x)?, opencl.zeros(rows * columns)?);
        let [from_, out_] = [&from, &out].map(Argument::Memory);
        let arguments = [Argument::Number(columns as u32), from_, out_];
        let job = opencl.job(SOURCE, &arguments, &[rows * 256], &[256])?;
        case.add_opencl::<f32>(opencl, job, out, vec![from]);
    }
    case.add_host(Who::Rayon, vec![0.0_f32; rows * columns], move |y| {
        y.par_chunks_mut(columns).zip(x.par_chunks(columns)).for_each(|(y, x)| row(x, y));
    });
    Ok(case)
}

fn row(x: &[f32], y: &mut [f32]) {
    let most = x.iter().copied().fold(f32::MIN, f32::max);
    let mut sum = 0.0;
    for (y, x) in y.iter_mut().zip(x) {
        *y = (x - most).exp();
        sum += *y;
    }
    let scale = 1.0 / sum;
    y.iter_mut().for_each(|y| *y *= scale);
}

/// In double precision.
fn reference(x: &[f32]) -> Vec<f32> {
    let most = x.iter().copied().fold(f32::MIN, f32::max);
    let values: Vec<f64> = x.iter().map(|x| f64::from(x - most).exp()).collect();
    let sum: f64 = values.iter().sum();
    values.into_iter().map(|value| (value / sum) as f32).collect()
}
