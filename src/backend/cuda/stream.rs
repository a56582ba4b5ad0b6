//! CUDA streams: those of a context, and the program's own.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use super::{driver::named, shared::Shared};
use crate::{
    error::Result,
    hal::{self, ContextId},
};

pub(crate) struct Stream {
    context: ContextId,
    cuda: Arc<CudaStream>,
    shared: Arc<Shared>,
}

impl Stream {
    pub(super) fn new(context: ContextId, cuda: Arc<CudaStream>, shared: &Arc<Shared>) -> Self {
        Self { context, cuda, shared: Arc::clone(shared) }
    }

    pub(super) fn cudarc(&self) -> &Arc<CudaStream> {
        &self.cuda
    }
}

impl hal::Stream for Stream {
    fn context(&self) -> Option<ContextId> {
        Some(self.context)
    }

    fn synchronize(&self) -> Result<()> {
        self.shared.bind()?;
        self.shared.wait_for(&self.cuda)?;
        self.shared.panics.report(&self.cuda)
    }
}

/// A stream of the program's own, which launches are put on as it is.
impl hal::Stream for Arc<CudaStream> {
    fn context(&self) -> Option<ContextId> {
        None
    }

    fn synchronize(&self) -> Result<()> {
        named(CudaStream::synchronize(self), "CudaStream::synchronize", || "a stream".to_owned())
    }

    fn describe(&self) -> &'static str {
        "a CudaStream of another context"
    }
}
