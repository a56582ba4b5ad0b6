//! Random programs of safe code, over a pool of random kernels, against plain Rust.
//!
//! A program launches on several streams and from several threads, slices buffers, drops them and uses them
//! again, records graphs and launches them,
//! loads and unloads kernels, and lets kernels panic. Whatever it does, it must compute what plain
//! Rust does one step after the other, and report each panic that it was told of once at most.

mod pool;
mod program;

pub use pool::kernels;
pub use program::{Program, Statistics};
