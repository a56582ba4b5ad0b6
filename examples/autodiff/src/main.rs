//! Fits a curve to points by gradient descent on the device, and draws it.

mod kernels {
    kernelmill::include_kernels!();
}
mod svg;

use kernelmill::{Device, Launch};
use std::error::Error;

const POINTS: usize = 400;
const STEPS: usize = 600;
const TRUE: [f32; 4] = [1.5, 0.3, 4.0, 0.2];
const NOISE: f32 = 0.1;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::best()?;
    let kernels = kernels::Kernels::load(&device)?;
    let stream = device.stream();
    let (x, y) = points();
    let (dx, dy) = (device.upload(&x)?, device.upload(&y)?);
    let mut weights = device.upload(&[0.5_f32, 0.0, 1.0, 0.0])?;
    let mut velocity = device.zeros::<f32>(4)?;
    let mut gradient = device.zeros::<f32>(4)?;
    for _ in 0..STEPS {
        let launch = Launch::linear(POINTS);
        kernels.gradient(&stream, launch, &weights, &dx, &dy, &mut gradient)?;
        let launch = Launch::linear(4);
        kernels.descend(&stream, launch, 0.1, &mut weights, &mut velocity, &mut gradient)?;
    }
    let found = weights.download()?;

    let at: Vec<f32> = (0..200).map(|i| -1.5 + 3.5 * i as f32 / 199.0).collect();
    let mut fitted = device.zeros::<f32>(at.len())?;
    let mut slope = device.zeros::<f32>(at.len())?;
    let dat = device.upload(&at)?;
    let launch = Launch::linear(at.len());
    kernels.evaluate(&stream, launch, &weights, &dat, &mut fitted, &mut slope)?;
    let (fitted, slope) = (fitted.download()?, slope.download()?);
    check(&found, &at, &slope)?;
    let path = std::env::args().nth(1).unwrap_or_else(|| "fit.svg".to_owned());
    std::fs::write(&path, svg::plot(&x, &y, &at, &fitted))?;
    println!(
        "autodiff: {found:.2?} after {STEPS} steps on {}; the points are of {TRUE:?}; {path} shows it",
        device.name()
    );
    Ok(())
}

/// Points near the true curve.
fn points() -> (Vec<f32>, Vec<f32>) {
    let x: Vec<f32> = (0..POINTS).map(|i| -1.5 + 3.5 * i as f32 / POINTS as f32).collect();
    let noise = |i: usize| ((i * 7919 % 1000) as f32 / 500.0 - 1.0) * NOISE;
    let y = x.iter().enumerate().map(|(i, &x)| curve(&TRUE, x) + noise(i)).collect();
    (x, y)
}

fn curve(w: &[f32], x: f32) -> f32 {
    w[0] * (-w[2] * (x - w[1]).powi(2)).exp() + w[3]
}

/// The weights are those of the points, and the slope is that of the curve.
fn check(found: &[f32], at: &[f32], slope: &[f32]) -> Result<(), Box<dyn Error>> {
    for (found, expected) in found.iter().zip(TRUE) {
        if (found - expected).abs() > 0.05 * expected.abs().max(1.0) {
            return Err(format!("autodiff: {found} instead of {expected}").into());
        }
    }
    for (&x, &slope) in at.iter().zip(slope) {
        let h = 1e-3;
        let expected = (curve(found, x + h) - curve(found, x - h)) / (2.0 * h);
        if (slope - expected).abs() > 5e-3 {
            return Err(format!("autodiff: slope {slope} instead of {expected} at {x}").into());
        }
    }
    Ok(())
}
