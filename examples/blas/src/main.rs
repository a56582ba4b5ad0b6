//! `axpy`, `dot`, `gemv` and `gemm` as generic kernels, for three types in three tile sizes, against plain Rust.

mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, DeviceCopy, Launch};
use kernels::{AxpyInstance, DotInstance, GemmInstance, GemvInstance, Half, Kernels};
use std::{any::type_name, error::Error, fmt};

/// An element on the host. The examples calculate with small whole numbers, of which all sums are exact.
trait Element: DeviceCopy {
    fn of(number: i16) -> Self;
    fn number(self) -> f64;
}

impl Element for f32 {
    fn of(number: i16) -> Self {
        number.into()
    }
    fn number(self) -> f64 {
        self.into()
    }
}

impl Element for f64 {
    fn of(number: i16) -> Self {
        number.into()
    }
    fn number(self) -> f64 {
        self
    }
}

impl Element for Half {
    /// For numbers of at most 11 bits.
    fn of(number: i16) -> Self {
        let (sign, size) = (u16::from(number < 0) << 15, number.unsigned_abs());
        let exponent = size.checked_ilog2().unwrap_or_default() as u16;
        let magnitude =
            if size == 0 { 0 } else { ((exponent + 14) << 10) + (size << (10 - exponent)) };
        Self { bits: sign | magnitude }
    }
    fn number(self) -> f64 {
        let (exponent, fraction) = ((self.bits >> 10) & 31, f64::from(self.bits & 0x3ff) / 1024.0);
        let size = match exponent {
            0 => fraction * 2f64.powi(-14),
            _ => (1.0 + fraction) * 2f64.powi(i32::from(exponent) - 15),
        };
        if self.bits >> 15 == 0 { size } else { -size }
    }
}

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

/// The routines for elements of `T`, calculated in `S`.
struct Routines<'a, T, S> {
    kernels: &'a Kernels,
    x: Vec<T>,
    y: Vec<T>,
    two: S,
}

/// Rows and columns of the matrices, no multiple of any tile.
const SIZE: usize = 75;
const BLOCKS: u32 = 8;

impl<T: Element, S: Element> Routines<'_, T, S> {
    /// Each with its tile size: elements of a thread, threads of a block, and rows of a tile.
    fn run<const TILE: usize, const BLOCK: usize, const EDGE: usize, const AREA: usize>(
        &self,
    ) -> Result<(), Box<dyn Error>>
    where
        [T; TILE]: DeviceCopy,
        Kernels: AxpyInstance<T, S, TILE>
            + DotInstance<T, S, BLOCK>
            + GemvInstance<T, S, BLOCK>
            + GemmInstance<T, S, EDGE, AREA>,
    {
        let (kernels, device) = (self.kernels, self.kernels.device());
        let stream = device.stream();
        let (x, y) = (device.upload(&self.x)?, device.upload(&self.y)?);
        let number = |i: usize| (self.x[i].number(), self.y[i].number());

        let tiles = |elements: &[T]| device.upload(elements.as_chunks::<TILE>().0);
        let (x_tiles, mut y_tiles) = (tiles(&self.x)?, tiles(&self.y)?);
        let launch = Launch::linear(y_tiles.len());
        kernels.axpy::<T, S, TILE>(&stream, launch, self.two, &x_tiles, &mut y_tiles)?;
        let expected = |i| number(i).1 + 2.0 * number(i).0;
        let found = y_tiles.download()?;
        let found = found.as_flattened();
        compare("axpy", found, &(0..found.len()).map(expected).collect::<Vec<_>>())?;

        let mut sums = device.zeros::<S>(BLOCKS as usize)?;
        let launch = Launch::grid([BLOCKS], [BLOCK as u32]);
        kernels.dot::<T, S, BLOCK>(&stream, launch, &x, &y, &mut sums)?;
        let found: f64 = sums.download()?.into_iter().map(S::number).sum();
        let expected: f64 = (0..self.x.len()).map(|i| number(i).0 * number(i).1).sum();
        compare("dot", &[found], &[expected])?;

        // The same elements as matrices, and the first as a vector.
        let vector = device.upload(&self.x[..SIZE])?;
        let mut out = device.zeros::<T>(SIZE)?;
        let launch = Launch::grid([SIZE as u32], [BLOCK as u32]);
        kernels.gemv::<T, S, BLOCK>(&stream, launch, &y, &vector, &mut out)?;
        let products = |row| (0..SIZE).map(move |i| number(row * SIZE + i).1 * number(i).0);
        let expected: Vec<f64> = (0..SIZE).map(|row| products(row).sum()).collect();
        compare("gemv", &out.download()?, &expected)?;

        let mut out = device.zeros::<T>(SIZE * SIZE)?;
        let (n, edge) = (SIZE as u32, EDGE as u32);
        let launch = Launch::grid([n.div_ceil(edge); 2], [edge; 2]);
        kernels.gemm::<T, S, EDGE, AREA>(&stream, launch, n, n, &x, &y, &mut out)?;
        let element = |i: usize| {
            let products = (0..SIZE)
                .map(|step| number(i / SIZE * SIZE + step).0 * number(step * SIZE + i % SIZE).1);
            products.sum()
        };
        compare("gemm", &out.download()?, &(0..SIZE * SIZE).map(element).collect::<Vec<f64>>())?;
        println!("blas: {self}, tiles of {TILE}, {BLOCK} and {EDGE}: as plain Rust has it");
        Ok(())
    }
}

impl<T, S> fmt::Display for Routines<'_, T, S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} on {}", type_name::<T>(), self.kernels.device().name())
    }
}

/// The routines on vectors and matrices of as many elements.
fn routines<T: Element, S: Element>(kernels: &Kernels) -> Routines<'_, T, S> {
    let (x, y) = (numbers(SIZE * SIZE), numbers(SIZE * SIZE + 1));
    Routines { kernels, x, y: y[1..].to_vec(), two: S::of(2) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let kernels = Kernels::load(&Device::best()?)?;
    let single = routines::<f32, f32>(&kernels);
    single.run::<1, 64, 4, 16>()?;
    single.run::<4, 128, 8, 64>()?;
    single.run::<16, 256, 16, 256>()?;
    let double = routines::<f64, f64>(&kernels);
    double.run::<1, 64, 4, 16>()?;
    double.run::<4, 128, 8, 64>()?;
    double.run::<16, 256, 16, 256>()?;
    let half = routines::<Half, f32>(&kernels);
    half.run::<1, 64, 4, 16>()?;
    half.run::<4, 128, 8, 64>()?;
    half.run::<16, 256, 16, 256>()
}
