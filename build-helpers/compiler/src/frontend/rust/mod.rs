//! Kernels in Rust: compiled where they lie by the user's own rustc, for the host, without
//! optimisation; everything after that happens on the bitcode.
//!
//! Optimisation is left to the pipeline because rustc's own passes may duplicate a call to a
//! barrier before LLVM sees it, which is wrong on a GPU (`docs/src/adr/0003-opt-level-0.md`).

mod device;
mod identity;
mod layout;
mod lower;
mod mirror;
mod rustc;
pub mod signature;
mod source;

pub use crate::job::Lowered;
pub(crate) use device::{DEVICE_DIGEST, DeviceCrate, build_device_crate, file_digest};
pub use identity::{check_all_read, check_types};
pub(crate) use layout::check as check_layouts;
pub(crate) use lower::lower;
pub use rustc::{CODE_OPTIONS, FULL_DEBUG, instances_variable};
pub use source::{Mirror, MirroredText, RustSource};
