//! Pinned host memory: pages that the driver has pinned, between which and the device copies run by themselves.
//!
//! [CUDA C++ Programming Guide, "Page-Locked Host Memory"](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#page-locked-host-memory).
//! The copies that use a block are its accesses, as those of device memory are. Guaranteed: a block is given
//! back when no copy uses it.

use std::{any::Any, mem::ManuallyDrop, ptr, sync::Arc};

use super::{
    accesses::{Accesses, Queued, Recording},
    calls::Driver,
    host_blocks::Block,
    shared::Shared,
};
use crate::{error::Result, hal};

pub(in crate::backend) struct HostMemory<D: Driver> {
    block: ManuallyDrop<Block<D>>,
    accesses: Accesses<D>,
    shared: Arc<Shared<D>>,
}

impl<D: Driver> HostMemory<D> {
    /// Memory of `bytes` bytes, more than 0; all zero.
    pub(in crate::backend) fn new(shared: &Arc<Shared<D>>, bytes: usize) -> Result<Self> {
        shared.bind()?;
        let block = shared.host_blocks.take(&shared.driver, bytes)?;
        // SAFETY: the memory has that many bytes, and nobody else uses it.
        unsafe { ptr::write_bytes(block.pointer(), 0, bytes) };
        let (accesses, shared) = (Accesses::of_program(&shared.driver), Arc::clone(shared));
        Ok(Self { block: ManuallyDrop::new(block), accesses, shared })
    }

    /// The memory behind the trait, which is of this back end.
    pub(in crate::backend) fn of(memory: &dyn hal::HostMemory) -> &Self {
        let memory: &dyn Any = memory;
        memory.downcast_ref().expect("copies are between memories of one context")
    }

    /// As [`HostMemory::of`].
    pub(in crate::backend) fn of_mut(memory: &mut dyn hal::HostMemory) -> &mut Self {
        let memory: &mut dyn Any = memory;
        memory.downcast_mut().expect("copies are between memories of one context")
    }

    /// Before a copy from it is queued. The host waits for single copies, so that each is recorded, also those of the
    /// default stream.
    pub(in crate::backend) fn read<'a>(
        &'a self,
        stream: &'a Arc<D::Stream>,
    ) -> Result<Option<Queued<'a, D>>> {
        self.accesses.read(stream, Recording::Now)
    }

    /// Before a copy to it is queued.
    pub(in crate::backend) fn write<'a>(
        &'a mut self,
        stream: &'a Arc<D::Stream>,
    ) -> Result<Option<Queued<'a, D>>> {
        self.accesses.write(stream, Recording::Now)
    }

    /// The panics of launches, after a copy that may have brought what they left.
    fn report(&self, was_written: bool) -> Result<()> {
        if !was_written {
            return Ok(());
        }
        self.shared.late_error()?;
        self.shared.panics.report_all()
    }
}

impl<D: Driver> hal::HostMemory for HostMemory<D> {
    fn pointer(&self) -> *mut u8 {
        self.block.pointer()
    }

    fn finish_write(&self) -> Result<()> {
        self.shared.bind()?;
        self.report(self.accesses.finish_write()?)
    }

    fn finish_all(&mut self) -> Result<()> {
        self.shared.bind()?;
        let was_written = self.accesses.finish_all()?;
        self.report(was_written)
    }
}

impl<D: Driver> Drop for HostMemory<D> {
    fn drop(&mut self) {
        let Self { block, accesses, shared } = self;
        let waited = shared.make_current().and_then(|()| accesses.finish_all());
        if let Err(error) = waited
            && shared.synchronize().is_err()
        {
            shared.keep(Err(error));
            // A copy may use it for ever: it is not freed.
            if !shared.is_lost() {
                return;
            }
        }
        // SAFETY: it is taken here alone, and not used after this.
        shared.host_blocks.give_back(unsafe { ManuallyDrop::take(block) });
    }
}
