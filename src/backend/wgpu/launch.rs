//! Launches: a pipeline for each kernel, and for each launch its buffers, bound as the kernel declares them.
//!
//! Values cross in one uniform buffer ([`bound`](super::bound)). A slice is a part of its buffer. wgpu wants the start of a part at a
//! multiple of the device's alignment; where it is elsewhere, the part is copied to a buffer of its own before the launch,
//! and back after it where the kernel writes.

use std::{num::NonZeroU64, sync::Arc};

use kernelmill_artifact::{Access, ParameterKind, Resources, Signature};
use wgpu::{
    BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType, Buffer,
    BufferBindingType, BufferUsages, ComputePipeline, ComputePipelineDescriptor, ShaderModule,
    ShaderStages,
};

use super::{
    bound::{UNIFORM, Values},
    buffers::Place,
    driver_context::{DriverContext, Shared},
    groups::{Bound, Group, Owner, Resource},
    interface::Binding,
    shader, staging,
};
use crate::{
    backend::gpu::{calls::ContextCalls as _, image},
    embedded::EmbeddedKernel,
    error::{Error, Result},
    hal::{self, AsyncError, Pointers, StreamRef},
    limits::{Checked, KernelLimits},
};

/// A module that is loaded.
pub(super) type Image = image::Image<DriverContext>;

/// A kernel of a module.
pub(super) struct Function {
    pipeline: ComputePipeline,
    /// By group; `None` for one that the kernel does not use.
    layouts: Vec<Option<BindGroupLayout>>,
    owner: Owner,
    /// One for each parameter.
    passing: Vec<(Passing, Binding)>,
    kernel: &'static EmbeddedKernel,
    signature: &'static Signature,
    image: Arc<Image>,
    shared: Arc<Shared>,
}

/// How an argument is given to wgpu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passing {
    /// A value of so many bytes.
    Value(u64),
    /// Elements of so many bytes each.
    Slice { element: u64, writes: bool },
}

impl Passing {
    /// Of a parameter; `None` for one that WGSL does not have.
    fn of(kind: &ParameterKind) -> Option<Self> {
        match kind {
            ParameterKind::Value(value) => Some(Self::Value(value.size())),
            ParameterKind::Slice { element, access } => {
                Some(Self::Slice { element: element.size(), writes: *access == Access::Write })
            }
            ParameterKind::Pointer { .. }
            | ParameterKind::Shared { .. }
            | ParameterKind::TensorMap { .. } => None,
        }
    }

    /// The type of its binding.
    fn binding_type(self) -> BindingType {
        let (ty, bytes) = match self {
            Self::Value(bytes) => (BufferBindingType::Uniform, bytes.next_multiple_of(UNIFORM)),
            Self::Slice { element, writes } => {
                (BufferBindingType::Storage { read_only: !writes }, element)
            }
        };
        BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: NonZeroU64::new(bytes),
        }
    }
}

/// A part of a buffer that is copied to one of its own for a launch.
struct Copied {
    place: Place,
    bytes: u64,
    writes: bool,
    copy: Buffer,
}

/// What a launch binds, its values, and the parts that are copied.
struct Arguments {
    bound: Vec<Bound>,
    values: Values,
    copied: Vec<Copied>,
}

impl Function {
    /// The kernel of a module, which uses these buffers.
    pub(super) fn new(
        (image, shader): (&Arc<Image>, &ShaderModule),
        shared: &Arc<Shared>,
        (kernel, signature): (&'static EmbeddedKernel, &'static Signature),
        bindings: &[Binding],
    ) -> Result<Self> {
        let gpu = &*shared.gpu;
        let passing: Option<Vec<_>> =
            signature.parameters().iter().map(|it| Passing::of(&it.kind)).collect();
        let passing =
            passing.filter(|passing| passing.len() == bindings.len()).ok_or_else(|| {
                let message = format!(
                    "the entry point uses {} buffers, but its wrapper binds those of `{signature}`",
                    bindings.len()
                );
                gpu.error("create_compute_pipeline", kernel.entry.to_owned(), message)
            })?;
        let passing: Vec<_> = passing.into_iter().zip(bindings.iter().copied()).collect();
        let layouts_of = |group| {
            let of_group = passing.iter().filter(move |(_, it): &&(_, Binding)| it.group == group);
            let entries: Vec<_> = of_group
                .map(|(passing, it)| BindGroupLayoutEntry {
                    binding: it.binding,
                    visibility: ShaderStages::COMPUTE,
                    ty: passing.binding_type(),
                    count: None,
                })
                .collect();
            let description = BindGroupLayoutDescriptor { label: None, entries: &entries };
            (!entries.is_empty()).then(|| gpu.device.create_bind_group_layout(&description))
        };
        let groups = bindings.iter().map(|it| it.group + 1).max().unwrap_or(0);
        if groups > gpu.limits.max_bind_groups {
            let message = format!(
                "the entry point uses the bind group {}, but the device has {}, numbered from 0",
                groups - 1,
                gpu.limits.max_bind_groups
            );
            return Err(gpu.error("create_compute_pipeline", kernel.entry.to_owned(), message));
        }
        let subject = || kernel.entry.to_owned();
        let (layouts, pipeline) = gpu.scoped("create_compute_pipeline", subject, || {
            let layouts: Vec<_> = (0..groups).map(layouts_of).collect();
            let layout = shader::pipeline_layout(gpu, &layouts);
            let pipeline = gpu.device.create_compute_pipeline(&ComputePipelineDescriptor {
                label: Some(kernel.entry),
                layout: Some(&layout),
                module: shader,
                entry_point: Some(kernel.entry),
                compilation_options: Default::default(),
                cache: None,
            });
            (layouts, pipeline)
        })?;
        let (image, shared) = (Arc::clone(image), Arc::clone(shared));
        let owner = Owner::new();
        Ok(Self { pipeline, layouts, owner, passing, kernel, signature, image, shared })
    }

    /// What a launch binds, for each parameter.
    ///
    /// # Safety
    ///
    /// The arguments are those of the kernel.
    unsafe fn arguments(&self, arguments: &[*const u8]) -> Result<Arguments> {
        let mut arguments = arguments.iter();
        let (mut values, mut copied) = (Values::new(&self.shared.gpu), Vec::new());
        let mut bound = Vec::with_capacity(self.passing.len());
        for (index, (passing, Binding { group, binding })) in self.passing.iter().enumerate() {
            let mut next = || arguments.next().copied().expect("as many as the kernel has");
            let resource = match *passing {
                Passing::Value(bytes) => {
                    // SAFETY: promised: a value of this size.
                    let value = unsafe { std::slice::from_raw_parts(next(), bytes as usize) };
                    values.add(value)
                }
                Passing::Slice { element, writes } => {
                    // SAFETY: promised: an address, and the number of elements.
                    let (address, len) =
                        unsafe { (next().cast::<u64>().read(), next().cast::<u64>().read()) };
                    let bytes = len * element;
                    let (place, copy) = self.slice(index, (address, bytes))?;
                    let (buffer, offset) = match &copy {
                        Some(copy) => (copy.clone(), 0),
                        None => (place.buffer.clone(), place.offset),
                    };
                    copied.extend(copy.map(|copy| Copied { place, bytes, writes, copy }));
                    Resource::Storage { buffer, offset, bytes: Some(bytes) }
                }
            };
            bound.push(Bound { group: *group, binding: *binding, resource });
        }
        Ok(Arguments { bound, values, copied })
    }

    /// The place of a slice, and a buffer for a copy of it where it needs one.
    fn slice(&self, index: usize, (address, bytes): (u64, u64)) -> Result<(Place, Option<Buffer>)> {
        let gpu = &*self.shared.gpu;
        if bytes == 0 {
            return Err(
                self.refuse(index, "has no elements, but a buffer of WGSL must have at least one")
            );
        }
        let most = gpu.limits.max_storage_buffer_binding_size;
        if bytes > most {
            let why = format!("has {bytes} bytes, but the device binds at most {most}");
            return Err(self.refuse(index, &why));
        }
        let place = gpu.buffers.place(address);
        let place = place.ok_or_else(|| self.refuse(index, "is not in a buffer of this device"))?;
        let align = u64::from(gpu.limits.min_storage_buffer_offset_alignment);
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let copy = match place.offset.is_multiple_of(align) {
            true => None,
            false => Some(staging::temporary(gpu, bytes, usage)?),
        };
        Ok((place, copy))
    }

    /// Refuses an argument.
    #[cold]
    fn refuse(&self, index: usize, why: &str) -> Error {
        let name = &self.signature.parameters()[index].name;
        let subject = format!("the argument `{name}` of `{}`", self.kernel.entry);
        self.shared.gpu.error("create_bind_group", subject, format!("it {why}"))
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        self.shared.gpu.groups.forget_owner(self.owner);
    }
}

impl hal::Function for Function {
    fn limits(&self) -> KernelLimits {
        KernelLimits {
            threads_per_block: self.shared.gpu.limits.max_compute_invocations_per_workgroup,
            static_shared_bytes: self.kernel.static_shared_bytes,
        }
    }

    /// A kernel in WGSL has workgroups of one size. The build knows the rest.
    fn resources(&self) -> Result<Resources> {
        let threads: u32 = self.signature.limits.block.iter().product();
        let max_threads = Some(threads).filter(|threads| *threads > 0);
        Ok(Resources { max_threads, ..Resources::UNKNOWN })
    }

    fn preferred_multiple(&self) -> Result<Option<u32>> {
        Ok(Some(self.shared.gpu.subgroup))
    }

    unsafe fn launch(
        &self,
        stream: StreamRef<'_>,
        shape: &Checked,
        arguments: &mut Pointers<'_>,
    ) -> Result<Option<Arc<AsyncError>>> {
        self.shared.bind()?;
        let (gpu, stream) = (&*self.shared.gpu, DriverContext::launch_stream(stream)?);
        let subject = || format!("the launch of `{}`", self.kernel.entry);
        if shape.dynamic_shared_bytes > 0 {
            let message = "WGSL has no dynamic shared memory: declare the memory in the kernel with `var<workgroup>`";
            return Err(gpu.error("dispatch_workgroups", subject(), message.to_owned()));
        }
        self.image.note_launch(stream);
        // SAFETY: promised.
        let Arguments { bound, values, copied } = unsafe { self.arguments(arguments.as_slice())? };
        let of_kernel = (self.owner, &self.layouts[..]);
        let mut group = Group::of_launch(gpu, of_kernel, bound, subject)?;
        let submit = || {
            gpu.submit("dispatch_workgroups", subject, |encoder| {
                group.write(gpu, values);
                for part in &copied {
                    let Place { buffer, offset } = &part.place;
                    encoder.copy_buffer_to_buffer(buffer, *offset, &part.copy, 0, part.bytes);
                }
                let mut pass = encoder.begin_compute_pass(&Default::default());
                pass.set_pipeline(&self.pipeline);
                group.bind(&mut pass);
                let [x, y, z] = shape.grid;
                pass.dispatch_workgroups(x, y, z);
                drop(pass);
                for part in copied.iter().filter(|part| part.writes) {
                    let Place { buffer, offset } = &part.place;
                    encoder.copy_buffer_to_buffer(&part.copy, 0, buffer, *offset, part.bytes);
                }
            })
        };
        self.shared.timed(stream, || {
            stream.note(submit()?);
            Ok(())
        })?;
        // No other launch has the same copies.
        if copied.is_empty() {
            gpu.groups.give_back(group);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernelmill_artifact::{Nested, Scalar, ValueType};

    #[test]
    fn parameters_are_passed_as_wgsl_has_them() {
        let scalar = || ValueType::Scalar(Scalar::F32);
        let vector = ValueType::Array(Nested::from(scalar()), 4);
        let writes = ParameterKind::Slice { element: vector, access: Access::Write };
        let cases = [
            (ParameterKind::Value(scalar()), Some(Passing::Value(4))),
            (writes, Some(Passing::Slice { element: 16, writes: true })),
            (ParameterKind::Shared { element: scalar() }, None),
            (ParameterKind::Pointer { element: scalar(), access: Access::Read }, None),
        ];
        for (kind, expected) in cases {
            assert_eq!(Passing::of(&kind), expected, "{kind}");
        }
    }
}
