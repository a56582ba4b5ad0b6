//! The shared state of a CUDA context: what its streams, memory and modules have in common.
//!
//! Needs an open context of cudarc's. It lives as long as anything of the context does.

use std::sync::{Arc, OnceLock};

use cudarc::driver::{CudaContext, CudaStream};

use super::{driver::named, panics::Panics};
use crate::error::Result;

pub(super) struct Shared {
    /// The device's name.
    pub(super) name: String,
    pub(super) cuda: Arc<CudaContext>,
    /// The default stream.
    pub(super) stream: Arc<CudaStream>,
    /// Of the driver's context, which several `CudaContext`s can be of.
    pub(super) panics: Arc<Panics>,
    /// cudarc records events only while there are streams beside the default one. Were the last of
    /// these dropped with work on it, nothing would wait for that work any more; so from the first
    /// use of one on, this keeps another.
    keeper: OnceLock<Arc<CudaStream>>,
}

impl Shared {
    pub(super) fn new(name: String, cuda: Arc<CudaContext>, panics: Arc<Panics>) -> Self {
        let stream = cuda.default_stream();
        Self { name, cuda, stream, panics, keeper: OnceLock::new() }
    }

    /// Told before work goes to a stream that is not the default one.
    pub(super) fn expect_streams(&self) -> Result<()> {
        if self.keeper.get().is_none() {
            let subject = || "the order between streams".to_owned();
            let stream = named(self.cuda.new_stream(), "cuStreamCreate", subject)?;
            // Where somebody else was faster, this one is dropped again.
            let _ = self.keeper.set(stream);
        }
        Ok(())
    }
}
