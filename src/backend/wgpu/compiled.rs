//! Kernels that kernelmill's own passes have compiled for Vulkan, from Rust, CUDA C++ and other languages with pointers.
//!
//! In group 0 a kernel has a buffer for each parameter of its signature, then what the launch says of its block and
//! buffers, then its panic record: `build-helpers/compiler/src/target/vulkan` has the layout. Buffers are bound from a multiple
//! of the device's alignment on, and the kernel is told where in them its elements begin, so that nothing is copied. The
//! size of a block is written into the module, which is compiled once for each.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use kernelmill_artifact::{DYNAMIC_SHARED_WORDS, ParameterKind, Signature};
use wgpu::{BindGroupLayout, ComputePipeline, ComputePipelineDescriptor};

use super::{
    bound::Values,
    driver_context::{DriverContext, Shared},
    fused::Probes,
    groups::{Bound, Group, Owner, Resource},
    interface::{self, Binding},
    launch::Image,
    shader,
};
use crate::{
    backend::gpu::calls::ContextCalls as _,
    embedded::EmbeddedKernel,
    error::{Error, Result},
    hal::{self, AsyncError, Pointers, StreamRef},
    limits::{Checked, KernelLimits},
};

/// The words of a module with a kernel, and the numbers of the buffers that the kernel uses: in the source, and in this module.
pub(super) struct Code {
    pub(super) words: Vec<u32>,
    pub(super) bindings: Vec<(Binding, Binding)>,
    pub(super) probes: Arc<Probes>,
    /// The address of the memory of the module's variables.
    pub(super) memory: Option<u64>,
}

/// A kernel of a module.
pub(super) struct Function {
    code: Arc<Code>,
    passing: Vec<Passing>,
    /// That of group 0.
    layouts: [Option<BindGroupLayout>; 1],
    owner: Owner,
    pipelines: Mutex<BTreeMap<Shape, ComputePipeline>>,
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
    /// An address, and a number of elements of so many bytes each.
    Slice(u64),
    /// An address.
    Pointer,
    /// A number of elements of dynamic shared memory.
    Shared,
}

/// Threads of a block whose words cross between the lanes of warps, as `spirv/operations.ll` of the compiler has them.
const MOST_THREADS: u32 = 1024;

/// What a pipeline is for: the sizes of blocks, and their bytes of dynamic shared memory.
type Shape = ([u32; 3], u32);

impl Passing {
    /// Of a parameter; `None` for one that Vulkan does not have.
    fn of(kind: &ParameterKind) -> Option<Self> {
        match kind {
            ParameterKind::Value(value) => Some(Self::Value(value.size())),
            ParameterKind::Slice { element, .. } => Some(Self::Slice(element.size())),
            ParameterKind::Pointer { .. } => Some(Self::Pointer),
            ParameterKind::Shared { .. } => Some(Self::Shared),
            ParameterKind::TensorMap { .. } => None,
        }
    }
}

/// The offset that tells a kernel of a null pointer.
const NULL: u32 = u32::MAX;

impl Function {
    /// The kernel of a module.
    pub(super) fn new(
        image: &Arc<Image>,
        code: &Arc<Code>,
        shared: &Arc<Shared>,
        (kernel, signature): (&'static EmbeddedKernel, &'static Signature),
    ) -> Result<Self> {
        let gpu = &*shared.gpu;
        let refuse = |message: &str| {
            gpu.error("create_compute_pipeline", kernel.entry.to_owned(), message.to_owned())
        };
        let passing: Option<Vec<_>> =
            signature.parameters().iter().map(|it| Passing::of(&it.kind)).collect();
        let passing = passing.ok_or_else(|| {
            refuse("the kernel has a parameter of a kind that Vulkan does not support")
        })?;
        let is_known = |(source, _): &(Binding, Binding)| {
            source.group == 0 && source.binding as usize <= passing.len() + 2
        };
        if !code.bindings.iter().all(is_known) {
            return Err(refuse(
                "the kernel uses other buffers than its wrapper binds; build the package again",
            ));
        }
        let lacking = gpu.lacking(&code.words);
        if !lacking.is_empty() {
            return Err(refuse(&format!("the device does not support {}", lacking.join(" and "))));
        }
        let is_uniform = |source: &Binding| {
            let number = source.binding as usize;
            matches!(passing.get(number), Some(Passing::Value(_))) || number == passing.len()
        };
        let buffers: Vec<_> =
            code.bindings.iter().map(|(source, own)| (own.binding, is_uniform(source))).collect();
        let layout = shader::layout(gpu, &buffers, || kernel.entry.to_owned())?;
        let (image, shared, code) = (Arc::clone(image), Arc::clone(shared), Arc::clone(code));
        let (layouts, owner, pipelines) = ([Some(layout)], Owner::new(), Mutex::default());
        Ok(Self { code, passing, layouts, owner, pipelines, kernel, signature, image, shared })
    }

    /// The pipeline for blocks.
    fn pipeline(&self, shape: Shape) -> Result<ComputePipeline> {
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = pipelines.get(&shape) {
            return Ok(pipeline.clone());
        }
        let gpu = &*self.shared.gpu;
        let (block, shared) = shape;
        let mut numbers = self.code.probes.answers(gpu, &self.shared.fused)?;
        numbers.push((DYNAMIC_SHARED_WORDS, shared.div_ceil(4).max(1)));
        let words = interface::adapted(&self.code.words, block, &numbers);
        // SAFETY: it is what naga has written for a module that is valid, but for the number of its threads.
        let module =
            unsafe { shader::load_words(gpu, self.kernel.entry, words, || self.subject())? };
        let pipeline = gpu.scoped(
            "create_compute_pipeline",
            || self.subject(),
            || {
                let layout = shader::pipeline_layout(gpu, &self.layouts);
                gpu.device.create_compute_pipeline(&ComputePipelineDescriptor {
                    label: Some(self.kernel.entry),
                    layout: Some(&layout),
                    module: &module,
                    entry_point: Some(self.kernel.entry),
                    compilation_options: Default::default(),
                    cache: None,
                })
            },
        )?;
        pipelines.insert(shape, pipeline.clone());
        Ok(pipeline)
    }

    fn subject(&self) -> String {
        format!("`{}` of {}", self.kernel.entry, self.image.artifact)
    }

    /// What a launch binds, for each parameter and for what is told of them; and its values.
    ///
    /// # Safety
    ///
    /// The arguments are those of the kernel.
    unsafe fn parts(
        &self,
        (block, shared): Shape,
        arguments: &[*const u8],
    ) -> Result<(Vec<Resource>, Values)> {
        let (mut arguments, mut values) = (arguments.iter(), Values::new(&self.shared.gpu));
        let (mut parts, mut told) = (Vec::new(), vec![[block[0], block[1], block[2], shared]]);
        for (index, passing) in self.passing.iter().enumerate() {
            let mut next = || arguments.next().copied().expect("as many as the kernel has");
            let (part, of_part) = match *passing {
                Passing::Value(bytes) => {
                    // SAFETY: promised: a value of this size.
                    let value = unsafe { std::slice::from_raw_parts(next(), bytes as usize) };
                    (values.add(value), [0; 4])
                }
                Passing::Slice(element) => {
                    // SAFETY: promised: an address, and the number of elements.
                    let (address, len) =
                        unsafe { (next().cast::<u64>().read(), next().cast::<u64>().read()) };
                    let (part, offset) = self.storage(index, address, Some(len * element))?;
                    (part, [len as u32, (len >> 32) as u32, offset, 0])
                }
                Passing::Shared => {
                    // SAFETY: promised: a number of elements.
                    let len = unsafe { next().cast::<u64>().read() };
                    (Resource::Nothing, [len as u32, (len >> 32) as u32, 0, 0])
                }
                Passing::Pointer => {
                    // SAFETY: promised: an address.
                    let address = unsafe { next().cast::<u64>().read() };
                    let (part, offset) = match address {
                        0 => (Resource::Nothing, NULL),
                        _ => self.storage(index, address, None)?,
                    };
                    (part, [0, 0, offset, 0])
                }
            };
            parts.push(part);
            told.push(of_part);
        }
        let told: Vec<u8> =
            told.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
        parts.push(values.add(&told));
        Ok((parts, values))
    }

    /// The part of a buffer that memory is in, from an aligned place on, and the offset of the memory in that. All of the buffer
    /// where the number of bytes is not known.
    fn storage(&self, index: usize, address: u64, bytes: Option<u64>) -> Result<(Resource, u32)> {
        if bytes == Some(0) {
            return Ok((Resource::Nothing, 0));
        }
        let gpu = &*self.shared.gpu;
        let place = gpu.buffers.place(address);
        let place = place.ok_or_else(|| self.refuse(index, "is not in a buffer of this device"))?;
        let align = u64::from(gpu.limits.min_storage_buffer_offset_alignment);
        let start = if bytes.is_some() { place.offset / align * align } else { 0 };
        let offset = place.offset - start;
        let part = bytes.map(|bytes| (offset + bytes).next_multiple_of(4));
        let bound = part.unwrap_or(place.buffer.size());
        let most = gpu.limits.max_storage_buffer_binding_size;
        if bound > most {
            let why = format!("has {bound} bytes, but the device binds at most {most}");
            return Err(self.refuse(index, &why));
        }
        Ok((Resource::Storage { buffer: place.buffer, offset: start, bytes: part }, offset as u32))
    }

    /// Refuses an argument.
    #[cold]
    fn refuse(&self, index: usize, why: &str) -> Error {
        let name = &self.signature.parameters()[index].name;
        let subject = format!("the argument `{name}` of `{}`", self.kernel.entry);
        self.shared.gpu.error("create_bind_group", subject, format!("it {why}"))
    }

    /// Whether it has a panic record.
    fn has_record(&self) -> bool {
        let number = self.passing.len() as u32 + 1;
        self.code.bindings.iter().any(|(source, _)| source.binding == number)
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        self.shared.gpu.groups.forget_owner(self.owner);
    }
}

impl hal::Function for Function {
    fn limits(&self) -> KernelLimits {
        let most = self.shared.gpu.limits.max_compute_invocations_per_workgroup;
        KernelLimits {
            threads_per_block: most.min(MOST_THREADS),
            static_shared_bytes: self.kernel.static_shared_bytes,
        }
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
        let blocks = (shape.block, shape.dynamic_shared_bytes);
        self.image.note_launch(stream);
        let pipeline = self.pipeline(blocks)?;
        let record = match self.has_record() {
            true => {
                let address = self.shared.panics.record(stream, &self.image)?;
                // SAFETY: the table of panics has it until the launches of the image are over.
                Some(unsafe { self.shared.records.for_launch(gpu, address)? })
            }
            false => None,
        };
        let memory = self.code.memory.and_then(|address| gpu.buffers.place(address));
        // SAFETY: promised.
        let (parts, values) = unsafe { self.parts(blocks, arguments.as_slice())? };
        let resource = |source: &Binding| match parts.get(source.binding as usize) {
            Some(part) => part.clone(),
            None => {
                let buffer = match (&record, &memory) {
                    (Some(record), _) if source.binding as usize == parts.len() => &record.buffer,
                    (_, Some(place)) => &place.buffer,
                    _ => unreachable!("the module's own record or memory"),
                };
                Resource::Storage { buffer: buffer.clone(), offset: 0, bytes: None }
            }
        };
        let bound = self.code.bindings.iter().map(|(source, own)| Bound {
            group: 0,
            binding: own.binding,
            resource: resource(source),
        });
        let of_kernel = (self.owner, &self.layouts[..]);
        let mut group = Group::of_launch(gpu, of_kernel, bound.collect(), subject)?;
        let submit = || {
            gpu.submit("dispatch_workgroups", subject, |encoder| {
                group.write(gpu, values);
                let mut pass = encoder.begin_compute_pass(&Default::default());
                pass.set_pipeline(&pipeline);
                group.bind(&mut pass);
                let [x, y, z] = shape.grid;
                pass.dispatch_workgroups(x, y, z);
                drop(pass);
                if let Some(record) = &record {
                    record.copy(encoder);
                }
            })
        };
        self.shared.timed(stream, || {
            stream.note(submit()?);
            Ok(())
        })?;
        gpu.groups.give_back(group);
        if let Some(record) = record {
            self.shared.records.follow(record);
        }
        Ok(None)
    }
}
