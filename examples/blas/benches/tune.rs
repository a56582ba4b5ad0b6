//! What `cargo kernelmill tune axpy_f32_4` and `cargo kernelmill tune axpy_f64_1` run.

mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{
    CompiledKernel, DeviceCopy,
    tuning::{Output, TuneError, Tuner},
};
use kernels::{AxpyInstance, Kernels};

/// Tunes `axpy` for tiles of these elements; the sizes are numbers of tiles, as a thread has one.
fn axpy<T, const TILE: usize>(
    tuner: &mut Tuner,
    kernels: &Kernels,
    compiled: &CompiledKernel,
) -> Result<(), TuneError>
where
    T: DeviceCopy + From<u8> + Into<f64>,
    [T; TILE]: DeviceCopy,
    Kernels: AxpyInstance<T, TILE>,
{
    let device = kernels.device();
    let tiles = |n: usize| device.upload(&vec![[T::from(1); TILE]; n]);
    tuner.tune(
        compiled,
        |n| Ok((tiles(n)?, tiles(n)?)),
        |(x, y), stream, launch| kernels.axpy::<T, TILE>(stream, launch, T::from(2), &*x, &mut *y),
        |(_, y)| Ok(Output::within(0.0, y.download()?.into_iter().flatten())),
    )
}

fn main() -> Result<(), TuneError> {
    let mut tuner = Tuner::from_environment()?;
    for device in tuner.devices()? {
        // A device that no binary is for is left out.
        let Ok(kernels) = Kernels::load(&device) else {
            println!("no kernels for {}", device.name());
            continue;
        };
        let compiled = kernels.compiled();
        axpy::<f32, 4>(&mut tuner, &kernels, &compiled.axpy_f32_4()?)?;
        axpy::<f64, 1>(&mut tuner, &kernels, &compiled.axpy_f64_1()?)?;
    }
    Ok(())
}
