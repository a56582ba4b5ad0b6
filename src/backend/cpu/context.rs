//! The processor as a device.

use std::{
    num::NonZero,
    sync::{Arc, LazyLock},
};

use super::{memory::Memory, module::Module, stream::Stream};
use crate::{
    Backend, EmbeddedArtifact, Limits, Result,
    backend::{self, Generation},
    fault::FaultSlot,
    select::Architecture,
};

/// What can be launched on the processor. Nothing in it has these limits: they are those of
/// current GPUs, so that what runs here can run there.
const LIMITS: Limits = Limits {
    grid: [i32::MAX as u32, 65_535, 65_535],
    block: [1024, 1024, 64],
    threads_per_block: 1024,
    shared_bytes: 228 << 10,
    warp_size: 32,
};

pub(crate) struct Context {
    name: String,
    sequential: bool,
    generation: Generation,
    fault: Arc<FaultSlot>,
}

/// The device whose blocks run in parallel.
pub(crate) fn parallel() -> Arc<dyn backend::Context> {
    static PARALLEL: LazyLock<Arc<Context>> = LazyLock::new(|| Arc::new(Context::new(false)));
    Arc::clone(&*PARALLEL) as _
}

/// The device whose blocks run one after the other.
pub(crate) fn sequential() -> Arc<dyn backend::Context> {
    static SEQUENTIAL: LazyLock<Arc<Context>> = LazyLock::new(|| Arc::new(Context::new(true)));
    Arc::clone(&*SEQUENTIAL) as _
}

impl Context {
    fn new(sequential: bool) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let how = if sequential { "sequential".to_owned() } else { format!("{cores} threads") };
        let name = format!("{} CPU, {how}", std::env::consts::ARCH);
        Self { name, sequential, generation: Generation::new(), fault: Arc::default() }
    }
}

impl backend::Context for Context {
    fn backend(&self) -> Backend {
        Backend::Cpu
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn limits(&self) -> &Limits {
        &LIMITS
    }

    fn architecture(&self) -> &Architecture {
        &Architecture::Cpu
    }

    fn generation(&self) -> Generation {
        self.generation
    }

    fn default_stream(&self) -> Arc<dyn backend::Stream> {
        Stream::of_thread(self.generation)
    }

    fn new_stream(&self) -> Result<Arc<dyn backend::Stream>> {
        Ok(Arc::new(Stream::new(self.generation)))
    }

    fn zeros(&self, bytes: usize) -> Result<Box<dyn backend::Memory>> {
        Ok(Box::new(Memory::new(&self.name, bytes, true)?))
    }

    unsafe fn upload(&self, source: *const u8, bytes: usize) -> Result<Box<dyn backend::Memory>> {
        let mut memory = Box::new(Memory::new(&self.name, bytes, false)?);
        // SAFETY: the memory is new and has that many bytes; the source is promised.
        unsafe { backend::Memory::write(&mut *memory, 0, source, bytes)? };
        Ok(memory)
    }

    fn load(&self, _artifact: &'static EmbeddedArtifact) -> Result<Arc<dyn backend::Module>> {
        Ok(Arc::new(Module::new(Arc::clone(&self.fault), self.sequential)))
    }

    fn synchronize(&self) -> Result<()> {
        self.fault.report()
    }
}
