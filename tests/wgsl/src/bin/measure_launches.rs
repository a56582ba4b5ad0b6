//! What a launch costs the host on a device of wgpu: microseconds for one group of threads, the best of samples that are each
//! waited for at their end. `benches/results/launch.md` has figures.
//!
//! `cargo run --release -p wgsl --bin measure_launches`

use kernelmill::{Device, Launch, Result, Stream};
use std::time::Instant;

#[path = "../kernels.rs"]
#[allow(dead_code, reason = "two of many kernels")]
mod kernels;

const SAMPLES: u32 = 40;
const LAUNCHES: u32 = 200;

/// The best of the samples, in microseconds a launch.
fn best(stream: &Stream, mut launch: impl FnMut(u32) -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..=SAMPLES {
        let begun = Instant::now();
        (0..LAUNCHES).try_for_each(&mut launch)?;
        let queued = begun.elapsed();
        stream.synchronize()?;
        best = best.min(queued.as_secs_f64() * 1e6 / f64::from(LAUNCHES));
    }
    Ok(best)
}

fn main() -> Result<()> {
    let device = Device::wgpu(0)?;
    let (kernels, stream) = (kernels::Kernels::load(&device)?, device.stream());
    let x = device.upload(&[1.0_f32; 64])?;
    let (mut y, mut z) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
    let (wgsl, rust) = (Launch::grid([1], [64]), Launch::grid([1], [64]));
    let same = best(&stream, |_| kernels.saxpy(&stream, wgsl, 1.0, &x, &mut y))?;
    println!("a kernel in WGSL, the same arguments {same:8.1} us");
    let other = best(&stream, |round| kernels.saxpy(&stream, wgsl, round as f32, &x, &mut y))?;
    println!("a kernel in WGSL, another number     {other:8.1} us");
    let same = best(&stream, |_| kernels.of_one(&stream, rust, 0, &x, &x, &mut z))?;
    println!("a kernel in Rust, the same arguments {same:8.1} us");
    let other = best(&stream, |round| kernels.of_one(&stream, rust, round % 2, &x, &x, &mut z))?;
    println!("a kernel in Rust, another number     {other:8.1} us");
    assert_eq!(z.download()?, [1.0; 64]);
    Ok(())
}
