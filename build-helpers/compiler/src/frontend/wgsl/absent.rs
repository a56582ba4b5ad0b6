//! The front end of a compiler that was built without naga.

use super::WgslSource;
use crate::{Error, artifact::Artifact, frontend::cuda::CudaKernel, job::Config};

/// Would read the kernels of a file.
///
/// # Errors
///
/// [`Error::NoWgsl`].
pub fn kernels(source: &WgslSource) -> Result<Vec<CudaKernel>, Error> {
    Err(Error::NoWgsl { file: source.display.clone() })
}

/// Would compile a file.
///
/// # Errors
///
/// [`Error::NoWgsl`].
pub fn compile(
    source: &WgslSource,
    _config: &Config,
    _kernels: &[String],
) -> Result<Artifact, Error> {
    Err(Error::NoWgsl { file: source.display.clone() })
}
