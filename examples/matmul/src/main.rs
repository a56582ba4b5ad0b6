//! Multiplies matrices by tiles in shared memory.

mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, Launch};
use std::{error::Error, time::Instant};

/// Rows of `a`, columns of `a`, columns of `b`: none a multiple of the tile.
const SIZE: [usize; 3] = [250, 333, 190];

fn main() -> Result<(), Box<dyn Error>> {
    let [m, k, n] = SIZE;
    let device = Device::best()?;
    let kernels = kernels::Kernels::load(&device)?;
    let value = |i: usize| ((i * 7919) % 1000) as f32 * 2e-3 - 1.0;
    let a: Vec<f32> = (0..m * k).map(value).collect();
    let b: Vec<f32> = (0..k * n).map(|i| value(i + 13)).collect();
    let (left, right) = (device.upload(&a)?, device.upload(&b)?);
    let mut product = device.zeros::<f32>(m * n)?;
    let launch = Launch::<2>::grid([n.div_ceil(16) as u32, m.div_ceil(16) as u32], [16, 16]);
    let start = Instant::now();
    kernels.matmul(&device.stream(), launch, n as u32, k as u32, &left, &right, &mut product)?;
    let product = product.download()?;
    let seconds = start.elapsed().as_secs_f64();

    let error = relative_error(&a, &b, &product);
    if error.is_nan() || error > 1e-5 {
        return Err(format!("matmul: the relative error is {error:e}").into());
    }
    println!(
        "matmul: {m}x{k} by {k}x{n}, relative error {error:.1e}, {:.2} GFLOP/s on {}",
        2e-9 * (m * k * n) as f64 / seconds,
        device.name(),
    );
    Ok(())
}

/// The norm of the difference to a product in double precision, over the norm of that.
fn relative_error(a: &[f32], b: &[f32], product: &[f32]) -> f64 {
    let [_, k, n] = SIZE;
    let (mut difference, mut norm) = (0.0, 0.0);
    for (i, &actual) in product.iter().enumerate() {
        let (row, column) = (i / n, i % n);
        let terms = (0..k).map(|j| f64::from(a[row * k + j]) * f64::from(b[j * n + column]));
        let expected: f64 = terms.sum();
        difference += (f64::from(actual) - expected).powi(2);
        norm += expected.powi(2);
    }
    (difference / norm).sqrt()
}
