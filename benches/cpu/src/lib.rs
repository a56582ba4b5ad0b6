//! What the benchmark is made of: [`kernels`] with their contestants, [`measure`] and [`report`].

mod case;
pub mod kernels;
pub mod measure;
mod opencl;
pub mod report;
mod setup;
mod simd;

pub use case::{Case, Contestant, Values, Who};
pub use setup::{Scale, Setup};

/// Nothing, or what was wrong.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

pub(crate) mod generated {
    kernelmill::include_kernels!();
}
