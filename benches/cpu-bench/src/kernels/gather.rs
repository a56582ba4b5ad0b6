//! `y[i] = x[places[i]]` with random places.

use crate::{
    Case, Outcome, Setup, Values, Who, Work,
    opencl::Argument,
    setup::{floats, numbers},
};
use kernelmill::Launch;
use rayon::prelude::*;

const SOURCE: (&str, &str) = (include_str!("../../cl/gather.cl"), "gather");
/// Elements that a task of rayon's takes at least.
const CHUNK: usize = 1 << 14;

pub(super) fn case(setup: &Setup) -> Outcome<Case<'_>> {
    let n = setup.pick(1 << 12, 1 << 21);
    let x = floats(3, n);
    let places: Vec<u32> = numbers(4, n).iter().map(|number| number % n as u32).collect();
    let expected = places.iter().map(|&place| x[place as usize]).collect();
    let mut case = Case::new("gather", format!("{n} elements"), Values::Floats(expected), 0.0);
    // A place and an element are read, one is written.
    case.work = Work::Bytes(12 * n);
    let launch = Launch::linear(n);
    let (device, stream, kernels) = (&setup.device, &setup.stream, &setup.kernels);
    case.add_ours(
        || Ok((device.upload(&places)?, device.upload(&x)?, device.zeros::<f32>(n)?)),
        move |(places, x, y)| kernels.gather(stream, launch, &*places, &*x, y),
        // SAFETY: all have `n` elements, and places are below that.
        move |(places, x, y)| unsafe {
            kernels.cpp_gather(stream, launch, n as u32, &*places, &*x, y)
        },
        |(.., y)| y.download(),
    )?;
    for opencl in &setup.opencl {
        let (at, from, out) = (opencl.upload(&places)?, opencl.upload(&x)?, opencl.zeros(n)?);
        let arguments = [&at, &from, &out].map(Argument::Memory);
        let job = opencl.job(SOURCE, &arguments, &[n], &[256])?;
        case.add_opencl::<f32>(opencl, job, out, vec![at, from]);
    }
    case.add_host(Who::Rayon, vec![0.0_f32; n], move |y| {
        y.par_chunks_mut(CHUNK).zip(places.par_chunks(CHUNK)).for_each(|(y, places)| {
            for (y, &place) in y.iter_mut().zip(places) {
                *y = x[place as usize];
            }
        });
    });
    Ok(case)
}
