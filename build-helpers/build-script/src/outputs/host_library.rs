//! The host library: the compiled host code of a package as a static library, linked with the CUDA
//! runtime.

use super::{cuda_runtime, link};
use crate::{
    base::{
        environment::BuildEnvironment, error::Error, files::write_if_changed, naming,
        report::Report,
    },
    compile::{
        compiler::Failure,
        diagnostics::{report_error, report_failure},
        host::{Object, described, options},
        nvcc::NvccCompiler,
    },
    discovery::source::Source,
};
use kernelmill_compiler::Error as CompileError;
use kernelmill_store::digest;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Instant,
};

/// Puts what host files were compiled to into a library in `OUT_DIR`, and tells Cargo to link it.
///
/// # Errors
///
/// [`Error::Kernels`] with what nvcc says of any of them, and [`Error::Tool`] where there is no
/// archiver or no CUDA runtime to link.
pub(crate) fn library(
    environment: &BuildEnvironment,
    cuda: &NvccCompiler<'_>,
    files: &[Source],
    made: Vec<Result<Object, Failure>>,
) -> Result<(), Error> {
    let package = cuda.package;
    let (mut report, mut said) = (Report::default(), BTreeSet::new());
    let mut objects = Vec::new();
    for (file, result) in files.iter().zip(made) {
        match result {
            Ok(object) => {
                object.inputs.iter().for_each(|input| package.watch(environment, input));
                said.extend(object.warnings.lines().map(str::to_owned));
                objects.push(object.bytes);
            }
            Err(error) => report_failure(&error, file, (package, cuda.settings), &mut report),
        }
    }
    said.iter().for_each(|line| environment.cargo.warn_of("nvcc", line));
    report.into_result(Error::Kernels)?;
    let mut paths = write(cuda, files, &objects)?;
    if cuda.settings.rdc {
        paths.push(linked(environment, cuda, files, (&objects, &paths))?);
    }
    let name = format!("{}_kernelmill_host", naming::letters(&package.name));
    link::archive(environment, package, &name, &paths)?;
    cuda_runtime::link(environment, package, cuda.nvcc, cuda.settings.rdc)
}

/// Links the device code of all objects; gives the object that holds it.
fn linked(
    environment: &BuildEnvironment,
    cuda: &NvccCompiler<'_>,
    files: &[Source],
    (objects, paths): (&[Vec<u8>], &[PathBuf]),
) -> Result<PathBuf, Error> {
    let start = Instant::now();
    let key =
        cuda.tool_key("device link").parts("object", objects.iter().map(|object| digest(object).0));
    let key = described(cuda, key).finish();
    let path = folder(cuda).join("kernelmill_device_link.o");
    let bytes = match cuda.store.get("object", &key) {
        Some(bytes) => {
            environment.stored("device link", start, &[("stage", "host code")]);
            bytes
        }
        None => {
            let _step = environment.step("host code", "device link", &[]);
            let made = cuda.compiler().link_device(paths, &cuda.package.root, &options(cuda));
            let bytes = made.map_err(|error| {
                let mut report = Report::default();
                report_error(&named(error, files, paths), "device code of host files", &mut report);
                Error::Kernels(report)
            })?;
            cuda.store.put("object", &key, &bytes);
            bytes
        }
    };
    write_if_changed(&path, &bytes)?;
    Ok(path)
}

/// An error of the device linker with the users' files in place of the objects.
fn named(error: CompileError, files: &[Source], paths: &[PathBuf]) -> CompileError {
    let CompileError::Cpp { tool, mut messages, kept } = error else { return error };
    for message in &mut messages {
        for (file, path) in files.iter().zip(paths) {
            message.text = message.text.replace(&*path.to_string_lossy(), &file.display);
        }
    }
    CompileError::Cpp { tool, messages, kept }
}

/// Writes each object under a name of its own.
fn write(
    cuda: &NvccCompiler<'_>,
    files: &[Source],
    objects: &[Vec<u8>],
) -> Result<Vec<PathBuf>, Error> {
    let displays: Vec<_> = files.iter().map(|file| file.display.as_str()).collect();
    let path = |stem: String| folder(cuda).join(format!("{stem}.o"));
    let paths: Vec<_> = naming::file_stems(&displays).into_iter().map(path).collect();
    for (path, bytes) in paths.iter().zip(objects) {
        write_if_changed(path, bytes)?;
    }
    Ok(paths)
}

/// The folder of objects: not among the binaries in `OUT_DIR`, which users look at.
fn folder(cuda: &NvccCompiler<'_>) -> PathBuf {
    Path::new(&cuda.package.out_dir).join("kernelmill/host")
}
