//! Multiplies matrices on all devices of the machine at once: each takes the next rows when it is done with its own.

mod kernels;
mod matrices;
mod shares;

use kernelmill::Device;
use kernels::Kernels;
use matrices::Product;
use std::{error::Error, time::Instant};

/// The devices that have a binary, each with its kernels. What is left out is printed.
///
/// # Errors
///
/// The first error of a device that has one.
fn with_kernels(devices: Vec<Device>) -> kernelmill::Result<Vec<(Device, Kernels)>> {
    let mut loaded = Vec::new();
    for device in devices {
        match Kernels::load(&device) {
            Ok(kernels) => loaded.push((device, kernels)),
            Err(error @ kernelmill::Error::NoBinary(_)) => {
                println!("devices: without {}: {error}", device.selector());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(loaded)
}

fn main() -> Result<(), Box<dyn Error>> {
    let devices = with_kernels(Device::all())?;
    let product = Product::example();
    let start = Instant::now();
    let shares = shares::compute(&devices, &product)?;
    let milliseconds = 1e3 * start.elapsed().as_secs_f64();

    let mut rows = vec![0; devices.len()];
    let mut bands = Vec::new();
    for (device, share) in shares.into_iter().enumerate() {
        for (band, elements) in share {
            rows[device] += elements.len() / matrices::WIDTH;
            bands.push((band, elements));
        }
    }
    let elements = product.check(bands)?;
    println!("devices: {elements} elements right in {milliseconds:.1} ms, with rows from");
    for ((device, _), rows) in devices.iter().zip(rows) {
        let bar = "#".repeat((40 * rows).div_ceil(matrices::ROWS));
        println!("  {:<12} {rows:>5} {bar:<40} {}", device.selector().to_string(), device.name());
    }
    Ok(())
}
