//! The memory of a module's variables, which its kernels have as a buffer ([`ProgramMemory`]). It is zero at first; then an
//! entry point of the module writes the values that the variables have in the source.

use std::sync::Arc;

use kernelmill_artifact::ProgramMemory;
use wgpu::BufferUsages;

use super::{driver::Gpu, interface::Interface, once::Once, staging};
use crate::error::Result;

/// The memory, freed with this.
pub(super) struct Variables {
    address: u64,
    layout: ProgramMemory,
    gpu: Arc<Gpu>,
}

impl Drop for Variables {
    fn drop(&mut self) {
        self.gpu.free(self.address);
    }
}

impl Variables {
    /// That of a module; `None` where it has no variables.
    ///
    /// # Safety
    ///
    /// The module is what naga has written for one that is valid.
    pub(super) unsafe fn of(
        gpu: &Arc<Gpu>,
        binary: &[u8],
        (interface, words): (&Interface, &[u32]),
    ) -> Result<Option<Self>> {
        let layout = ProgramMemory::read(binary);
        let layout = layout.filter(|it| it.bytes > 0 || !it.kernels.is_empty());
        let Some(layout) = layout else { return Ok(None) };
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        // No bytes at all are no memory. wgpu's buffers are zero at first.
        let buffer = staging::temporary(gpu, layout.bytes.max(4), usage)?;
        let address = gpu.buffers.add(buffer.clone());
        let variables = Self { address, layout, gpu: Arc::clone(gpu) };
        let name = ProgramMemory::START;
        // Without buffers it would write nothing.
        if interface.pairs(name).len() == 1 {
            // SAFETY: promised.
            let once = unsafe { Once::new(gpu, name, interface.numbered(name, words))? };
            let subject = || "the initial values of variables".to_owned();
            gpu.submit("dispatch_workgroups", subject, |encoder| once.run(gpu, encoder, &buffer))?;
        }
        Ok(Some(variables))
    }

    /// The address of the memory.
    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// The address and size of a variable.
    pub(super) fn find(&self, symbol: &str) -> Option<(u64, usize)> {
        let found = self.layout.variables.iter().find(|it| it.symbol == symbol)?;
        Some((self.address + found.offset, found.bytes as usize))
    }
}
