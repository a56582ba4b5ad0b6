//! The front end of a compiler that was built without naga.

use std::collections::BTreeMap;

use super::WgslSource;
use crate::{
    Error,
    artifact::Artifact,
    code::{CodeStage, KernelCode},
    frontend::cuda::CudaKernel,
    job::Config,
};

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

/// Would write what the compiler has made of kernels.
///
/// # Errors
///
/// [`Error::NoWgsl`].
pub(crate) fn spirv_of_kernels(
    file: &str,
    _text: &str,
    _names: &BTreeMap<String, String>,
) -> Result<Vec<u8>, Error> {
    Err(Error::NoWgsl { file: file.to_owned() })
}

/// Would show the code of kernels in other languages.
///
/// # Errors
///
/// [`Error::NoWgsl`].
pub fn translate(
    source: &WgslSource,
    _kernels: &[String],
    _wanted: &[CodeStage],
) -> Result<Vec<KernelCode>, Error> {
    Err(Error::NoWgsl { file: source.display.clone() })
}

/// Would look for what cannot be translated.
///
/// # Errors
///
/// [`Error::NoWgsl`].
pub fn untranslatable(source: &WgslSource, _kernels: &[String]) -> Result<Vec<String>, Error> {
    Err(Error::NoWgsl { file: source.display.clone() })
}
