//! Entry points of a module that run once, with one thread and one buffer: what the compiler has added to the kernels.

use wgpu::{
    BindGroupDescriptor, BindGroupEntry, BindGroupLayout, Buffer, CommandEncoder, ComputePipeline,
    ComputePipelineDescriptor,
};

use super::{driver::Gpu, shader};
use crate::error::Result;

/// An entry point with one buffer, whose number is 0.
pub(super) struct Once {
    layout: BindGroupLayout,
    pipeline: ComputePipeline,
}

impl Once {
    /// The entry point of a module for it alone.
    ///
    /// # Safety
    ///
    /// The module is what naga has written for one that is valid.
    pub(super) unsafe fn new(gpu: &Gpu, name: &str, words: Vec<u32>) -> Result<Self> {
        let subject = || format!("`{name}`");
        // SAFETY: promised.
        let module = unsafe { shader::load_words(gpu, name, words, subject)? };
        let layout = shader::layout(gpu, &[(0, false)], subject)?;
        let pipeline = gpu.scoped("create_compute_pipeline", subject, || {
            gpu.device.create_compute_pipeline(&ComputePipelineDescriptor {
                label: Some(name),
                layout: Some(&shader::pipeline_layout(gpu, &[Some(layout.clone())])),
                module: &module,
                entry_point: Some(name),
                compilation_options: Default::default(),
                cache: None,
            })
        })?;
        Ok(Self { layout, pipeline })
    }

    /// Runs it on a buffer.
    pub(super) fn run(&self, gpu: &Gpu, encoder: &mut CommandEncoder, buffer: &Buffer) {
        let entries = [BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }];
        let description =
            BindGroupDescriptor { label: None, layout: &self.layout, entries: &entries };
        let group = gpu.device.create_bind_group(&description);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(1, 1, 1);
    }
}
