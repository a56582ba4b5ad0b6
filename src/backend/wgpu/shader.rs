//! Modules of one entry point, as a device takes them, and the layouts of their buffers.

use std::borrow::Cow;

use wgpu::{
    BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType,
    BufferBindingType, PassthroughShaderEntryPoint, PipelineLayout, PipelineLayoutDescriptor,
    ShaderModule, ShaderModuleDescriptorPassthrough, ShaderStages,
};

use super::{
    driver::Gpu,
    fences::{self, Fences},
    translation,
};
use crate::error::Result;

/// Gives the driver the module of an entry point.
///
/// # Safety
///
/// It is what naga has written for a module that is valid.
pub(super) unsafe fn pass_on(
    gpu: &Gpu,
    name: &str,
    words: Vec<u32>,
    subject: impl Fn() -> String,
) -> Result<ShaderModule> {
    let entry = PassthroughShaderEntryPoint {
        name: Cow::Borrowed(name),
        // For Metal alone.
        workgroup_size: (0, 0, 0),
    };
    let description = ShaderModuleDescriptorPassthrough {
        entry_points: Cow::Owned(vec![entry]),
        spirv: Some(Cow::Owned(words)),
        ..Default::default()
    };
    gpu.scoped("create_shader_module", subject, || {
        // SAFETY: promised.
        unsafe { gpu.device.create_shader_module_passthrough(description) }
    })
}

/// Loads the module of an entry point, as the device takes it.
///
/// # Safety
///
/// It is what naga has written for a module that is valid.
pub(super) unsafe fn load_words(
    gpu: &Gpu,
    name: &str,
    words: Vec<u32>,
    subject: impl Fn() -> String,
) -> Result<ShaderModule> {
    let words = if gpu.fences == Fences::LeftOut { fences::without(&words) } else { words };
    // SAFETY: promised.
    unsafe {
        match gpu.translates {
            true => translation::load(gpu, &words, subject),
            false => pass_on(gpu, name, words, subject),
        }
    }
}

/// The layout of group 0 with buffers of these numbers, and whether they are uniform.
pub(super) fn layout(
    gpu: &Gpu,
    buffers: &[(u32, bool)],
    subject: impl Fn() -> String,
) -> Result<BindGroupLayout> {
    let entry = |(binding, is_uniform): &(u32, bool)| {
        let ty = match is_uniform {
            true => BufferBindingType::Uniform,
            false => BufferBindingType::Storage { read_only: false },
        };
        let ty = BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
        let visibility = ShaderStages::COMPUTE;
        BindGroupLayoutEntry { binding: *binding, visibility, ty, count: None }
    };
    let entries: Vec<_> = buffers.iter().map(entry).collect();
    gpu.scoped("create_bind_group_layout", subject, || {
        let description = BindGroupLayoutDescriptor { label: None, entries: &entries };
        gpu.device.create_bind_group_layout(&description)
    })
}

/// The layout of pipelines with these groups.
pub(super) fn pipeline_layout(gpu: &Gpu, groups: &[Option<BindGroupLayout>]) -> PipelineLayout {
    let groups: Vec<_> = groups.iter().map(Option::as_ref).collect();
    gpu.device.create_pipeline_layout(&PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &groups,
        immediate_size: 0,
    })
}
