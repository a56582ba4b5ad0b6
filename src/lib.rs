//! The run time of kernelmill: picks the best kernel binary that is embedded in the application
//! for the device at hand, loads it once, and launches it through typed wrappers.
//!
//! Kernels are compiled ahead of time by [`kernelmill-build`], called from `build.rs`, which also
//! writes the wrappers; [`include_kernels!`] brings them in. Nothing is compiled at run time unless a program asks
//! for it (feature `jit`), and the processor is always there as a device, so an application runs on a machine without a GPU.
//!
//! ```
//! # /* What the next line brings in is written by the build script:
//! mod kernels { kernelmill::include_kernels!(); }
//! # */
//! # mod kernels {
//! #     use kernelmill::{Buffer, Device, Launch, Result, Stream};
//! #     pub struct Kernels;
//! #     impl Kernels {
//! #         pub fn load(_: &Device) -> Result<Self> { Ok(Self) }
//! #         pub fn saxpy(
//! #             &self, _: &Stream, _: Launch<1>, a: f32, x: &Buffer<f32>, y: &mut Buffer<f32>,
//! #         ) -> Result<()> {
//! #             let (x, old) = (x.download()?, y.download()?);
//! #             y.copy_from(&x.iter().zip(old).map(|(x, y)| a * x + y).collect::<Vec<_>>())
//! #         }
//! #     }
//! # }
//! use kernelmill::{Device, Launch};
//!
//! fn main() -> kernelmill::Result<()> {
//!     let device = Device::best()?;
//!     let kernels = kernels::Kernels::load(&device)?;
//!     let x = device.upload(&[1.0f32; 1000])?;
//!     let mut y = device.upload(&[2.0f32; 1000])?;
//!     kernels.saxpy(&device.stream(), Launch::linear(1000), 3.0, &x, &mut y)?;
//!     assert_eq!(y.download()?[999], 5.0);
//!     Ok(())
//! }
//! ```
//!
//! - [`Device`], [`Stream`], [`Buffer`]: where kernels run, in which order, on what memory.
//! - [`PinnedBuffer`]: memory of the host for copies that are queued.
//! - [`Event`]: a point in the work of a stream, to wait for and to measure time by.
//! - [`Launch`]: how many threads.
//! - [`CompiledKernel`]: a kernel apart from its launches: its binary, resources and occupancy.
//! - [`PreparedLaunch`]: a launch that is checked once and made many times.
//! - [`Graph`]: launches that are recorded once and launched many times.
//! - [`TensorMap`]: a tensor in a buffer, of which kernels copy tiles.
//! - [`tuning`]: which block size of a kernel is fastest.
//! - [`Error`]: everything that can go wrong, a panic inside a kernel included. Each has an [`ErrorCode`] with an explanation.
//! - [`select`]: which embedded binary a device gets, and why each other one lost.
//! - [`module_cache`]: the modules that are loaded.
//!
//! # Features
//!
//! - `cuda`: NVIDIA devices. The driver is opened at run time; without one the program starts and
//!   [`Device::best`] is the processor. Wrappers then take `cudarc`'s own slices too, as `CudarcSlice`.
//! - `hip`: AMD devices, through the HIP library, which is opened at run time too. It has not run on a GPU yet.
//! - `opencl`: OpenCL devices, through the OpenCL library, which is opened at run time as well; for the targets
//!   `spirv64` and `opencl-c`.
//! - `wgpu`: devices of Vulkan, of Metal on macOS and of D3D12 on Windows, through the crate wgpu, which opens the Vulkan
//!   loader at run time; for the target `vulkan`.
//! - `wgpu-translation`: devices of Vulkan before 1.2 too. Their drivers do not read what a build makes; naga translates it.
//! - `jit`: CUDA C++ and PTX that the program gives when it runs, with a database of what was compiled ([`jit`]).
//! - `jit-llvm`: kernels in Rust that are compiled when the program runs, from embedded bitcode, by an LLVM that is found then.
//! - `tracing`: spans of the crate `tracing` for loads, launches and copies.
//! - `nvtx`: NVTX ranges for the same, which NVIDIA's tools show.
//! - `half`: `half::f16` and `half::bf16` as elements and arguments.
//!
//! [`kernelmill-build`]: https://docs.rs/kernelmill-build

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("kernelmill needs a host with 64-bit addresses, as its devices have");

#[cfg(test)]
extern crate self as kernelmill;

mod aligned;
mod argument;
mod backend;
mod buffer;
mod buffer_copy;
mod buffer_fill;
mod cache;
mod candidates;
mod capability;
mod choice;
mod codegen;
mod compiled;
mod compiled_set;
mod copy;
mod device;
mod device_name;
mod discovery;
mod embedded;
mod error;
mod event;
mod explanation;
mod function;
mod future;
mod graph;
mod hal;
#[cfg(feature = "jit")]
pub mod jit;
mod kernel;
mod launch;
mod limits;
mod loaded;
mod marshal;
#[cfg(feature = "nvtx")]
mod nvtx;
mod pinned;
mod preparation;
mod prepared;
mod properties;
mod rows;
pub mod select;
mod size_class;
mod sizes;
mod slice;
mod stream;
mod striped;
mod symbols;
mod sync;
mod tensor_map;
#[cfg(test)]
mod tests;
mod trace;
pub mod tuning;
mod variable;
mod variants;
mod waiter;

/// What [`device_copy!`] names.
#[doc(hidden)]
pub use backend::library_traits as __library_traits;

pub use argument::{LaunchStream, ReadSlice, WriteSlice};
#[cfg(feature = "cuda")]
pub use backend::CudarcSlice;
pub use backend::capabilities;
pub use buffer::Buffer;
pub use cache::{CacheStatistics, LoadRequest, Loader, LoaderResult, ModuleCache, module_cache};
pub use candidates::{Candidate, Candidates, DeviceVerdict};
pub use capability::{BackEndCapabilities, Capability, Support};
pub use choice::Choice;
pub use compiled::{CompiledKernel, Occupancy};
pub use copy::{DeviceCopy, Pod};
pub use device::Device;
pub use embedded::{EmbeddedArtifact, EmbeddedKernel, EmbeddedVariant};
pub use error::{
    Error, ErrorCode, KernelPanic, LaunchTimeout, NoBinary, Rejected, Result, UnknownErrorCode,
};
pub use event::Event;
pub use explanation::{Considered, Explanation, Outcome};
pub use function::DeviceFn;
pub use future::{DownloadFuture, EventFuture, StreamFuture};
pub use graph::{Graph, GraphBuffer, GraphBuffers, GraphBuilder, GraphSlice, GraphSliceMut};
/// The words that the build side and the run side share: all of a [`Signature`] among them.
pub use kernelmill_artifact as artifact;
pub use kernelmill_artifact::{
    ArtifactKind, Multiprocessor, PanicKind, Resources, Signature, SourceFrame, SourceLocation,
};
/// Makes a module of the crate's own source one of kernels: `kernelmill-build` compiles it for each device, as a file
/// below `kernels/`, and it stays a module of the crate, whose types and functions the host uses.
///
/// ```
/// #[kernelmill::kernels]
/// mod scaling {
///     use kernelmill_device::prelude::*;
///
///     /// How values change.
///     #[derive(Clone, Copy)]
///     #[repr(C)]
///     pub struct Line {
///         pub factor: f32,
///         pub offset: f32,
///     }
///
///     pub fn at(line: Line, x: f32) -> f32 {
///         line.factor * x + line.offset
///     }
///
///     #[kernel]
///     pub fn apply(line: Line, mut y: DisjointSlice<f32>) {
///         let i = thread::index_1d();
///         if let Some(y) = y.get_mut(i) {
///             *y = at(line, *y);
///         }
///     }
/// }
///
/// use scaling::{Line, at};
///
/// assert_eq!(at(Line { factor: 2.0, offset: 1.0 }, 3.0), 7.0);
/// ```
///
/// `kernels.apply(&stream, Launch::linear(n), line, &mut y)?` launches it, with `kernels` of
/// `kernelmill::include_kernels!`, and takes this very `Line`. The module is in `src/main.rs`, in `src/lib.rs`, or in any
/// file that their modules lead to. Several may be there, beside files below `kernels/`; names of kernels differ in all of
/// them. For devices the module is compiled alone: what it needs of its crate is in it, and what only the host needs can
/// stand behind `#[cfg(not(kernelmill))]`.
///
/// On `mod scaling;` the attribute makes the module's file, and the modules in it, one of kernels. rustc takes attributes
/// there in recent versions, of which 1.95 is none (E0658): `mod scaling { mod kernels; pub use kernels::*; }`, with
/// `kernels` in `src/scaling/kernels.rs`, does the same there.
///
/// # Errors
///
/// What is no module is reported, at its place, with what to write instead. The rest is checked by the build script.
pub use kernelmill_device_macros::kernels;
pub use launch::Launch;
pub use pinned::PinnedBuffer;
pub use prepared::PreparedLaunch;
pub use properties::{Backend, Limits};
pub use rows::Rows;
pub use slice::{BufferSlice, BufferSliceMut};
pub use stream::Stream;
pub use symbols::define_symbol;
pub use tensor_map::{Swizzle, TensorElement, TensorMap, TensorMapMut};
pub use variable::DeviceVariable;

/// What fake drivers of the tests run kernels by. Not for use by hand.
#[doc(hidden)]
pub mod __fake_driver {
    pub use crate::backend::cpu::bare::{run_block, run_together};
}

/// What benchmarks measure that no program needs to call. Not for use by hand.
#[doc(hidden)]
pub mod __bench {
    use crate::{Device, EmbeddedArtifact, Result, module_cache};

    /// Holds the module of a binary on a device, and releases it.
    ///
    /// # Errors
    ///
    /// What loading reports.
    pub fn visit(device: &Device, artifact: &'static EmbeddedArtifact) -> Result<()> {
        module_cache().hold(device.context(), artifact).map(drop)
    }
}

/// What generated code names. Not for use by hand: it changes with the generator.
#[doc(hidden)]
pub mod __codegen {
    pub use crate::codegen::*;
}
