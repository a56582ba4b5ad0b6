//! Finds the tools that the compiler uses, for builds and for other programs that work with them.
//!
//! A build looks for what its sources and targets need and for nothing else. A program that is no
//! build script, like `cargo kernelmill doctor`, asks a [`Machine`]:
//!
//! - **nvcc** is the first of: the setting `nvcc`, the variable `NVCC`, `bin/nvcc` in the folders that
//!   `CUDA_HOME`, `CUDA_PATH`, `CUDA_ROOT` and `CUDA_TOOLKIT_ROOT_DIR` name, `PATH`, what
//!   `cargo kernelmill toolchain install cuda` has put into the user's cache folder (the newest),
//!   `toolchains` in the workspace's own target folder, `/usr/local/cuda`. No GPU is needed, and
//!   nvidia-smi is never asked. Of installed tools only those are used that nobody but the user and root
//!   can change.
//! - **ptxas**, nvlink, nvdisasm and cuobjdump are taken from beside nvcc, or else from the first of the same
//!   places that has them.
//! - **clang** is the setting `clang`, or the variable `CLANG`, or, among `clang` and `clang-14` to
//!   `clang-25`, the newest that is not newer than rustc's LLVM, which has to read what it makes.
//!
//! ```
//! use kernelmill_build::toolchain::Machine;
//! let machine = Machine::at(std::env::current_dir()?);
//! if let Some(nvcc) = machine.nvcc()? {
//!     println!("nvcc {}.{} at {}", nvcc.release.0, nvcc.release.1, nvcc.program.display());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ask;
mod check;
mod clang;
mod cuda;
mod machine;
mod nvcc;
mod rocm;
mod search;
mod selection;
#[cfg(test)]
mod tests;

pub use clang::Clang;
pub use machine::Machine;
pub use nvcc::Nvcc;

pub(crate) use check::{check_spirv, no_clang, no_nvcc, no_nvlink, nvcc_targets};
pub(crate) use cuda::{FOLDERS_OF_LIBRARIES, disassembly, find_tool};
pub(crate) use search::Search;
pub(crate) use selection::{CppTools, Needs, check_ptxas, find};
