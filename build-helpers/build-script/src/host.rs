//! Files whose host code the package calls: launchers and `extern "C"` functions in CUDA C++. nvcc
//! compiles them, host and device code, for all NVIDIA targets at once, and they become a static
//! library that is linked with the CUDA runtime.

mod find;
mod runtime;

pub(crate) use find::{find, is_named};

use crate::{
    compile::Failure,
    cuda::{Cuda, warnings},
    env::World,
    error::Error,
    key::{KeyBuilder, digest},
    link, naming,
    output::write_if_changed,
    pipeline::{fault, watch},
    report::Report,
    settings::Settings,
    source::Source,
    toolchain::{Nvcc, Search, no_nvcc, nvcc_targets},
};
use kernelmill_compiler::{Error as CompileError, frontend::cuda::HostOptions};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// A host file, compiled.
pub(crate) struct Object {
    bytes: Vec<u8>,
    /// Every file that was read, absolute.
    inputs: Vec<PathBuf>,
    /// A warning a line.
    warnings: String,
}

/// Refuses host files before any work where they cannot be compiled.
///
/// # Errors
///
/// [`Error::Sources`] where no target is NVIDIA's, where there is no nvcc, and with the targets
/// that it does not know.
pub(crate) fn check(
    files: &[Source],
    settings: &Settings,
    search: &Search<'_>,
    nvcc: Option<&Nvcc>,
) -> Result<(), Error> {
    let mut report = Report::default();
    if files.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = files.iter().map(|file| format!("`{}`", file.display)).collect();
    let subject = format!("the host code in {}", names.join(", "));
    if !settings.has_nvidia() {
        report.plain(
            format!("{subject} needs an NVIDIA target for the device code in it"),
            "name one, for example `sm_80` or `compute_75`",
        );
    } else if let Some(nvcc) = nvcc {
        nvcc_targets(nvcc, &settings.targets, &mut report);
    } else {
        no_nvcc(search, &subject, &mut report);
    }
    report.into_result(Error::Sources)
}

/// Puts what host files were compiled to into a library in `OUT_DIR`, and tells Cargo to link it.
///
/// # Errors
///
/// [`Error::Kernels`] with what nvcc says of any of them, and [`Error::Toolchain`] where there is no
/// archiver or no CUDA runtime to link.
pub(crate) fn library(
    world: &World,
    cuda: &Cuda<'_>,
    files: &[Source],
    made: Vec<Result<Object, Failure>>,
) -> Result<(), Error> {
    let package = cuda.package;
    let (mut report, mut said) = (Report::default(), BTreeSet::new());
    let mut objects = Vec::new();
    for (file, result) in files.iter().zip(made) {
        match result {
            Ok(object) => {
                object.inputs.iter().for_each(|input| watch(world, package, input));
                said.extend(object.warnings.lines().map(str::to_owned));
                objects.push(object.bytes);
            }
            Err(error) => fault(&error, &file.display, &mut report),
        }
    }
    said.iter().for_each(|line| world.cargo.warn_of("nvcc", line));
    report.into_result(Error::Kernels)?;
    let mut paths = write(cuda, files, &objects)?;
    if cuda.settings.rdc {
        paths.push(linked(cuda, files, &objects, &paths)?);
    }
    let name = format!("{}_kernelmill_host", naming::letters(&package.name));
    link::archive(world, package, &name, &paths)?;
    runtime::link(world, package, cuda.nvcc, cuda.settings.rdc)
}

/// Compiles a file, or takes it from the store.
pub(crate) fn object(cuda: &Cuda<'_>, file: &Source) -> Result<Object, Failure> {
    let key = described(cuda, cuda.key("host file", file)).finish();
    if let Some(record) = cuda.inputs.find(cuda.store, "host", &key)
        && let Some(bytes) = cuda.store.get("object", &record.stored)
    {
        let inputs = cuda.inputs.files(&record);
        return Ok(Object { bytes, inputs, warnings: record.warnings });
    }
    let (bytes, trace) = cuda.compiler().compile_host(&cuda.cuda_source(file), &options(cuda))?;
    let warnings = warnings(&trace);
    let stored = digest(&bytes);
    cuda.store.put("object", &stored, &bytes);
    let record = cuda.inputs.record(stored, (&trace.inputs, &[]), warnings.clone());
    cuda.inputs.remember(cuda.store, ("host", &key), record);
    Ok(Object { bytes, inputs: trace.inputs, warnings })
}

fn options<'a>(cuda: &Cuda<'a>) -> HostOptions<'a> {
    let Settings { targets, params, options, rdc, .. } = cuda.settings;
    HostOptions { targets, params, options, is_relocatable: *rdc }
}

/// Adds to a key what device code in host files depends on beside its text.
fn described(cuda: &Cuda<'_>, key: KeyBuilder) -> KeyBuilder {
    let Settings { targets, params, options, rdc, .. } = cuda.settings;
    key.parts("target", targets.iter().map(ToString::to_string))
        .part("options", format!("{params:?} {options:?}"))
        .part("rdc", rdc.to_string())
        .part("machine", &cuda.package.target)
}

/// Links the device code of all objects; gives the object that holds it.
fn linked(
    cuda: &Cuda<'_>,
    files: &[Source],
    objects: &[Vec<u8>],
    paths: &[PathBuf],
) -> Result<PathBuf, Error> {
    let key = KeyBuilder::new("device link")
        .part("version", &cuda.nvcc.version)
        .parts("object", objects.iter().map(|object| digest(object).0));
    let key = described(cuda, key).finish();
    let path = folder(cuda).join("kernelmill_device_link.o");
    let bytes = match cuda.store.get("object", &key) {
        Some(bytes) => bytes,
        None => {
            let made = cuda.compiler().link_device(paths, &cuda.package.root, &options(cuda));
            let bytes = made.map_err(|error| {
                let mut report = Report::default();
                fault(&named(error, files, paths), "device code of host files", &mut report);
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
fn write(cuda: &Cuda<'_>, files: &[Source], objects: &[Vec<u8>]) -> Result<Vec<PathBuf>, Error> {
    let displays: Vec<_> = files.iter().map(|file| file.display.as_str()).collect();
    let path = |stem: String| folder(cuda).join(format!("{stem}.o"));
    let paths: Vec<_> = naming::file_stems(&displays).into_iter().map(path).collect();
    for (path, bytes) in paths.iter().zip(objects) {
        write_if_changed(path, bytes)?;
    }
    Ok(paths)
}

/// The folder of objects: not among the binaries in `OUT_DIR`, which users look at.
fn folder(cuda: &Cuda<'_>) -> PathBuf {
    Path::new(&cuda.package.out_dir).join("kernelmill/host")
}
