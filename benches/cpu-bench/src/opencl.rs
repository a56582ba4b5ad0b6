//! OpenCL on the CPU, where one is installed.

use crate::{Case, Outcome, Values, Who, case::Number};
use opencl3::{
    command_queue::CommandQueue,
    context::Context,
    device::{CL_DEVICE_TYPE_CPU, Device},
    kernel::Kernel,
    memory::{Buffer, CL_MEM_READ_WRITE},
    platform::get_platforms,
    program::Program,
    types::CL_BLOCKING,
};
use std::ptr;

/// A device of OpenCL with a queue.
pub(crate) struct OpenCl {
    context: Context,
    queue: CommandQueue,
    /// Whose it is.
    pub(crate) who: Who,
    /// Platform and version.
    pub(crate) name: String,
}

/// A buffer of words of four bytes.
pub(crate) struct Memory {
    buffer: Buffer<u32>,
    len: usize,
}

/// An argument of a kernel.
pub(crate) enum Argument<'a> {
    Float(f32),
    Number(u32),
    Memory(&'a Memory),
}

/// A kernel with its arguments and its size.
pub(crate) struct Job {
    kernel: Kernel,
    global: Vec<usize>,
    local: Vec<usize>,
}

/// Something whose elements are words of four bytes.
pub(crate) trait Words: Copy {
    fn words(self) -> impl IntoIterator<Item = u32>;
}

impl Words for f32 {
    fn words(self) -> impl IntoIterator<Item = u32> {
        [self.to_bits()]
    }
}

impl Words for u32 {
    fn words(self) -> impl IntoIterator<Item = u32> {
        [self]
    }
}

impl Words for [f32; 4] {
    fn words(self) -> impl IntoIterator<Item = u32> {
        self.map(f32::to_bits)
    }
}

impl OpenCl {
    /// The first CPU of each platform that takes part; none without OpenCL.
    pub(crate) fn open_all() -> Outcome<Vec<Self>> {
        let mut all: Vec<Self> = Vec::new();
        for platform in get_platforms().unwrap_or_default() {
            let name = platform.name()?;
            let who = match &*name {
                name if name.contains("Portable Computing Language") => Who::Pocl,
                name if name.contains("Intel") => Who::Intel,
                _ => continue,
            };
            let Ok(devices) = platform.get_devices(CL_DEVICE_TYPE_CPU) else { continue };
            let Some(device) = devices.first().map(|id| Device::new(*id)) else { continue };
            if all.iter().any(|other| other.who == who) {
                continue;
            }
            let context = Context::from_device(&device)?;
            // SAFETY: the context and its device were made just now.
            let queue = unsafe { CommandQueue::create(&context, device.id(), 0)? };
            let name = format!("{name} {}", device.version()?.trim());
            all.push(Self { context, queue, who, name });
        }
        Ok(all)
    }

    /// Memory of `len` words, all zero.
    pub(crate) fn zeros(&self, len: usize) -> Outcome<Memory> {
        self.upload(&vec![0_u32; len])
    }

    /// Memory with these elements.
    pub(crate) fn upload<T: Words>(&self, values: &[T]) -> Outcome<Memory> {
        let words: Vec<u32> = values.iter().flat_map(|value| value.words()).collect();
        // SAFETY: no memory of the host is shared; the copy is done when the call returns.
        unsafe {
            let mut buffer =
                Buffer::create(&self.context, CL_MEM_READ_WRITE, words.len(), ptr::null_mut())?;
            self.queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, &words, &[])?;
            Ok(Memory { buffer, len: words.len() })
        }
    }

    /// Fills memory with zeros.
    pub(crate) fn clear(&self, memory: &mut Memory) -> Outcome {
        let bytes = memory.len * size_of::<u32>();
        // SAFETY: the range is that of the buffer; the queue is in order.
        unsafe { self.queue.enqueue_fill_buffer(&mut memory.buffer, &[0], 0, bytes, &[])? };
        Ok(())
    }

    /// What memory holds.
    pub(crate) fn download(&self, memory: &Memory) -> Outcome<Vec<u32>> {
        let mut words = vec![0; memory.len];
        // SAFETY: as many words as the buffer has; the copy is done when the call returns.
        unsafe {
            self.queue.enqueue_read_buffer(&memory.buffer, CL_BLOCKING, 0, &mut words, &[])?;
        }
        Ok(words)
    }

    /// Compiles a kernel and gives it its arguments.
    pub(crate) fn job(
        &self,
        (source, name): (&str, &str),
        arguments: &[Argument<'_>],
        global: &[usize],
        local: &[usize],
    ) -> Outcome<Job> {
        let program = Program::create_and_build_from_source(&self.context, source, "")?;
        let kernel = Kernel::create(&program, name)?;
        for (index, argument) in (0..).zip(arguments) {
            // SAFETY: the arguments are those of the kernel in the source.
            unsafe {
                match argument {
                    Argument::Float(value) => kernel.set_arg(index, value)?,
                    Argument::Number(value) => kernel.set_arg(index, value)?,
                    Argument::Memory(memory) => kernel.set_arg(index, &memory.buffer)?,
                }
            }
        }
        Ok(Job { kernel, global: global.to_vec(), local: local.to_vec() })
    }

    /// Runs a job to its end.
    pub(crate) fn run(&self, job: &Job) -> Outcome {
        let (kernel, dimensions) = (job.kernel.get(), job.global.len() as u32);
        let (global, local) = (job.global.as_ptr(), job.local.as_ptr());
        // SAFETY: both sizes have as many elements as there are dimensions.
        unsafe {
            let queue = &self.queue;
            queue.enqueue_nd_range_kernel(kernel, dimensions, ptr::null(), global, local, &[])?;
        }
        Ok(self.queue.finish()?)
    }
}

impl<'a> Case<'a> {
    /// Adds a kernel in OpenCL C, where there is OpenCL; `keep` is memory that it uses beside `out`.
    pub(crate) fn add_opencl<T: Number + FromWords + 'a>(
        &mut self,
        opencl: &'a OpenCl,
        job: Job,
        out: Memory,
        keep: Vec<Memory>,
    ) {
        self.add(
            opencl.who,
            (job, out, keep),
            |(job, ..)| opencl.run(job),
            |(_, out, _)| Ok(T::from_words(opencl.download(out)?)),
        );
    }
}

/// An element of a result that was words.
pub(crate) trait FromWords {
    fn from_words(words: Vec<u32>) -> Values;
}

impl FromWords for f32 {
    fn from_words(words: Vec<u32>) -> Values {
        Values::Floats(words.into_iter().map(f32::from_bits).collect())
    }
}

impl FromWords for u32 {
    fn from_words(words: Vec<u32>) -> Values {
        Values::Numbers(words)
    }
}
