//! The data types that kernelmill's build side and its run side share.
//!
//! The build side ([`kernelmill-build`] and [`kernelmill-compiler`]) writes them into the
//! generated bindings; the run side ([`kernelmill`]) reads them back. The crate has no
//! dependencies (but for the feature `source-digest`): it needs neither Cargo, nor LLVM, nor a GPU driver.
//!
//! - [`Target`]: a compilation target, as the user writes it (`cpu`, `sm_90a`, ...).
//! - [`Signature`]: a kernel's name, dimension and parameters; [`ValueType`] is the type of a value
//!   that crosses between host and device.
//! - [`DeviceFunction`]: a function that the host passes to kernels.
//! - [`VariableDeclaration`]: a variable of device code that the host reads and writes.
//! - [`Fingerprint`]: the digest of everything that can change an artifact's bytes.
//! - [`PanicRecord`]: the record that a device writes when a kernel panics.
//! - [`Resources`]: what a kernel takes of a device; [`Multiprocessor`]: how many of its blocks one holds.
//! - [`Bitcode`]: a module that the program compiles when it runs, with what it must know of it.
//! - [`PtxVersion`]: a version of PTX, with the driver that reads it.
//! - [`TraceFile`]: what builds and programs did when.
//! - [`ProgramMemory`]: where a SPIR-V module keeps the variables that it shares with the host.
//! - [`render_lines`]: the output of kernels on a device whose driver has no `printf`.
//!
//! [`kernelmill`]: https://docs.rs/kernelmill
//! [`kernelmill-build`]: https://docs.rs/kernelmill-build
//! [`kernelmill-compiler`]: https://docs.rs/kernelmill-compiler

#![cfg_attr(docsrs, feature(doc_cfg))]

mod bitcode;
mod fingerprint;
mod function;
mod kind;
mod limits;
mod location;
mod message;
mod occupancy;
mod panic;
mod printed;
mod program_memory;
mod ptx;
mod relocation;
mod resources;
mod safety;
mod scalar;
mod signature;
#[cfg(feature = "source-digest")]
mod sources;
pub mod target;
mod tensor_map;
mod trace;
mod value_type;
mod variable;
mod variant;
mod vulkan;

pub use bitcode::{
    Bitcode, BitcodeConstant, CONSTANT_PREFIX, CPU_KERNEL_PREFIX, CPU_THREAD_MEMORY,
    CPU_THREAD_MEMORY_BYTES,
};
pub use fingerprint::{Fingerprint, ParseFingerprintError};
pub use function::DeviceFunction;
pub use kind::{ArtifactKind, FORMAT_VERSION};
pub use limits::LaunchLimits;
pub use location::{SourceFrame, SourceLocation};
pub use message::render_message;
pub use occupancy::{Multiprocessor, registers_with, threads_with};
pub use panic::{GridWorkspace, PANIC_MESSAGE_BYTES, PanicKind, PanicRecord};
pub use printed::{PRINT_BUFFER_BYTES, PRINTS, render_lines};
pub use program_memory::{ProgramMemory, ProgramVariable};
pub use ptx::{
    PtxEntry, PtxParameter, PtxToken, PtxVersion, ptx_entries, ptx_has_open_stack, ptx_tokens,
};
pub use relocation::Relocation;
pub use resources::Resources;
pub use safety::Safety;
pub use scalar::Scalar;
pub use signature::{
    Access, Dimension, MAX_ARGUMENTS, Parameter, ParameterKind, Signature, symbol,
};
#[cfg(feature = "source-digest")]
pub use sources::{source_digest, text_digest};
pub use target::{AmdTarget, NvidiaArch, NvidiaSuffix, Target};
pub use tensor_map::{MAX_TENSOR_RANK, TensorMapData};
pub use trace::{TraceEvent, TraceFile, TraceTrack};
pub use value_type::{EnumLayout, Field, FunctionType, Nested, StructLayout, ValueType, Variant};
pub use variable::VariableDeclaration;
pub use variant::KernelVariant;
pub use vulkan::{DYNAMIC_SHARED_WORDS, FUSED, FUSED_PROBES};
