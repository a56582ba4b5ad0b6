//! The shared state of a CUDA context: what its streams, memory and modules have in common.

use std::{ops::Deref, sync::Arc};

use super::{driver_context::DriverContext, host_blocks::HostBlocks, panics::Panics};

pub(super) struct Shared {
    pub(super) driver: Arc<DriverContext>,
    /// Of the driver's context, which several `CudaContext`s can be of.
    pub(super) panics: Arc<Panics>,
    pub(super) host_blocks: HostBlocks,
}

impl Deref for Shared {
    type Target = DriverContext;

    fn deref(&self) -> &DriverContext {
        &self.driver
    }
}
