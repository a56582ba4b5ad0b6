//! Front end for kernels in [WGSL](https://www.w3.org/TR/WGSL/), through the crate
//! [naga](https://docs.rs/naga): LLVM has no part in it.
//!
//! [`kernels()`] reads the compute entry points of a file. The buffers that one uses are its parameters, in the order of
//! their groups and bindings: storage buffers are slices, uniform buffers are values. [`compile`] writes SPIR-V for
//! Vulkan. [`translate`] shows what Metal and D3D12 would get, and [`untranslatable`] what they would not. Pipeline-overridable constants get their values when a file is compiled.

#[cfg(not(feature = "wgsl"))]
mod absent;
mod fence;
#[cfg(feature = "wgsl")]
mod generated;
#[cfg(feature = "wgsl")]
mod kernels;
#[cfg(feature = "wgsl")]
mod module;
mod source;
#[cfg(feature = "wgsl")]
mod spirv;
#[cfg(feature = "wgsl")]
mod translation;
#[cfg(feature = "wgsl")]
mod types;

#[cfg(not(feature = "wgsl"))]
pub(crate) use absent::spirv_of_kernels;
#[cfg(not(feature = "wgsl"))]
pub use absent::{compile, kernels, translate, untranslatable};
pub(crate) use fence::FENCE;
#[cfg(feature = "wgsl")]
pub(crate) use generated::spirv_of_kernels;
#[cfg(feature = "wgsl")]
pub use kernels::kernels;
pub use source::WgslSource;
#[cfg(feature = "wgsl")]
pub use spirv::compile;
#[cfg(feature = "wgsl")]
pub use translation::{translate, untranslatable};
