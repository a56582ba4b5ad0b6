//! kernelmill's compiler: from a kernel source to a binary for one target.
//!
//! Its modules are layers, and a module imports only from layers below its own:
//!
//! ```text
//! compiler      Compiler: LLVM, a toolchain and plugins, opened once
//! pipeline      the stages in order, from linked bitcode to code     once a (source, target) pair
//! frontend      Rust, CUDA C++: a source to bitcode                  once a source
//! plugin        plugins, and the hooks between stages that they work at
//! target        back ends: cpu, nvidia, amd
//! cpu           the CPU's lowering strategies: regions as vectorised loops, coroutines
//! passes        passes over a module: linking, address spaces, entries, checks ...
//! target_info   what passes ask of a target
//! ir            queries and edits of LLVM's IR that passes share
//! toolchain     external tools, and the files that they work on
//! error         why a source cannot be compiled
//! artifact      the result
//! pass_report   what the CPU's passes did, as data
//! strategy      lowering strategies on the CPU, as data
//! code          forms that code takes on its way, as data
//! job           what is compiled, for which target, and how
//! diagnostic    what is wrong with a source, as plain data
//! base          bytes, demangling, reserved names, resource limits
//! ```
//!
//! It knows no Cargo, reads no environment and prints nothing: what it needs is in [`Toolchain`],
//! [`RustSource`] and [`Job`], and what it finds is in [`Artifact`] and [`Error`].

#![cfg_attr(docsrs, feature(doc_cfg))]

mod artifact;
mod base;
mod code;
mod compiler;
mod cpu;
pub mod diagnostic;
mod error;
pub mod frontend;
mod ir;
mod job;
mod pass_report;
mod passes;
mod pipeline;
pub mod plugin;
mod resources;
mod strategy;
mod target;
mod target_info;
mod toolchain;

/// The digest of this crate's own sources, which is part of every key: what an older state of the
/// compiler has made is not taken for what this one would make.
pub const DIGEST: &str = env!("KERNELMILL_COMPILER_DIGEST");

pub use artifact::{Artifact, CompiledKernel, Location, SourceFrame};
pub use base::resource_limits::{limit_behind, limit_told, tell_limits};
pub use code::{CodeStage, KernelCode};
pub use compiler::Compiler;
pub use diagnostic::{Fault, Frame};
pub use error::{
    DeferredFault, Error, HiddenKernel, LayoutMismatch, NoPtxVersion, ParameterSpace, TypeMismatch,
};
pub use frontend::{
    exports, limits,
    rust::{Mirror, MirroredText, RustSource},
};
pub use job::{
    Child, Config, DeviceLibrary, DeviceLink, EntryAbi, Job, JobSource, Lowered, MathLibrary,
    OptionError, Options, Override, OverrideCode, PanicLevel, Params, Symbols, TableFunction,
    exported, exported_by,
};
pub use pass_report::{Pass, PassFact, PassOutcome, PassReport};
pub use strategy::{
    CoroutineReason, EarlyExitRefusal, JoinRefusal, LinearizationRefusal, Lowering, ScalarReason,
    Strategy,
};
pub use toolchain::{IdleWatch, ToolLimits, Toolchain};
