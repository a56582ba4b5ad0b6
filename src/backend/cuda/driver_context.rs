//! The driver's context: what every call of the driver needs, and the errors that no call could return.
//!
//! Needs an open context of cudarc's. It lives as long as anything of the context does.

use std::sync::{Arc, OnceLock};

use cudarc::driver::{CudaContext, CudaStream};

use super::driver::named;
use crate::{
    backend::gpu::{
        calls::{ContextCalls as _, DriverState},
        shared,
    },
    error::Result,
};

/// What streams, memory and modules of a context have in common.
pub(super) type Shared = shared::Shared<DriverContext>;

pub(crate) struct DriverContext {
    /// The device's name.
    pub(super) name: String,
    pub(super) cuda: Arc<CudaContext>,
    /// The default stream.
    pub(super) stream: Arc<CudaStream>,
    /// The multiprocessors that the blocks of a cooperative launch share; 0 where there are no such launches.
    pub(super) cooperative_multiprocessors: u32,
    /// cudarc records events of its slices only while there are streams beside the default one. Were
    /// the last of these dropped with work on it, nothing would wait for that work any more; so from
    /// the first stream that is made here on, this keeps another.
    keeper: OnceLock<Arc<CudaStream>>,
    pub(super) state: DriverState,
}

impl DriverContext {
    pub(super) fn new(
        name: String,
        cuda: Arc<CudaContext>,
        cooperative_multiprocessors: u32,
    ) -> Self {
        Self {
            name,
            cooperative_multiprocessors,
            stream: cuda.default_stream(),
            cuda,
            keeper: OnceLock::new(),
            state: DriverState::default(),
        }
    }

    /// Makes a stream, and the one that is kept.
    pub(super) fn new_stream(&self) -> Result<Arc<CudaStream>> {
        self.bind()?;
        let subject = || self.name.clone();
        if self.keeper.get().is_none() {
            // cudarc waits for the context before its first stream: done here, it has a name.
            self.synchronize()?;
            let stream =
                named(self.cuda.new_stream(), "CudaContext::new_stream (cuStreamCreate)", subject)?;
            // Where somebody else was faster, this one is dropped again.
            let _ = self.keeper.set(stream);
        }
        let stream =
            named(self.cuda.new_stream(), "CudaContext::new_stream (cuStreamCreate)", subject)?;
        self.expect(&stream);
        Ok(stream)
    }
}
