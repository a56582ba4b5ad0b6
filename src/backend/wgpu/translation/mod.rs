//! Translation: SPIR-V that naga reads when a module is loaded, for devices that do not take it as it is: those of
//! Metal and D3D12, and those of Vulkan before 1.2. wgpu lays out the tables of buffers for what naga makes of it.
//!
//! naga's reader does not take all that naga writes: [`workgroup`] and [`signs`] change what it refuses.

mod signs;
mod workgroup;

use std::env;

use wgpu::{ShaderModule, ShaderModuleDescriptor, ShaderRuntimeChecks, ShaderSource};

use super::driver::Gpu;
use crate::error::Result;

/// Whether this build translates.
pub(super) const IS_BUILT: bool =
    cfg!(any(windows, target_vendor = "apple", feature = "wgpu-translation"));

/// The variable that has every device translate, for tests on a device of Vulkan.
const VARIABLE: &str = "KERNELMILL_WGPU_TRANSLATE";

/// Whether the process asks for it where it is not needed.
pub(super) fn is_asked() -> bool {
    IS_BUILT && env::var_os(VARIABLE).is_some_and(|value| !value.is_empty())
}

/// Loads a module with all of its entry points, whose buffers keep their groups and bindings.
///
/// # Safety
///
/// It is what naga has written for a module that is valid, with its checks.
pub(super) unsafe fn load(
    gpu: &Gpu,
    module: &[u32],
    subject: impl Fn() -> String,
) -> Result<ShaderModule> {
    let Some(source) = source(signs::matched(&workgroup::without_zeroing(module))) else {
        let message = "kernelmill was built without its feature `wgpu-translation`; enable it in Cargo.toml: \
                       `features = [\"wgpu-translation\"]`"
            .to_owned();
        return Err(gpu.error("create_shader_module", subject(), message));
    };
    let description = ShaderModuleDescriptor { label: None, source };
    // Indices are clamped, loops bounded and divisors replaced in the SPIR-V.
    let checks = ShaderRuntimeChecks::unchecked();
    gpu.scoped("create_shader_module", subject, || {
        // SAFETY: promised.
        unsafe { gpu.device.create_shader_module_trusted(description, checks) }
    })
}

#[cfg(any(windows, target_vendor = "apple", feature = "wgpu-translation"))]
fn source(module: Vec<u32>) -> Option<ShaderSource<'static>> {
    Some(ShaderSource::SpirV(module.into()))
}

#[cfg(not(any(windows, target_vendor = "apple", feature = "wgpu-translation")))]
fn source(_module: Vec<u32>) -> Option<ShaderSource<'static>> {
    None
}
