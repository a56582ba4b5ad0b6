//! kernelmill's compiler: from a kernel source to a binary for one target.
//!
//! The flow, one module a step:
//!
//! ```text
//! frontend::rust   source -> bitcode of the host          once a source
//! driver           the steps below, in order              once a (source, target) pair
//!   prepare        the host's traces removed
//!   link           panics, math and library code that is needed
//!   place          locations, shared memory, address spaces
//!   entry          the function that the device starts
//!   optimize       LLVM's pipeline
//!   plugin         between them, where a kernel asks for one
//!   check          every fault collected: only this makes a `ValidModule`
//!   emit           PTX, cubin, code object or native object
//! ```
//!
//! It knows no Cargo, reads no environment and prints nothing: what it needs is in [`Toolchain`],
//! [`RustSource`] and [`Job`], and what it finds is in [`Artifact`] and [`Error`].

mod artifact;
mod bytes;
mod check;
mod cpu;
mod deferred;
mod device_link;
pub mod diagnostic;
mod dispatch;
mod driver;
mod entry;
mod error;
pub mod exports;
mod fast;
mod fault;
pub mod frontend;
mod job;
mod lengths;
mod library;
pub mod limits;
mod link;
#[cfg(test)]
mod loaded;
mod once;
mod parameters;
mod passes;
mod place;
pub mod plugin;
mod prepare;
mod steps;
mod strategy;
mod symbol;
mod target;
mod toolchain;

/// The digest of this crate's own sources, which is part of every key: what an older state of the
/// compiler has made is not taken for what this one would make.
pub const DIGEST: &str = env!("KERNELMILL_COMPILER_DIGEST");

pub use artifact::{Artifact, CompiledKernel, Location, SourceFrame};
pub use deferred::{Child, Symbols};
pub use device_link::{DeviceLibrary, DeviceLink};
pub use dispatch::{TableFunction, exported, exported_by};
pub use error::{Error, LayoutMismatch, ParameterSpace};
pub use fault::{Fault, Frame};
pub use frontend::rust::{Lowered, RustSource};
pub use job::{Config, Job, JobSource, MathLibrary, OptionError, Options, PanicLevel, Params};
pub use passes::{Pass, PassFact, PassOutcome, PassReport};
pub use strategy::{CoroutineReason, Lowering, ScalarReason, Strategy};
pub use toolchain::{Compiler, Toolchain};
