//! Host code: files in CUDA C++ that nvcc compiles whole, for all NVIDIA targets at once.

use super::{
    compiler::Failure,
    nvcc::{NvccCompiler, warnings},
};
use crate::{
    base::environment::BuildEnvironment, discovery::source::Source, settings::resolved::Settings,
};
use kernelmill_artifact::Target;
use kernelmill_compiler::{Config, frontend::cuda::HostOptions};
use kernelmill_store::{KeyBuilder, digest};
use std::{path::PathBuf, time::Instant};

/// A host file, compiled.
pub(crate) struct Object {
    pub(crate) bytes: Vec<u8>,
    /// Every file that was read, absolute.
    pub(crate) inputs: Vec<PathBuf>,
    /// A warning a line.
    pub(crate) warnings: String,
}

/// Compiles a file, or takes it from the store.
pub(crate) fn object(
    cuda: &NvccCompiler<'_>,
    file: &Source,
    environment: &BuildEnvironment,
) -> Result<Object, Failure> {
    let start = Instant::now();
    let key = described(cuda, cuda.key("host file", file)).finish();
    if let Some(record) = cuda.inputs.find(cuda.store, "host", &key)
        && let Some(bytes) = cuda.store.get("object", &record.stored)
    {
        let inputs = cuda.inputs.files(&record);
        environment.stored(&file.display, start, &[("stage", "host code")]);
        return Ok(Object { bytes, inputs, warnings: record.warnings });
    }
    let step = environment.step("host code", &*file.display, &[]);
    let (bytes, trace) = cuda.compiler().compile_host(&cuda.cuda_source(file), &options(cuda))?;
    drop(step);
    let warnings = warnings(&trace);
    let stored = digest(&bytes);
    cuda.store.put("object", &stored, &bytes);
    let record = cuda.inputs.record(stored, (&trace.inputs, &[]), warnings.clone());
    cuda.inputs.remember(cuda.store, ("host", &key), record);
    Ok(Object { bytes, inputs: trace.inputs, warnings })
}

pub(crate) fn options<'a>(cuda: &NvccCompiler<'a>) -> HostOptions<'a> {
    let Settings { targets, params, options, rdc, .. } = cuda.settings;
    HostOptions { targets, params, options, is_relocatable: *rdc }
}

/// Adds to a key what device code in host files depends on beside its text.
pub(crate) fn described(cuda: &NvccCompiler<'_>, key: KeyBuilder) -> KeyBuilder {
    let Settings { targets, params, options, rdc, .. } = cuda.settings;
    let config = |target: &Target| {
        let (target, params, options) = (target.clone(), params.clone(), options.clone());
        Config { target, params, options }.key()
    };
    key.parts("config", targets.iter().map(config)).part("rdc", rdc.to_string())
}
