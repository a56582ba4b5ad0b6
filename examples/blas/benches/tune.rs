//! What `cargo kernelmill tune axpy_f32_f32_4` and `cargo kernelmill tune axpy_Half_f32_16` run, and the like for each
//! instance of `axpy`. The blocks of the other routines are their tiles.

mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{
    CompiledKernel, DeviceCopy,
    tuning::{Output, TuneError, Tuner},
};
use kernels::{AxpyInstance, Half, Kernels};

/// Tunes `axpy` for tiles of these elements; the sizes are numbers of tiles, as a thread has one.
fn axpy<T, S, const TILE: usize>(
    tuner: &mut Tuner,
    (kernels, compiled): (&Kernels, &CompiledKernel),
    (one, two): (T, S),
    number: impl Fn(T) -> f64 + Copy,
) -> Result<(), TuneError>
where
    T: DeviceCopy,
    S: DeviceCopy,
    [T; TILE]: DeviceCopy,
    Kernels: AxpyInstance<T, S, TILE>,
{
    let device = kernels.device();
    let tiles = |n: usize| device.upload(&vec![[one; TILE]; n]);
    tuner.tune(
        compiled,
        |n| Ok((tiles(n)?, tiles(n)?)),
        |(x, y), stream, launch| kernels.axpy::<T, S, TILE>(stream, launch, two, &*x, &mut *y),
        |(_, y)| Ok(Output::within(0.0, y.download()?.into_iter().flatten().map(number))),
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
        let all = kernels.compiled();
        macro_rules! axpy {
            ($(($kernel:ident, $tile:literal, $numbers:expr, $number:expr)),* $(,)?) => {$({
                let compiled = all.$kernel()?;
                axpy::<_, _, $tile>(&mut tuner, (&kernels, &compiled), $numbers, $number)?;
            })*};
        }
        // The bits of 1.
        let one = Half { bits: 0x3c00 };
        let bits = |half: Half| f64::from(half.bits);
        axpy!(
            (axpy_f32_f32_1, 1, (1f32, 2f32), f64::from),
            (axpy_f32_f32_4, 4, (1f32, 2f32), f64::from),
            (axpy_f32_f32_16, 16, (1f32, 2f32), f64::from),
            (axpy_f64_f64_1, 1, (1f64, 2f64), |it| it),
            (axpy_f64_f64_4, 4, (1f64, 2f64), |it| it),
            (axpy_f64_f64_16, 16, (1f64, 2f64), |it| it),
            (axpy_Half_f32_1, 1, (one, 2f32), bits),
            (axpy_Half_f32_4, 4, (one, 2f32), bits),
            (axpy_Half_f32_16, 16, (one, 2f32), bits),
        );
    }
    Ok(())
}
