//! What `cargo kernelmill tune gemm_f32` and the like run, for the tile size of a routine, and `cargo kernelmill tune
//! axpy_f32_f32_4` and the like, for the block size of an instance of `axpy`. The blocks of the other routines are their tiles.

use blas::{
    BLOCKS, Blas, Element, Instances, Tile,
    kernels::{Half, Kernels},
};
use kernelmill::tuning::{Output, TuneError, Tuner};

/// Tunes the block size of each instance of `axpy`; the sizes are numbers of tiles, as a thread has one.
macro_rules! blocks {
    ($tuner:ident, $kernels:ident, $ty:ty, $sum:ty, $($tile:literal),*) => {$({
        let device = $kernels.device();
        let tiles = |n: usize| device.upload(&vec![[<$ty>::of(1); $tile]; n]);
        $tuner.tune(
            &$kernels.compiled().axpy::<$ty, $sum, $tile>()?,
            |n| Ok((tiles(n)?, tiles(n)?)),
            |(x, y), stream, launch| {
                $kernels.axpy::<$ty, $sum, $tile>(stream, launch, <$sum>::of(2), &*x, &mut *y)
            },
            |(_, y)| Ok(exact(y.download()?.into_iter().flatten())),
        )?;
    })*};
}

/// Numbers that no tile size changes.
fn exact<T: Element>(elements: impl IntoIterator<Item = T>) -> Output {
    Output::within(0.0, elements.into_iter().map(T::number))
}

/// Tunes the tile size of each routine. All elements are 1 and all sums small, so that they are exact in any order.
fn tiles<T: Element, S: Element>(tuner: &mut Tuner, kernels: &Kernels) -> Result<(), TuneError>
where
    Kernels: Instances<T, S>,
{
    let (blas, device) = (Blas::<T, S>::new(kernels), kernels.device());
    let group = Blas::<T, S>::group;
    let ones = |n: usize| device.upload(&vec![T::of(1); n]);
    tuner.tune_group(
        &group("axpy"),
        &blas.instances("axpy")?,
        |[n]| Ok((ones(n)?, ones(n)?)),
        |(x, y), stream, place| blas.axpy((stream, Tile::ALL[place]), S::of(2), x, y),
        |(_, y)| Ok(exact(y.download()?)),
    )?;
    tuner.tune_group(
        &group("dot"),
        &blas.instances("dot")?,
        |[n]| Ok((ones(n)?, device.zeros::<S>(BLOCKS as usize)?)),
        |(x, sums), stream, place| blas.dot((stream, Tile::ALL[place]), (x, x), sums),
        // Blocks share the elements out in another way.
        |(_, sums)| Ok(exact([sums.download()?.into_iter().map(S::number).sum::<f64>()])),
    )?;
    tuner.tune_group(
        &group("gemv"),
        &blas.instances("gemv")?,
        |[columns, rows]| Ok((ones(columns * rows)?, ones(columns)?, ones(rows)?)),
        |(a, x, y), stream, place| blas.gemv((stream, Tile::ALL[place]), (a, x), y),
        |(_, _, y)| Ok(exact(y.download()?)),
    )?;
    tuner.tune_group(
        &group("gemm"),
        &blas.instances("gemm")?,
        |[columns, rows, inner]| {
            let matrices = (ones(rows * inner)?, ones(inner * columns)?);
            Ok(([columns, rows, inner], matrices, ones(rows * columns)?))
        },
        |(sizes, (a, b), c), stream, place| {
            blas.gemm((stream, Tile::ALL[place]), *sizes, (a, b), c)
        },
        |(_, _, c)| Ok(exact(c.download()?)),
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
        blocks!(tuner, kernels, f32, f32, 1, 4, 16);
        blocks!(tuner, kernels, f64, f64, 1, 4, 16);
        blocks!(tuner, kernels, Half, f32, 1, 4, 16);
        tiles::<f32, f32>(&mut tuner, &kernels)?;
        tiles::<f64, f64>(&mut tuner, &kernels)?;
        tiles::<Half, f32>(&mut tuner, &kernels)?;
    }
    Ok(())
}
