//! The back ends: a folder each, which implements the traits of [`crate::hal`].
//!
//! The files of a folder are the same in each: `context` is a device, `memory` a block of its memory,
//! `stream` a queue, `module` a loaded binary, `launch` a kernel of it. `gpu` is what the back ends of GPUs
//! share. This file is the one place where a back end is registered, behind its feature.

use std::sync::Arc;

use crate::{
    capability::BackEndCapabilities,
    device_name::CPU_ASYNC_ORDINAL,
    error::{Error, Result},
    hal::{Context, Platform},
    properties::Backend,
};

pub(crate) mod cpu;
pub(crate) mod cpu_async;
#[cfg(feature = "cuda")]
mod cuda;
mod gpu;
#[cfg(feature = "hip")]
mod hip;
#[cfg(any(feature = "hip", feature = "jit"))]
mod library;
#[cfg(feature = "opencl")]
mod opencl;
#[cfg(feature = "wgpu")]
mod wgpu;

#[cfg(feature = "cuda")]
pub use cuda::CudarcSlice;
#[cfg(feature = "jit")]
pub(crate) use cuda::nvrtc;

/// The traits by which libraries that back ends work with know the types of elements.
pub mod library_traits {
    #[cfg(feature = "cuda")]
    pub use super::cuda::element::{DeviceRepr, ValidAsZeroBits};
}

/// Implements those traits for a type that is [`DeviceCopy`](crate::DeviceCopy).
#[cfg(feature = "cuda")]
#[doc(hidden)]
#[macro_export]
macro_rules! __library_traits {
    (unsafe $name:ty) => {
        $crate::__cuda_element!(unsafe $name);
    };
    (private unsafe $name:ty) => {
        $crate::__cuda_element!(private unsafe $name);
    };
}

/// Implements those traits for a type that is [`DeviceCopy`](crate::DeviceCopy): there are none.
#[cfg(not(feature = "cuda"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __library_traits {
    (unsafe $name:ty) => {};
    (private unsafe $name:ty) => {};
}

/// The back ends of this build, the best first.
static PLATFORMS: &[&dyn Platform] = &[
    #[cfg(feature = "cuda")]
    &cuda::context::Cuda,
    #[cfg(feature = "hip")]
    &hip::context::Hip,
    #[cfg(feature = "opencl")]
    &opencl::context::OpenCl::Accelerators,
    #[cfg(feature = "wgpu")]
    &wgpu::context::Wgpu::Accelerators,
    &cpu::context::Cpu,
    #[cfg(feature = "opencl")]
    &opencl::context::OpenCl::Processors,
    #[cfg(feature = "wgpu")]
    &wgpu::context::Wgpu::Processors,
];

/// What the back ends of this build say of themselves; no device is opened for that.
///
/// ```
/// use kernelmill::{Capability, Support, capabilities};
/// let queued = capabilities().into_iter().find(|it| it.name() == "cpu-async").unwrap();
/// assert_eq!(queued.support(Capability::QueuedLaunches), Support::Full);
/// ```
#[must_use]
pub fn capabilities() -> Vec<BackEndCapabilities> {
    vec![
        #[cfg(feature = "cuda")]
        BackEndCapabilities { name: "cuda", support: cuda::support::support },
        #[cfg(feature = "hip")]
        BackEndCapabilities { name: "hip", support: hip::support::support },
        #[cfg(feature = "opencl")]
        BackEndCapabilities { name: "opencl", support: opencl::support::support },
        #[cfg(feature = "wgpu")]
        BackEndCapabilities { name: "wgpu", support: wgpu::support::support },
        BackEndCapabilities { name: "cpu", support: cpu::support::support },
        BackEndCapabilities { name: "cpu-async", support: cpu_async::support::support },
    ]
}

/// Every device, the best first, each opened when the iterator comes to it; an error for each that
/// cannot be.
pub(crate) fn devices() -> impl Iterator<Item = Result<Arc<dyn Context>>> {
    PLATFORMS.iter().flat_map(|platform| platform.devices())
}

/// Every device of a back end, as [`devices`] has them; why there is none where there is none.
pub(crate) fn devices_of(backend: Backend) -> Vec<Result<Arc<dyn Context>>> {
    let platforms = PLATFORMS.iter().filter(|platform| platform.backend() == backend);
    let devices: Vec<_> = platforms.flat_map(|platform| platform.devices()).collect();
    if devices.is_empty() { vec![open(backend, 0)] } else { devices }
}

/// The device of a back end with this number.
pub(crate) fn open(backend: Backend, ordinal: usize) -> Result<Arc<dyn Context>> {
    if (backend, ordinal) == (Backend::Cpu, CPU_ASYNC_ORDINAL) {
        return cpu_async::context::open();
    }
    platform(backend)?.open(ordinal)
}

/// The first device of a back end in whose name, or that of its driver, `part` occurs.
pub(crate) fn open_named(backend: Backend, part: &str) -> Result<Arc<dyn Context>> {
    platform(backend)?.open_named(part)
}

/// The first of a back end's platforms, which opens the devices of all of them.
fn platform(backend: Backend) -> Result<&'static dyn Platform> {
    let platform = PLATFORMS.iter().find(|platform| platform.backend() == backend);
    platform.copied().ok_or_else(|| not_built(backend))
}

fn not_built(backend: Backend) -> Error {
    Error::Disabled { backend, feature: backend.word() }
}
