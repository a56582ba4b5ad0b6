//! The shares of devices: bands of rows from a queue, so that a device which is faster computes more of them.

use crate::{
    kernels::Kernels,
    matrices::{BAND, INNER, Product, ROWS, WIDTH},
};
use kernelmill::{Backend, Device, Launch, Result};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// What a device has computed: the number of each band, and its elements.
pub(crate) type Share = Vec<(usize, Vec<f32>)>;

/// Computes the product with one thread of the host for each device; at least one band on each.
///
/// # Errors
///
/// The first error of a device.
pub(crate) fn compute(devices: &[(Device, Kernels)], product: &Product) -> Result<Vec<Share>> {
    let next = &AtomicUsize::new(devices.len());
    thread::scope(|scope| {
        let start = |(first, on)| scope.spawn(move || bands(on, product, first, next));
        let threads: Vec<_> = devices.iter().enumerate().map(start).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().expect("no panic");
        threads.into_iter().map(join).collect()
    })
}

/// Computes the band `first`, and then the next ones until there are no more.
fn bands(
    (device, kernels): &(Device, Kernels),
    product: &Product,
    first: usize,
    next: &AtomicUsize,
) -> Result<Share> {
    let stream = device.stream();
    let b = device.upload(&product.b)?;
    let mut a = device.zeros::<f32>(BAND * INNER)?;
    let mut c = device.zeros::<f32>(BAND * WIDTH)?;
    let launch = Launch::grid([WIDTH as u32 / 16, BAND as u32 / 16], [16, 16]);
    let mut share = Share::new();
    let mut band = first;
    while band < ROWS / BAND {
        a.copy_from(product.rows(band))?;
        let (width, inner) = (WIDTH as u32, INNER as u32);
        match device.backend() {
            // Devices of Vulkan take WGSL, and others OpenCL C.
            Backend::Wgpu => {
                kernels.multiply_on_vulkan(&stream, launch, &a, &b, &mut c, width, inner)?;
            }
            _ => kernels.multiply(&stream, launch, &a, &b, &mut c, width, inner)?,
        }
        share.push((band, c.download()?));
        band = next.fetch_add(1, Ordering::Relaxed);
    }
    Ok(share)
}
