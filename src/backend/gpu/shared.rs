//! The shared state of a context: what its streams, memory and modules have in common.

use std::{ops::Deref, sync::Arc};

use super::{calls::Driver, device_times::DeviceTimes, host_blocks::HostBlocks, panics::Panics};
use crate::{error::Result, trace};

pub(in crate::backend) struct Shared<D: Driver> {
    pub(in crate::backend) driver: Arc<D>,
    /// Of the driver's context, which several contexts of a library can be of.
    pub(in crate::backend) panics: Arc<Panics<D>>,
    pub(in crate::backend) host_blocks: HostBlocks<D>,
    /// For traces.
    pub(super) times: DeviceTimes<D>,
}

impl<D: Driver> Shared<D> {
    pub(in crate::backend) fn new(driver: Arc<D>, panics: Arc<Panics<D>>) -> Arc<Self> {
        let (host_blocks, times) = (HostBlocks::default(), DeviceTimes::default());
        Arc::new(Self { driver, panics, host_blocks, times })
    }

    /// Does `work`, which puts one call on a stream of the context; with the time that it takes on the device where the
    /// calling thread traces something. The context is current.
    #[inline]
    pub(in crate::backend) fn timed<T>(
        &self,
        stream: &Arc<D::Stream>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        match trace::current() {
            None => work(),
            Some(about) => self.times.time(&self.driver, stream, about, work),
        }
    }

    /// Writes the times of what is done, where there is a trace. The context is current.
    #[inline]
    pub(in crate::backend) fn collect_times(&self) {
        if trace::has_file() {
            self.times.collect(&self.driver);
        }
    }
}

impl<D: Driver> Deref for Shared<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.driver
    }
}
