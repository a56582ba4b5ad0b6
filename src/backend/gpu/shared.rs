//! The shared state of a context: what its streams, memory and modules have in common.

use std::{ops::Deref, sync::Arc};

use super::{calls::Driver, host_blocks::HostBlocks, panics::Panics};

pub(in crate::backend) struct Shared<D: Driver> {
    pub(in crate::backend) driver: Arc<D>,
    /// Of the driver's context, which several contexts of a library can be of.
    pub(in crate::backend) panics: Arc<Panics<D>>,
    pub(in crate::backend) host_blocks: HostBlocks<D>,
}

impl<D: Driver> Deref for Shared<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.driver
    }
}
