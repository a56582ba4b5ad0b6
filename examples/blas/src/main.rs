//! `axpy`, `dot`, `gemv` and `gemm` as generic kernels, for three types in three tile sizes, against plain Rust; then once
//! more in the tile sizes that were found to be fastest.

use std::{error::Error, fmt};

use blas::{
    BLOCKS, Blas, Element, Instances, Tile,
    kernels::{Half, Kernels},
};
use kernelmill::Device;

/// Numbers from -2 to 2 that depend on their place.
fn numbers<T: Element>(n: usize) -> Vec<T> {
    (0..n).map(|i| T::of((i * 7 % 5) as i16 - 2)).collect()
}

/// Compares what a routine gives with plain Rust.
fn compare<T: Element>(what: &str, found: &[T], expected: &[f64]) -> Result<(), Box<dyn Error>> {
    let found = found.iter().map(|it| it.number());
    match found.zip(expected).position(|(found, expected)| found != *expected) {
        Some(place) => Err(format!("blas: {what} differs at {place}").into()),
        None => Ok(()),
    }
}

/// The tile size of each routine.
#[derive(Clone, Copy)]
struct Tiles {
    axpy: Tile,
    dot: Tile,
    gemv: Tile,
    gemm: Tile,
}

/// The routines for elements of `T`, calculated in `S`, with what they are given.
struct Routines<'a, T, S> {
    blas: Blas<'a, T, S>,
    x: Vec<T>,
    y: Vec<T>,
}

/// Rows and columns of the matrices, no multiple of any tile.
const SIZE: usize = 75;

/// Elements of the vectors of `axpy`, a multiple of all tiles.
const ELEMENTS: usize = SIZE * SIZE / 16 * 16;

impl<T: Element, S: Element> Routines<'_, T, S>
where
    Kernels: Instances<T, S>,
{
    /// The tile sizes that are fastest for these vectors and matrices.
    fn tuned(&self) -> kernelmill::Result<Tiles> {
        let blas = &self.blas;
        Ok(Tiles {
            axpy: blas.fastest("axpy", [ELEMENTS])?,
            dot: blas.fastest("dot", [self.x.len()])?,
            gemv: blas.fastest("gemv", [SIZE, SIZE])?,
            gemm: blas.fastest("gemm", [SIZE; 3])?,
        })
    }

    /// All of them.
    fn run(&self, tiles: Tiles) -> Result<(), Box<dyn Error>> {
        let (blas, device) = (&self.blas, self.blas.kernels.device());
        let stream = device.stream();
        let (x, y) = (device.upload(&self.x)?, device.upload(&self.y)?);
        let number = |i: usize| (self.x[i].number(), self.y[i].number());

        let x_part = device.upload(&self.x[..ELEMENTS])?;
        let mut out = device.upload(&self.y[..ELEMENTS])?;
        blas.axpy((&stream, tiles.axpy), S::of(2), &x_part, &mut out)?;
        let expected = |i| number(i).1 + 2.0 * number(i).0;
        compare("axpy", &out.download()?, &(0..ELEMENTS).map(expected).collect::<Vec<_>>())?;

        let mut sums = device.zeros::<S>(BLOCKS as usize)?;
        blas.dot((&stream, tiles.dot), (&x, &y), &mut sums)?;
        let found: f64 = sums.download()?.into_iter().map(S::number).sum();
        let expected: f64 = (0..self.x.len()).map(|i| number(i).0 * number(i).1).sum();
        compare("dot", &[found], &[expected])?;

        // The same elements as matrices, and the first as a vector.
        let vector = device.upload(&self.x[..SIZE])?;
        let mut out = device.zeros::<T>(SIZE)?;
        blas.gemv((&stream, tiles.gemv), (&y, &vector), &mut out)?;
        let products = |row| (0..SIZE).map(move |i| number(row * SIZE + i).1 * number(i).0);
        let expected: Vec<f64> = (0..SIZE).map(|row| products(row).sum()).collect();
        compare("gemv", &out.download()?, &expected)?;

        let mut out = device.zeros::<T>(SIZE * SIZE)?;
        blas.gemm((&stream, tiles.gemm), [SIZE; 3], (&x, &y), &mut out)?;
        let element = |i: usize| {
            let products = (0..SIZE)
                .map(|step| number(i / SIZE * SIZE + step).0 * number(step * SIZE + i % SIZE).1);
            products.sum()
        };
        compare("gemm", &out.download()?, &(0..SIZE * SIZE).map(element).collect::<Vec<f64>>())?;
        println!("blas: {self}, {tiles}: as plain Rust has it");
        Ok(())
    }

    /// In each tile size, and in the tuned ones.
    fn run_all(&self) -> Result<(), Box<dyn Error>> {
        for tile in Tile::ALL {
            self.run(Tiles { axpy: tile, dot: tile, gemv: tile, gemm: tile })?;
        }
        println!("blas: tuned");
        self.run(self.tuned()?)
    }
}

impl<T: Element, S> fmt::Display for Routines<'_, T, S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} on {}", T::NAME, self.blas.kernels.device().name())
    }
}

impl fmt::Display for Tiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { axpy, dot, gemv, gemm } = *self;
        let (of_axpy, edge) = ([1, 4, 16][axpy as usize], [4, 8, 16][gemm as usize]);
        let [of_dot, of_gemv] = [dot, gemv].map(|tile| [64, 128, 256][tile as usize]);
        write!(formatter, "tiles of {of_axpy}, {of_dot}, {of_gemv} and {edge}")
    }
}

/// The routines on vectors and matrices of as many elements.
fn routines<T: Element, S: Element>(kernels: &Kernels) -> Routines<'_, T, S>
where
    Kernels: Instances<T, S>,
{
    let (x, y) = (numbers(SIZE * SIZE), numbers(SIZE * SIZE + 1));
    Routines { blas: Blas::new(kernels), x, y: y[1..].to_vec() }
}

fn main() -> Result<(), Box<dyn Error>> {
    let kernels = Kernels::load(&Device::best()?)?;
    routines::<f32, f32>(&kernels).run_all()?;
    routines::<f64, f64>(&kernels).run_all()?;
    routines::<Half, f32>(&kernels).run_all()
}
