//! Tuning: times the block shapes and builds of a kernel, on the arguments of a program of the user's.
//!
//! The program is a benchmark without a harness, `benches/tune.rs`; `cargo kernelmill tune KERNEL` runs it and writes
//! what it finds to `kernelmill-tuning.toml`, which the next build embeds for
//! [`CompiledKernel::tuned_launch`](crate::CompiledKernel::tuned_launch), and in two and three dimensions
//! [`tuned_cover`](crate::CompiledKernel::tuned_cover). Run by `cargo bench` it does nothing.
//! Follows the tuners of [Triton] and [CUB]: the user gives the arguments, all candidates have to compute the same, and what
//! is clearly fastest is kept.
//!
//! ```
//! # /* What the next line brings in is written by the build script:
//! mod kernels { kernelmill::include_kernels!(); }
//! # */
//! # mod kernels {
//! #     use kernelmill::{CompiledKernel, Device, Launch, ReadSlice, Result, Stream, WriteSlice};
//! #     pub struct Kernels;
//! #     impl Kernels {
//! #         pub fn load(_: &Device) -> Result<Self> { Ok(Self) }
//! #         pub fn compiled(&self) -> &Self { self }
//! #         pub fn saxpy(&self) -> Result<CompiledKernel> { unreachable!() }
//! #     }
//! #     pub fn saxpy(
//! #         _: &Stream, _: Launch<1>, _: f32, _: impl ReadSlice<f32>, _: impl WriteSlice<f32>,
//! #     ) -> Result<()> { Ok(()) }
//! # }
//! use kernelmill::tuning::{Output, TuneError, Tuner};
//!
//! fn main() -> Result<(), TuneError> {
//!     let mut tuner = Tuner::from_environment()?;
//!     for device in tuner.devices()? {
//!         let kernels = kernels::Kernels::load(&device)?;
//!         tuner.tune(
//!             &kernels.compiled().saxpy()?,
//!             // The arguments for a number of elements.
//!             |n| Ok((device.upload(&vec![1.0_f32; n])?, device.upload(&vec![2.0_f32; n])?)),
//!             // A launch with them.
//! #           |(x, y), stream, launch| kernels::saxpy(stream, launch, 3.0, &*x, &mut *y),
//! # /*
//!             |(x, y), stream, launch| kernels.saxpy(stream, launch, 3.0, &*x, &mut *y),
//! # */
//!             // What the launch has computed.
//!             |(_, y)| Ok(Output::exact(&y.download()?)),
//!         )?;
//!     }
//!     Ok(())
//! }
//! ```
//!
//! [Triton]: https://triton-lang.org/main/python-api/generated/triton.autotune.html
//! [CUB]: https://nvidia.github.io/cccl/cub/tuning.html

mod asked;
mod candidates;
mod error;
mod output;
#[cfg(test)]
mod tests;
mod timing;
mod tuner;

pub use error::TuneError;
pub use output::Output;
pub use tuner::Tuner;
