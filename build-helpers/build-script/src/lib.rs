//! kernelmill's build-dependency: `cargo build` compiles the package's GPU kernels ahead of time,
//! embeds the binaries and generates typed launch wrappers.
//!
//! ```no_run
//! // build.rs
//! fn main() {
//!     kernelmill_build::compile()
//! }
//! ```
//!
//! The kernels in the folder `kernels`, and in modules of the package's own source with `#[kernelmill::kernels]`, are
//! compiled for the targets in `[package.metadata.kernelmill]`; `kernelmill::include_kernels!()` brings the wrappers in.
//!
//! # Settings
//!
//! Each setting is taken from the last of these places that has it: the defaults,
//! `[workspace.metadata.kernelmill]` of the workspace's `Cargo.toml`,
//! `[package.metadata.kernelmill]` of the package's or `kernelmill.toml` beside it (both at once
//! are an error), the builder [`Build`], the environment. A list replaces the list before it.
//! Keys that do not exist are errors, which name the nearest.
//!
//! | key | builder | environment | default | meaning |
//! |---|---|---|---|---|
//! | `targets` | [`Build::target`] | `KERNELMILL_TARGETS` | `["cpu", "compute_75"]` | what to compile for |
//! | `source-dir` | [`Build::source_dir`] | | `kernels`, if no source is named at all | folders to look for kernels in |
//! | `source-files` | [`Build::source_files`] | | | single sources |
//! | `source-glob` | [`Build::source_glob`] | | | patterns of sources, `kernels/**/*.rs` |
//! | `exclude` | [`Build::exclude`] | | | patterns of files and folders to leave out |
//! | `include` | [`Build::include`] | | | folders of headers |
//! | `define` | [`Build::define`] | | | names for `#[cfg(NAME)]` and `#[cfg(NAME = "value")]`, macros in C++ |
//! | `arguments` | [`Build::arg`] | | | further arguments of rustc, nvcc and clang; `rustc:...` and `cuda:...` are for one of them |
//! | `fma` | [`Build::fma`] | `KERNELMILL_FMA` | `true` | `a * b + c` may become one operation |
//! | `optimization` | [`Build::optimization`] | `KERNELMILL_OPTIMIZATION` | `3` | LLVM's level, 0 to 3 |
//! | `options` | [`Build::option`] | | | options of the compiler by name, `{ debug-level = 0 }`: `name`, `always-inline`, `opt-level`, `debug-level`, `strip` |
//! | | [`Build::plugin`], [`Build::plugin_meta`] | | | plugins of the compiler, and what they are told |
//! | `panics` | [`Build::panics`] | `KERNELMILL_PANICS` | `message` | what the host learns of a panic: `none`, `message`, `backtrace` |
//! | `math` | [`Build::math`] | `KERNELMILL_MATH` | `own` | whose mathematical functions: `own`, or `vendor` for NVIDIA's libdevice and AMD's ocml |
//! | `max-spills` | [`Build::max_spills`] | | any number | the most bytes of a thread that the spills of a kernel store and load together |
//! | `excess-spills` | [`Build::excess_spills`] | | `warn` | what is done about kernels with more: `warn` or `error` |
//! | `thresholds` | [`Build::thresholds`] | | any number of everything | the most that each kernel may take of a device |
//! | `types` | [`Build::map_type`] | | | types of the user's own for structs in signatures |
//! | `cuda-compiler` | [`Build::cuda_compiler`] | `KERNELMILL_CUDA_COMPILER` | `auto` | who compiles CUDA C++ for NVIDIA's targets: `nvcc`, `clang`, or `auto` for nvcc where it is there |
//! | `nvcc` | [`Build::nvcc`] | `KERNELMILL_NVCC` | see [`toolchain`] | the nvcc to use |
//! | `clang` | [`Build::clang`] | `KERNELMILL_CLANG` | see [`toolchain`] | the clang to use |
//! | `host-files` | [`Build::host_files`] | | | patterns of `.cu` files whose host code the package calls |
//! | `rdc` | [`Build::rdc`] | | `false` | device code of host files may call into other files |
//! | `device-libraries` | [`Build::device_library`] | `KERNELMILL_DEVICE_LIBRARIES` (as `PATH`) | | what cubins are linked with where something is undefined: objects and archives of `nvcc -dc`, cubins of `ptxas -c`, `cudadevrt` |
//! | `sources` | [`Build::define_for`], [`Build::arg_for`] | | | what holds for single sources: `define`, `arguments` |
//! | `kernels.NAME` | [`Build::kernel`] | | | what holds for one kernel, [`Kernel`]: `requires`, `name`, `targets`, `parameters`, `instances`, `variants`, `launch-bounds`, `block-size`, `min-blocks`, `max-registers`, `index-width`, `cluster`, `thresholds` |
//!
//! Targets:
//!
//! - `cpu`: the host's processor.
//! - `compute_75`: PTX for this and later NVIDIA architectures.
//! - `sm_90`, `sm_90a`, `sm_100f`: cubins, which need ptxas.
//! - `gfx942`, `gfx90a:xnack+`: AMD code objects.
//! - `spirv64`: SPIR-V for OpenCL devices.
//! - `opencl-c`: OpenCL C, which the device's own compiler compiles when it is loaded.
//! - `vulkan`: SPIR-V for Vulkan, and by a translation Metal and D3D12.
//! - `bitcode_75`, `bitcode_cpu`: LLVM bitcode of kernels in Rust, which the program compiles when it runs.
//! - `native`: the GPUs in this machine as `nvidia-smi` and the AMD driver list them, `cpu` with a warning where there is
//!   none.
//!
//! Also read: `80`, `90a`, `9.0+PTX`, `80-real;90-virtual`.
//!
//! Further variables:
//!
//! - `KERNELMILL_SKIP_BUILD=1`, and `DOCS_RS`: wrappers without binaries.
//! - `KERNELMILL_LOG=summary`: prints the lowering strategy of each kernel on the CPU with its reason, and then
//!   `kernelmill: compiled N cached M`, both counting pairs of a source and a target; on a terminal, by a warning, or with `-vv`.
//! - `KERNELMILL_DUMP=ir,ptx` (or `all`), `KERNELMILL_DUMP_DIR`: writes stages of each kernel to files, see [`dump`].
//! - `KERNELMILL_OVERRIDE_<kernel>`: a file that stands for one stage of a kernel: `.ll` for what the front end makes,
//!   `.cu`, `.cl` and `.wgsl` for the source, `.ptx` for PTX, `.spv` for the module of OpenCL devices.
//! - `KERNELMILL_TRACE=trace.json`: writes the steps of the build in the trace event format of Chrome and Perfetto.
//! - `KERNELMILL_PROGRESS=always` (or `auto`): writes a line to the terminal for each binary that is done.
//! - `KERNELMILL_LLVM`: the LLVM library to use instead of the Rust toolchain's.
//! - `KERNELMILL_PTXAS`: the ptxas to use, instead of the one beside nvcc.
//! - `KERNELMILL_TOOL_MEMORY` (`8GiB`, `off`), `KERNELMILL_TOOL_TIME` (`30min`, `off`): what each process of a tool
//!   may take, three quarters of the machine's memory (32 GiB at most) and an hour of processor time by default. A macro that
//!   expands without end is an error. So is a tool that does nothing for longer than `KERNELMILL_TOOL_IDLE` (`90s`, `off`; ten minutes).
//! - `KERNELMILL_CACHE_DIR`, `KERNELMILL_CACHE_SIZE` (bytes or `2GB`; 2 GiB by default),
//!   `KERNELMILL_CACHE=off`: the store that all packages of a user share; it lies in
//!   `$XDG_CACHE_HOME/kernelmill` or the platform's cache folder, and is the user's alone.
//!
//! # Sources
//!
//! A `.rs` file with a function marked `#[kernel]` is a source; one without is there for others to
//! include, or has functions for the kernels of others: `#[unsafe(no_mangle)] pub extern "C" fn`, which
//! they name by `deferred!`. A folder with a `Cargo.toml` is one source, a package of kernels with dependencies of
//! its own. A `.cu` file with a `__global__` function after preprocessing is a source,
//! unless that comes from headers alone and another file includes it. Hidden files, `_*.cu`, `.cuh`
//! and `.h` are none. A `.cl` file is a source in the same way, with `kernel`, and a
//! `.wgsl` file with `@compute`, which needs the feature `wgsl` of this crate. With `vulkan` other languages need that
//! feature too.
//!
//! A source is compiled for those of the targets that suit its language: `opencl-c` is OpenCL C's alone, bitcode Rust's;
//! WGSL is for `vulkan` alone, and PTX for `compute_XX` and `sm_XX`.
//!
//! [`languages`] has them as data.
//!
//! # CUDA C++
//!
//! nvcc makes PTX and cubins, one call for each target; clang makes everything else, and what is
//! NVIDIA's where there is no nvcc or the setting `cuda-compiler` says so. Signatures are read from compiled code. A wrapper has the name of
//! its kernel: for an instantiation of a template that with the arguments (`scale<float, 2>` is
//! `scale_float_2`), for kernels of one name in several namespaces that with the namespaces
//! (`left_scale`), for overloads that with the types of the parameters (`scale_float_int`). It is
//! unsafe unless `kernels.NAME` states a contract. A kernel that cannot be launched from Rust, one
//! with a reference among its parameters for example, has no wrapper, and a warning says why.
//! What a failed compiler worked on is kept in `OUT_DIR/kernelmill/failed`, with its command line.
//!
//! # OpenCL C
//!
//! clang compiles `.cl` files for every target but bitcode, with kernelmill's own built-in functions. A `local` parameter is
//! a number of elements in the launch's dynamic shared memory, and a vector an array. Everything else is as for
//! CUDA C++.
//!
//! # LLVM IR
//!
//! `.ll` and `.bc` files of any producer are compiled for every target but `opencl-c` and bitcode. The setting `parameters` of a kernel
//! declares its parameters where no debug information describes them.
//!
//! # PTX
//!
//! The text of a `.ptx` file is embedded for the devices that its `.target` says, and ptxas makes cubins of it. The
//! setting `parameters` declares what its `.param`s do not say.
//!
//! # The feature `cuda-cpp`
//!
//! The feature `cuda-cpp`, which is on by default, has the readers of debug information and of C++ names
//! that this takes. A package whose kernels are in Rust builds faster without it, with
//! `default-features = false`; a source in another language is an error then.
//!
//! # Host code
//!
//! Files that `host-files` names are compiled whole, with their launchers and `extern "C"` functions,
//! by nvcc for all NVIDIA targets at once. They become the static library
//! `lib<package>_kernelmill_host.a` in `OUT_DIR`, which is linked into the package with the CUDA
//! runtime of nvcc's toolkit, the static one where there is one, and the library of C++. Such files
//! are no kernel sources. With `rdc`, device code may call functions of other host files.
//!
//! ```no_run
//! // build.rs
//! kernelmill_build::Build::new()
//!     .targets(["sm_80", "sm_90", "compute_90"])
//!     .host_files("src/launch/*.cu")
//!     .compile();
//! ```
//!
//! # Kernel packages
//!
//! Such a package names `kernelmill-device` in its dependencies, has its kernels in a library,
//! and, inside another package's folder, a `[workspace]` table of its own. Cargo builds it.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![expect(clippy::needless_doctest_main, reason = "a build script is a program")]

mod base;
mod builder;
mod compile;
mod discovery;
pub mod dump;
#[cfg(test)]
mod fuzz_tests;
pub mod manifest;
mod outputs;
mod pipeline;
mod plan;
mod settings;
mod store;
mod summary;
#[cfg(test)]
mod test_support;
pub mod toolchain;
pub mod tuning;

#[doc(hidden)]
pub use base::code_text::code_of;
pub use base::{error::Error, report::Report};
pub use builder::{Build, Kernel, Patterns};
pub use kernelmill_artifact::LaunchLimits;
pub use kernelmill_compiler::{MathLibrary, PanicLevel, diagnostic::Code};
pub use settings::{
    choices::{CudaCompiler, ExcessSpills},
    schema::{SETTINGS_SCHEMA, manifest_schema},
    thresholds::Thresholds,
};
pub use store::upkeep::{Removed, StoreStats, Upkeep};
pub use summary::Summary;

/// Builds the package's kernels with its settings: what most build scripts need.
///
/// On failure it prints every error to standard error and ends the process with status 1.
///
/// ```no_run
/// // build.rs
/// fn main() {
///     kernelmill_build::compile()
/// }
/// ```
pub fn compile() {
    Build::new().compile();
}

/// The languages of kernel sources that are compiled for a target.
///
/// ```
/// let target = "opencl-c".parse().unwrap();
/// assert_eq!(kernelmill_build::languages(&target), ["OpenCL C"]);
/// ```
#[must_use]
pub fn languages(target: &kernelmill_artifact::Target) -> Vec<&'static str> {
    discovery::source::SourceKind::languages_for(target)
}
