//! What a launch binds: the bind groups with its buffers, and the values in its uniform buffer.
//!
//! Those of an earlier launch are taken again where [`groups`](super::groups) has some.

use std::num::NonZeroU64;

use wgpu::{
    BindGroupDescriptor, BindGroupEntry, BindGroupLayout, BindingResource, BufferBinding,
    BufferUsages,
};

use super::{
    driver::Gpu,
    groups::{Bound, Group, Owner, Resource},
    staging,
};
use crate::error::Result;

/// The multiple of bytes that a value takes of a uniform buffer.
pub(super) const UNIFORM: u64 = 16;

/// The values of a launch, as its uniform buffer has them.
pub(super) struct Values {
    bytes: Vec<u8>,
    align: usize,
}

impl Values {
    /// None yet, for a device.
    pub(super) fn new(gpu: &Gpu) -> Self {
        let align = u64::from(gpu.limits.min_uniform_buffer_offset_alignment).max(UNIFORM);
        Self { bytes: Vec::new(), align: align as usize }
    }

    /// Adds a value, and says where it is.
    pub(super) fn add(&mut self, value: &[u8]) -> Resource {
        let offset = self.bytes.len().next_multiple_of(self.align);
        let bytes = value.len().next_multiple_of(UNIFORM as usize).max(UNIFORM as usize);
        self.bytes.resize(offset, 0);
        self.bytes.extend_from_slice(value);
        self.bytes.resize(offset + bytes, 0);
        Resource::Uniform { offset: offset as u64, bytes: bytes as u64 }
    }
}

impl Group {
    /// The groups of a launch that binds this: of an earlier one where there was one.
    pub(super) fn of_launch(
        gpu: &Gpu,
        of_kernel: (Owner, &[Option<BindGroupLayout>]),
        bound: Vec<Bound>,
        subject: impl Fn() -> String,
    ) -> Result<Self> {
        match gpu.groups.take(of_kernel.0, &bound) {
            Some(group) => Ok(group),
            None => Self::new(gpu, of_kernel, bound, subject),
        }
    }

    /// Makes those of a launch.
    fn new(
        gpu: &Gpu,
        (owner, layouts): (Owner, &[Option<BindGroupLayout>]),
        bound: Vec<Bound>,
        subject: impl Fn() -> String,
    ) -> Result<Self> {
        let end = |it: &Bound| match it.resource {
            Resource::Uniform { offset, bytes } => Some(offset + bytes),
            _ => None,
        };
        let usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let uniform = bound.iter().filter_map(end).max();
        let uniform = uniform.map(|bytes| staging::temporary(gpu, bytes, usage)).transpose()?;
        let is_nothing = |it: &Bound| it.resource == Resource::Nothing;
        let nothing = bound.iter().any(is_nothing);
        let nothing =
            nothing.then(|| staging::temporary(gpu, UNIFORM, BufferUsages::STORAGE)).transpose()?;
        let resource = |it: &'_ Bound| {
            let (buffer, offset, bytes) = match &it.resource {
                Resource::Uniform { offset, bytes } => (uniform.as_ref(), *offset, Some(*bytes)),
                Resource::Storage { buffer, offset, bytes } => (Some(buffer), *offset, *bytes),
                Resource::Nothing => (nothing.as_ref(), 0, None),
            };
            let buffer = buffer?.clone();
            Some((it.group, it.binding, buffer, offset, bytes.and_then(NonZeroU64::new)))
        };
        let resources: Vec<_> = bound.iter().filter_map(resource).collect();
        let groups = gpu.scoped("create_bind_group", subject, || {
            let made = (0..).zip(layouts).filter_map(|(group, layout)| {
                let of_group = resources.iter().filter(|it| it.0 == group);
                let entries: Vec<_> = of_group
                    .map(|(_, binding, buffer, offset, size)| BindGroupEntry {
                        binding: *binding,
                        resource: BindingResource::Buffer(BufferBinding {
                            buffer,
                            offset: *offset,
                            size: *size,
                        }),
                    })
                    .collect();
                let layout = layout.as_ref()?;
                let description = BindGroupDescriptor { label: None, layout, entries: &entries };
                Some((group, gpu.device.create_bind_group(&description)))
            });
            made.collect()
        })?;
        Ok(Self { owner, bound, uniform, written: Vec::new(), groups })
    }

    /// Has the queue write the values of a launch, where the last launch had others.
    pub(super) fn write(&mut self, gpu: &Gpu, values: Values) {
        let Some(uniform) = self.uniform.as_ref().filter(|_| self.written != values.bytes) else {
            return;
        };
        let bytes = values.bytes.len().min(uniform.size() as usize);
        gpu.queue.write_buffer(uniform, 0, &values.bytes[..bytes]);
        self.written = values.bytes;
    }
}
