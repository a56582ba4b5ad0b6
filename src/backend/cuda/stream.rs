//! Streams of a context.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use super::{driver::named, panics};
use crate::{
    Result,
    backend::{self, Generation},
};

pub(crate) struct Stream {
    generation: Generation,
    cuda: Arc<CudaStream>,
}

impl Stream {
    pub(crate) fn new(generation: Generation, cuda: Arc<CudaStream>) -> Self {
        Self { generation, cuda }
    }

    pub(super) fn cudarc(&self) -> &Arc<CudaStream> {
        &self.cuda
    }
}

impl backend::Stream for Stream {
    fn generation(&self) -> Generation {
        self.generation
    }

    fn synchronize(&self) -> Result<()> {
        named(self.cuda.synchronize(), "cuStreamSynchronize", || "a stream".to_owned())?;
        panics::report(&self.cuda)
    }

    fn cuda(&self) -> Option<&Arc<CudaStream>> {
        Some(&self.cuda)
    }
}
