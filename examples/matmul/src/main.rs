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
    let kernels = kernels::Kernels::best()?;
    let device = kernels.device();
    // Numbers that half precision has.
    let value = |i: usize| ((i * 7919) % 2000) as f32 / 1024.0 - 1.0;
    let a: Vec<f32> = (0..m * k).map(value).collect();
    let b: Vec<f32> = (0..k * n).map(|i| value(i + 13)).collect();

    let (left, right) = (device.upload(&a)?, device.upload(&b)?);
    let mut product = device.zeros::<f32>(m * n)?;
    let launch = Launch::<2>::grid([n.div_ceil(16) as u32, m.div_ceil(16) as u32], [16, 16]);
    let start = Instant::now();
    kernels.matmul(&device.stream(), launch, n as u32, k as u32, &left, &right, &mut product)?;
    report("f32", start, &a, &b, &product.download()?, device)?;

    let halves = |values: &[f32]| values.iter().copied().map(half).collect::<Vec<_>>();
    let (left, right) = (device.upload(&halves(&a))?, device.upload(&halves(&b))?);
    let mut product = device.zeros::<f32>(m * n)?;
    let launch = Launch::grid([(n.div_ceil(32) * m.div_ceil(64)) as u32], [128]);
    let start = Instant::now();
    kernels.matmul_f16(
        &device.stream(),
        launch,
        n as u32,
        k as u32,
        &left,
        &right,
        &mut product,
    )?;
    report("f16", start, &a, &b, &product.download()?, device)
}

/// The bits in half precision of a number that it has, and that is zero or at least 2^-14.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let magnitude = (bits & 0x7fff_ffff) >> 13;
    (bits >> 16 & 0x8000 | magnitude.saturating_sub(112 << 10)) as u16
}

/// Prints how far off a product is and how long it took; an error where it is wrong.
fn report(
    name: &str,
    start: Instant,
    a: &[f32],
    b: &[f32],
    product: &[f32],
    device: &Device,
) -> Result<(), Box<dyn Error>> {
    let ([m, k, n], seconds) = (SIZE, start.elapsed().as_secs_f64());
    let error = relative_error(a, b, product);
    if error.is_nan() || error > 1e-5 {
        return Err(format!("matmul in {name}: the relative error is {error:e}").into());
    }
    println!(
        "matmul in {name}: {m}x{k} by {k}x{n}, relative error {error:.1e}, {:.2} GFLOP/s on {}",
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
