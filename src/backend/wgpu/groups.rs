//! Bind groups of launches, and the uniform buffers in them, which the next launch with the same buffers gets again.
//!
//! Needed: who launches writes the values into the uniform buffer by the queue, and gives the group back once the launch is
//! submitted. Guaranteed: a group is of one launch at a time until then; and as the queue writes a buffer after all that was
//! submitted before and before all that follows, values of a launch that has not begun yet are not overwritten. A group is
//! forgotten with a buffer in it or with its kernel, so that neither stays for it.

use std::{
    num::NonZeroU64,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout, BindingResource, Buffer,
    BufferBinding, BufferUsages, ComputePass,
};

use super::{driver::Gpu, staging};
use crate::error::Result;

/// The multiple of bytes that a value takes of a uniform buffer.
pub(super) const UNIFORM: u64 = 16;

/// Groups that are kept, of all kernels of a device: those that were used last.
const KEPT: usize = 64;

/// What a launch binds to a number of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) group: u32,
    pub(super) binding: u32,
    pub(super) resource: Resource,
}

/// A part of a buffer that is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    /// Of the launch's uniform buffer.
    Uniform { offset: u64, bytes: u64 },
    /// To its end where the number of bytes is `None`.
    Storage { buffer: Buffer, offset: u64, bytes: Option<u64> },
    /// A buffer that nobody uses.
    Nothing,
}

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

/// A kernel that is loaded, as its groups know it: no other has this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner(u64);

impl Owner {
    /// That of a kernel that is being loaded.
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The bind groups of a launch.
pub(super) struct Group {
    owner: Owner,
    bound: Vec<Bound>,
    uniform: Option<Buffer>,
    /// What the uniform buffer has.
    written: Vec<u8>,
    groups: Vec<(u32, BindGroup)>,
}

impl Group {
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

    /// Binds them for what a pass does next.
    pub(super) fn bind(&self, pass: &mut ComputePass<'_>) {
        for (number, group) in &self.groups {
            pass.set_bind_group(*number, group, &[]);
        }
    }

    fn has(&self, wanted: &Buffer) -> bool {
        self.bound
            .iter()
            .any(|it| matches!(&it.resource, Resource::Storage { buffer, .. } if buffer == wanted))
    }
}

/// The groups of a device that no launch has now, those that were used last at the end.
#[derive(Default)]
pub(super) struct Groups(Mutex<Vec<Group>>);

impl Groups {
    /// The groups of a launch that binds this: of an earlier one where there was one.
    pub(super) fn of_launch(
        &self,
        gpu: &Gpu,
        of_kernel: (Owner, &[Option<BindGroupLayout>]),
        bound: Vec<Bound>,
        subject: impl Fn() -> String,
    ) -> Result<Group> {
        let known = self.change(|kept| {
            let is_same = |it: &Group| it.owner == of_kernel.0 && it.bound == bound;
            kept.iter().rposition(is_same).map(|at| kept.remove(at))
        });
        match known {
            Some(group) => Ok(group),
            None => Group::new(gpu, of_kernel, bound, subject),
        }
    }

    /// Takes the groups of a launch that is submitted.
    pub(super) fn give_back(&self, group: Group) {
        let first = self.change(|kept| {
            kept.push(group);
            (kept.len() > KEPT).then(|| kept.remove(0))
        });
        drop(first);
    }

    /// Forgets the groups that a buffer is in.
    pub(super) fn forget_buffer(&self, buffer: &Buffer) {
        self.forget(|group| group.has(buffer));
    }

    /// Forgets those of a kernel.
    pub(super) fn forget_owner(&self, owner: Owner) {
        self.forget(|group| group.owner == owner);
    }

    /// Dropped without the lock: wgpu may free buffers then.
    fn forget(&self, is_meant: impl Fn(&Group) -> bool) {
        let forgotten: Vec<_> =
            self.change(|kept| kept.extract_if(.., |group| is_meant(group)).collect());
        drop(forgotten);
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<Group>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
