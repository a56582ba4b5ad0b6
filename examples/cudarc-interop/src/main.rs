//! Calls kernelmill's wrappers with cudarc's own slices, on cudarc's stream: nothing is copied between them.

mod kernels {
    kernelmill::include_kernels!();
}
use cudarc::driver::CudaContext;
use kernelmill::{CudarcSlice, Device, Launch};
use std::error::Error;

const N: usize = 1 << 16;

fn main() -> Result<(), Box<dyn Error>> {
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(error) => {
            println!("cudarc-interop: nothing to do without an NVIDIA device ({error})");
            return Ok(());
        }
    };
    let kernels = kernels::Kernels::load(&device)?;
    let stream = CudaContext::new(0)?.default_stream();
    // SAFETY: nobody captures the stream into a graph.
    let launches = unsafe { device.adopt_stream(stream.clone())? };
    let x = stream.clone_htod(&vec![2.0_f32; N])?;
    let mut y = stream.clone_htod(&vec![1.0_f32; N])?;
    // SAFETY: the slices are initialised, and everything that uses them is on one stream.
    let (all, to) = unsafe { (CudarcSlice::new(&x), CudarcSlice::new(&mut y)) };
    kernels.scale_add(&launches, Launch::linear(N), 3.0, all, to)?;
    // A view of the second half only.
    let (first, mut half) = (x.slice(..N / 2), y.slice_mut(N / 2..));
    // SAFETY: as above.
    let (from, to) = unsafe { (CudarcSlice::new(&first), CudarcSlice::new(&mut half)) };
    kernels.scale_add(&launches, Launch::linear(N / 2), 1.0, from, to)?;
    let result = stream.clone_dtoh(&y)?;
    let right = result[..N / 2].iter().all(|&value| value == 7.0)
        && result[N / 2..].iter().all(|&value| value == 9.0);
    if !right {
        return Err(format!("cudarc-interop: {} and {}", result[0], result[N - 1]).into());
    }
    println!("cudarc-interop: {N} elements right on {}", device.name());
    Ok(())
}
