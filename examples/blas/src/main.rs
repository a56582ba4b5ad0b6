//! `axpy` and `dot` as generic kernels, for two types in several tile sizes.

mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, DeviceCopy, Launch};
use kernels::{AxpyInstance, DotInstance, Kernels};
use std::{any::type_name, error::Error};

const N: usize = 1 << 16;
const BLOCKS: u32 = 32;

/// Computes `y += 2 * x` and then the scalar product of `x` and `y`, and compares with plain Rust.
fn run<T, const TILE: usize, const BLOCK: usize>(kernels: &Kernels) -> Result<(), Box<dyn Error>>
where
    T: DeviceCopy + From<i16> + Into<f64>,
    [T; TILE]: DeviceCopy,
    Kernels: AxpyInstance<T, TILE> + DotInstance<T, BLOCK>,
{
    let device = kernels.device();
    let stream = device.stream();
    // Small whole numbers, of which all sums are exact.
    let number = |i: usize| T::from((i % 7) as i16 - 3);
    let tiles: Vec<[T; TILE]> =
        (0..N / TILE).map(|tile| std::array::from_fn(|i| number(tile * TILE + i))).collect();
    let x = device.upload(&tiles)?;
    let mut y = device.upload(&vec![[T::from(1); TILE]; N / TILE])?;
    kernels.axpy::<T, TILE>(&stream, Launch::linear(N / TILE), T::from(2), &x, &mut y)?;

    let x = device.upload(tiles.as_flattened())?;
    let y = device.upload(y.download()?.as_flattened())?;
    let mut sums = device.zeros::<T>(BLOCKS as usize)?;
    let launch = Launch::grid([BLOCKS], [BLOCK as u32]);
    kernels.dot::<T, BLOCK>(&stream, launch, &x, &y, &mut sums)?;
    let found: f64 = sums.download()?.into_iter().map(Into::into).sum();
    let numbers = (0..N).map(|i| (i % 7) as f64 - 3.0);
    let expected: f64 = numbers.map(|x| x * (1.0 + 2.0 * x)).sum();
    if found != expected {
        return Err(format!("blas: {found} instead of {expected}").into());
    }
    let (name, on) = (type_name::<T>(), device.name());
    println!("blas: {name}, tiles of {TILE}, blocks of {BLOCK}: {found} on {on}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let kernels = Kernels::load(&Device::best()?)?;
    run::<f32, 1, 64>(&kernels)?;
    run::<f32, 4, 256>(&kernels)?;
    run::<f64, 1, 256>(&kernels)?;
    run::<f64, 4, 64>(&kernels)
}
