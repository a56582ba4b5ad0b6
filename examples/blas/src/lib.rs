//! `axpy`, `dot`, `gemv` and `gemm` for three types, each in three tile sizes of which a launch takes one.

/// The kernels, and their wrappers.
#[allow(missing_docs, reason = "written by the build script")]
pub mod kernels {
    kernelmill::include_kernels!();
}

use std::marker::PhantomData;

use kernelmill::{Buffer, CompiledKernel, Launch, Pod, Result, Stream};
use kernels::{AxpyInstance, DotInstance, GemmInstance, GemvInstance, Half, Kernels};

/// An element on the host. The examples calculate with small whole numbers, of which all sums are exact.
pub trait Element: Pod {
    /// The type's name, as those of kernels have it.
    const NAME: &'static str;

    /// The element that is a whole number of at most 11 bits.
    fn of(number: i16) -> Self;

    /// The number that it is.
    fn number(self) -> f64;
}

impl Element for f32 {
    const NAME: &'static str = "f32";

    fn of(number: i16) -> Self {
        number.into()
    }
    fn number(self) -> f64 {
        self.into()
    }
}

impl Element for f64 {
    const NAME: &'static str = "f64";

    fn of(number: i16) -> Self {
        number.into()
    }
    fn number(self) -> f64 {
        self
    }
}

// SAFETY: it is its 16 bits, of which every pattern is a number.
unsafe impl Pod for Half {}

impl Element for Half {
    const NAME: &'static str = "Half";

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

/// What has every instance of the kernels for elements of `T`, calculated in `S`.
pub trait Instances<T, S>:
    AxpyInstance<T, S, 1>
    + AxpyInstance<T, S, 4>
    + AxpyInstance<T, S, 16>
    + DotInstance<T, S, 64>
    + DotInstance<T, S, 128>
    + DotInstance<T, S, 256>
    + GemvInstance<T, S, 64>
    + GemvInstance<T, S, 128>
    + GemvInstance<T, S, 256>
    + GemmInstance<T, S, 4, 16>
    + GemmInstance<T, S, 8, 64>
    + GemmInstance<T, S, 16, 256>
{
}
impl Instances<f32, f32> for Kernels {}
impl Instances<f64, f64> for Kernels {}
impl Instances<Half, f32> for Kernels {}

/// A tile size: 1, 4 or 16 elements of a thread in `axpy`, 64, 128 or 256 threads of a block in `dot` and `gemv`, and 4, 8 or
/// 16 rows in `gemm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tile {
    /// The smallest.
    Small,
    /// The one between.
    Middle,
    /// The largest.
    Large,
}

impl Tile {
    /// All of them, in the order in which groups of kernels have them.
    pub const ALL: [Self; 3] = [Self::Small, Self::Middle, Self::Large];
}

/// The number of blocks of [`Blas::dot`], each of which gives one sum.
pub const BLOCKS: u32 = 8;

/// The routines for elements of `T`, calculated in `S`.
pub struct Blas<'a, T, S> {
    /// The kernels of all types.
    pub kernels: &'a Kernels,
    types: PhantomData<(T, S)>,
}

impl<'a, T: Element, S: Element> Blas<'a, T, S>
where
    Kernels: Instances<T, S>,
{
    /// The routines of loaded kernels.
    #[must_use]
    pub fn new(kernels: &'a Kernels) -> Self {
        Self { kernels, types: PhantomData }
    }

    /// What `cargo kernelmill tune` calls the kernels of a routine: `gemm_f32` and the like.
    #[must_use]
    pub fn group(routine: &str) -> String {
        format!("{routine}_{}", T::NAME)
    }

    /// The kernels of a routine, smallest tile first.
    ///
    /// # Errors
    ///
    /// Where they are not compiled for the device.
    ///
    /// # Panics
    ///
    /// Where there is no such routine.
    pub fn instances(&self, routine: &str) -> Result<[CompiledKernel; 3]> {
        let all = self.kernels.compiled();
        Ok(match routine {
            "axpy" => [all.axpy::<T, S, 1>()?, all.axpy::<T, S, 4>()?, all.axpy::<T, S, 16>()?],
            "dot" => [all.dot::<T, S, 64>()?, all.dot::<T, S, 128>()?, all.dot::<T, S, 256>()?],
            "gemv" => [all.gemv::<T, S, 64>()?, all.gemv::<T, S, 128>()?, all.gemv::<T, S, 256>()?],
            "gemm" => [
                all.gemm::<T, S, 4, 16>()?,
                all.gemm::<T, S, 8, 64>()?,
                all.gemm::<T, S, 16, 256>()?,
            ],
            other => panic!("there is no routine `{other}`"),
        })
    }

    /// The tile size with which a routine is fastest on the device, as far as it was tuned; else the smallest.
    ///
    /// # Errors
    ///
    /// Where the kernels are not compiled for the device.
    pub fn fastest<const D: usize>(&self, routine: &str, sizes: [usize; D]) -> Result<Tile> {
        let instances = self.instances(routine)?;
        Ok(Tile::ALL[CompiledKernel::fastest(&Self::group(routine), &instances, sizes)])
    }

    /// `y += a * x`, in tuned blocks. The number of elements is a multiple of 16.
    ///
    /// # Errors
    ///
    /// What the launch reports.
    pub fn axpy(
        &self,
        (stream, tile): (&Stream, Tile),
        a: S,
        x: &Buffer<T>,
        y: &mut Buffer<T>,
    ) -> Result<()> {
        match tile {
            Tile::Small => self.axpy_in::<1>(stream, a, x, y),
            Tile::Middle => self.axpy_in::<4>(stream, a, x, y),
            Tile::Large => self.axpy_in::<16>(stream, a, x, y),
        }
    }

    fn axpy_in<const TILE: usize>(
        &self,
        stream: &Stream,
        a: S,
        x: &Buffer<T>,
        y: &mut Buffer<T>,
    ) -> Result<()>
    where
        Kernels: AxpyInstance<T, S, TILE>,
    {
        let launch = self.kernels.compiled().axpy::<T, S, TILE>()?.tuned_launch(y.len() / TILE);
        let (x, mut y) = (x.slice(..).cast::<[T; TILE]>()?, y.slice_mut(..));
        self.kernels.axpy::<T, S, TILE>(stream, launch, a, &x, &mut y.cast_mut::<[T; TILE]>()?)
    }

    /// The scalar product, in [`BLOCKS`] sums.
    ///
    /// # Errors
    ///
    /// What the launch reports.
    pub fn dot(
        &self,
        (stream, tile): (&Stream, Tile),
        (x, y): (&Buffer<T>, &Buffer<T>),
        sums: &mut Buffer<S>,
    ) -> Result<()> {
        let (kernels, of) = (self.kernels, |block| Launch::grid([BLOCKS], [block]));
        match tile {
            Tile::Small => kernels.dot::<T, S, 64>(stream, of(64), x, y, sums),
            Tile::Middle => kernels.dot::<T, S, 128>(stream, of(128), x, y, sums),
            Tile::Large => kernels.dot::<T, S, 256>(stream, of(256), x, y, sums),
        }
    }

    /// `y = a * x` for a matrix in rows.
    ///
    /// # Errors
    ///
    /// What the launch reports.
    pub fn gemv(
        &self,
        (stream, tile): (&Stream, Tile),
        (a, x): (&Buffer<T>, &Buffer<T>),
        y: &mut Buffer<T>,
    ) -> Result<()> {
        let (kernels, rows) = (self.kernels, y.len() as u32);
        let of = |block| Launch::grid([rows], [block]);
        match tile {
            Tile::Small => kernels.gemv::<T, S, 64>(stream, of(64), a, x, y),
            Tile::Middle => kernels.gemv::<T, S, 128>(stream, of(128), a, x, y),
            Tile::Large => kernels.gemv::<T, S, 256>(stream, of(256), a, x, y),
        }
    }

    /// `c = a * b` for matrices in rows; the sizes are the columns and the rows of `c`, and the rows of `b`.
    ///
    /// # Errors
    ///
    /// What the launch reports.
    pub fn gemm(
        &self,
        (stream, tile): (&Stream, Tile),
        [columns, rows, inner]: [usize; 3],
        (a, b): (&Buffer<T>, &Buffer<T>),
        c: &mut Buffer<T>,
    ) -> Result<()> {
        let (kernels, n, k) = (self.kernels, columns as u32, inner as u32);
        let of = |edge| Launch::cover([columns, rows], [edge; 2]);
        match tile {
            Tile::Small => kernels.gemm::<T, S, 4, 16>(stream, of(4), n, k, a, b, c),
            Tile::Middle => kernels.gemm::<T, S, 8, 64>(stream, of(8), n, k, a, b, c),
            Tile::Large => kernels.gemm::<T, S, 16, 256>(stream, of(16), n, k, a, b, c),
        }
    }
}
