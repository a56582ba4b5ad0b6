//! The words that kernelmill's build side and its run side share.
//!
//! The build side ([`kernelmill-build`] and [`kernelmill-compiler`]) writes them into the
//! generated bindings, the run side ([`kernelmill`]) reads them back. Nothing here depends on
//! Cargo, LLVM or a GPU driver, and the crate has no dependencies.
//!
//! - [`Target`]: what a kernel is compiled for, as the user writes it (`cpu`, `sm_90a`, ...).
//! - [`Signature`]: a kernel's name, dimension and parameters, as the compiled code has them.
//! - [`Fingerprint`]: the digest of everything that could change an artifact's bytes.
//! - [`PanicRecord`]: what a device writes when a kernel panics, and how the host reads it.
//! - [`Printed`]: what kernels have printed on a device that has no printing of its own.
//!
//! [`kernelmill`]: https://docs.rs/kernelmill
//! [`kernelmill-build`]: https://docs.rs/kernelmill-build
//! [`kernelmill-compiler`]: https://docs.rs/kernelmill-compiler

mod fingerprint;
mod function;
mod kind;
mod message;
mod panic;
mod printed;
mod signature;
mod sources;
pub mod target;
mod tensor_map;

pub use fingerprint::{Fingerprint, ParseFingerprintError};
pub use function::{DeviceFunction, FunctionType};
pub use kind::{ArtifactKind, FORMAT_VERSION};
pub use message::render_message;
pub use panic::{PANIC_MESSAGE_BYTES, PanicKind, PanicRecord, SourceFrame, SourceLocation};
pub use printed::{PRINT_BUFFER, PRINT_BUFFER_BYTES, Printed};
pub use signature::{
    Access, Dimension, EnumLayout, Field, LaunchLimits, MAX_ARGUMENTS, Nested, Parameter,
    ParameterKind, Safety, Scalar, Signature, StructLayout, ValueType, Variant, symbol,
};
pub use sources::source_digest;
pub use target::{AmdTarget, NvidiaArch, NvidiaSuffix, Target};
pub use tensor_map::{MAX_TENSOR_RANK, TensorMapData};
