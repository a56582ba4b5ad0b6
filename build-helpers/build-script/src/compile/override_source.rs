//! Files that stand for kernels, as sources of their own.

use super::{compiler::Failure, cuda_source::cuda_source, front_end::FrontEnd};
use crate::discovery::{
    override_file::{Form, KernelOverride},
    source::{Source, SourceKind},
};
use kernelmill_artifact::{Access, ParameterKind, Signature};
use kernelmill_compiler::{
    Error as CompileError,
    frontend::cuda::{
        CudaKernel,
        clang::{self, CudaLowered},
    },
};
use std::collections::BTreeMap;

/// A file as a source.
pub(super) fn source(it: &KernelOverride, kind: SourceKind) -> Source {
    Source {
        path: it.path.clone(),
        display: it.display.clone(),
        kind,
        signatures: None,
        functions: Vec::new(),
        generics: Vec::new(),
        instances: Vec::new(),
        templates: Vec::new(),
        weight: 0,
        texts: vec![(it.display.clone(), it.text().into())],
        overrides: Vec::new(),
        states: Vec::new(),
        variables: Vec::new(),
        module: None,
        defines: BTreeMap::new(),
        defined: Vec::new(),
        warnings: Vec::new(),
        variants: Vec::new(),
    }
}

/// The kernel in a file that stands for its own: the only one, or the one of its name.
pub(super) fn kernel_of<'k>(
    it: &KernelOverride,
    kernels: &'k [CudaKernel],
) -> Result<&'k CudaKernel, Failure> {
    let found = match kernels {
        [one] => Some(one),
        all => all.iter().find(|kernel| kernel.signature.name == it.name),
    };
    found.ok_or_else(|| refuse(it, format!("it has no kernel `{}`", it.name)))
}

/// The error for a file whose kernel is not among those of its source: they come from there, so that this is a fault of
/// ours.
pub(super) fn unknown_kernel(it: &KernelOverride, source: &Source) -> Failure {
    let (file, symbol, source) = (&it.display, &it.symbol, &source.display);
    let message = format!("{file} overrides the kernel `{symbol}`, which {source} does not have");
    CompileError::Internal(message).into()
}

/// The error for a file that cannot stand for its kernel.
pub(super) fn refuse(it: &KernelOverride, message: String) -> Failure {
    let (file, kernel) = (it.display.clone(), it.name.clone());
    CompileError::Override { file, kernel, message }.into()
}

/// Runs the front end of its language over a file.
pub(super) fn lower(front_end: &FrontEnd<'_>, it: &KernelOverride) -> Result<CudaLowered, Failure> {
    let Some(clang) = front_end.clang else {
        let message =
            "clang, which compiles it, was not found; `cargo kernelmill doctor` says how to get it";
        return Err(refuse(it, message.to_owned()));
    };
    let (program, version) = (clang.program.clone(), clang.version.clone());
    let clang = clang::Clang { program, version };
    let is_opencl = it.form == Form::OpenCl;
    let kind = if is_opencl { SourceKind::OpenCl } else { SourceKind::Cuda };
    let source = cuda_source(front_end.package, front_end.settings, &source(it, kind));
    match is_opencl {
        true => front_end.compiler.lower_opencl(&clang, &source),
        false => front_end.compiler.lower_cuda(&clang, &source, None),
    }
}

/// Refuses a kernel in a file whose parameters are others than those of the kernel that it stands for. It may do less
/// with memory than that.
pub(super) fn check_parameters(
    it: &KernelOverride,
    own: &Signature,
    found: &Signature,
) -> Result<(), Failure> {
    let fits = |own: &ParameterKind, found: &ParameterKind| match (own, found) {
        (
            ParameterKind::Slice { element: own, access: Access::Write },
            ParameterKind::Slice { element: found, .. },
        )
        | (
            ParameterKind::Pointer { element: own, access: Access::Write },
            ParameterKind::Pointer { element: found, .. },
        ) => own == found,
        (own, found) => own == found,
    };
    let (expected, has) = (own.parameters(), found.parameters());
    let is_same = expected.len() == has.len()
        && expected.iter().zip(has).all(|(own, found)| fits(&own.kind, &found.kind));
    if is_same {
        return Ok(());
    }
    Err(refuse(it, format!("its signature is `{found}`, and that of the kernel is `{own}`")))
}
