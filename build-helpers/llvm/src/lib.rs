//! Bindings to the LLVM library that a Rust toolchain ships, opened at run time: [`inkwell`] and
//! [`llvm_sys`] without an installed LLVM and without linking one.
//!
//! llvm-sys declares LLVM's C functions as external symbols. This crate defines each of them as a
//! trampoline that jumps through a table, and [`Library::open`] fills the table from a shared
//! library. So a program starts, and its `--help` works, on a machine without LLVM, and one binary
//! works with the library of any toolchain of LLVM 20 or later.
//!
//! ```no_run
//! let library = kernelmill_llvm::Library::open("/usr/lib/llvm-22/lib/libLLVM.so".as_ref())?;
//! println!("LLVM {} with {:?}", library.version(), library.path());
//! # Ok::<(), kernelmill_llvm::Error>(())
//! ```
//!
//! All unsafe code for LLVM is in this crate: [`ir`] and [`machine`] wrap raw pointers, [`crash`] handles signals, and the
//! compiler itself has no `unsafe`.

pub mod crash;
mod diagnostics;
mod error;
mod functions;
pub mod ir;
pub mod jit;
mod library;
pub mod machine;
mod search;
mod strings;
mod trampolines;
mod version;

pub use diagnostics::Diagnostics;
pub use error::Error;
pub use inkwell;
pub use library::Library;
pub use llvm_sys;
pub use search::{find_in_sysroot, find_library};
pub use version::Version;
