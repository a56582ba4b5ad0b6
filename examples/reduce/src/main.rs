//! Adds up many numbers by a tree in shared memory, in two passes.

mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::Launch;
use std::{error::Error, time::Instant};

const N: usize = 1 << 22;
const BLOCKS: u32 = 256;

fn main() -> Result<(), Box<dyn Error>> {
    let kernels = kernels::Kernels::best()?;
    let device = kernels.device();
    let stream = device.stream();
    let numbers: Vec<f32> = (0..N).map(|i| ((i * 37) % 1000) as f32 * 1e-3).collect();
    let x = device.upload(&numbers)?;
    let mut sums = device.zeros::<f32>(BLOCKS as usize)?;
    let mut total = device.zeros::<f32>(1)?;
    let start = Instant::now();
    kernels.reduce(&stream, Launch::grid([BLOCKS], [256]), &x, &mut sums)?;
    kernels.reduce(&stream, Launch::grid([1], [256]), &sums, &mut total)?;
    let total = f64::from(total.download()?[0]);
    let milliseconds = 1e3 * start.elapsed().as_secs_f64();

    let expected: f64 = numbers.iter().map(|&number| f64::from(number)).sum();
    let error = (total - expected).abs() / expected;
    if error > 1e-5 {
        return Err(format!("reduce: {total} instead of {expected}").into());
    }
    println!(
        "reduce: {N} numbers add up to {total:.0} (relative error {error:.1e}) in {milliseconds:.2} ms on {}",
        device.name(),
    );
    Ok(())
}
