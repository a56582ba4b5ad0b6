//! Opens the LLVM library that a Rust toolchain ships and hands [`inkwell`] and [`llvm_sys`] to
//! kernelmill's compiler, with no LLVM installed and nothing linked.
//!
//! llvm-sys declares LLVM's C functions as external symbols. This crate defines each of them as a
//! trampoline that jumps through a table, and [`Library::open`] fills the table from the shared
//! library it is given. So the program starts, and its `--help` works, on machines with no LLVM
//! at all, and one binary works with the library of any toolchain of LLVM 20 or later.
//!
//! ```no_run
//! let library = kernelmill_llvm::Library::open("/usr/lib/llvm-22/lib/libLLVM.so".as_ref())?;
//! println!("LLVM {} with {:?}", library.version(), library.path());
//! # Ok::<(), kernelmill_llvm::Error>(())
//! ```
//!
//! Everything unsafe that the compiler needs of LLVM is in this crate: the modules [`ir`] and
//! [`machine`] wrap raw values, and the compiler itself has no `unsafe`.

mod error;
mod functions;
pub mod ir;
mod library;
pub mod machine;
mod trampolines;

pub use error::Error;
pub use inkwell;
pub use library::{Library, Version, find_in_sysroot};
pub use llvm_sys;
