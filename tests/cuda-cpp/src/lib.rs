//! A compiler over the tools of the machine that runs the tests, and launches of what it makes.

mod launch;
pub mod random;
mod source;
pub mod stored;
mod three_ways;
mod tools;

pub use launch::{Launch, OnCpu, OnEmulator, Value};
pub use source::{Source, lower, lower_for, source, written};
pub use three_ways::{ThreeWays, numbers, test_on_older_processors};
pub use tools::{clang, compiler, nvcc, ptxas};
