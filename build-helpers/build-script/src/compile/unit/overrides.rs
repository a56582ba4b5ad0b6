//! The files that stand for stages of a unit's kernels, as its job takes them.

use super::super::{compiler::Failure, cuda_source::cuda_source, front_end::FrontEnd};
use crate::discovery::{
    override_file::{Form, KernelOverride},
    source::{Source, SourceKind},
};
use kernelmill_artifact::{Signature, Target};
use kernelmill_compiler::{
    Error as CompileError, Override, OverrideCode,
    frontend::cuda::{
        clang::{self, CudaLowered},
        is_same_symbol,
    },
};
use kernelmill_store::digest;
use std::sync::Arc;

/// The files for a target, each with the kernel as the unit's code names it.
pub(super) fn of_target<'s>(
    source: &'s Source,
    signatures: &[Signature],
    target: &Target,
) -> Vec<(&'s KernelOverride, String)> {
    let of = |it: &'s KernelOverride| {
        let is_it = |kernel: &&Signature| is_same_symbol(&it.symbol, &kernel.symbol);
        let kernel = signatures.iter().find(is_it).filter(|_| it.form.is_for(target))?;
        Some((it, kernel.symbol.to_string()))
    };
    source.overrides.iter().filter_map(of).collect()
}

/// What the key of a unit has of a file, wherever it lies. Of CUDA C++ it is the bitcode that counts.
pub(super) fn key(made: &Override) -> String {
    let content = match &made.code {
        OverrideCode::FrontEnd(text) => format!("ir {}", digest(text.as_bytes())),
        OverrideCode::Ptx(text) => format!("ptx {}", digest(text.as_bytes())),
        OverrideCode::Lowered { modules, symbol } => {
            let digests: Vec<_> = modules.iter().map(|module| digest(module).to_string()).collect();
            format!("bitcode {symbol} {}", digests.join(" "))
        }
    };
    format!("{} {content}", made.kernel)
}

/// What a file is for the compiler. CUDA C++ goes through its front end, and what that reads is watched.
pub(super) fn make(
    front_end: &FrontEnd<'_>,
    (it, kernel): (&KernelOverride, String),
) -> Result<Override, Failure> {
    let file = it.display.clone();
    let code = match it.form {
        Form::Ir => OverrideCode::FrontEnd(it.text.to_string()),
        Form::Ptx => OverrideCode::Ptx(it.text.to_string()),
        Form::Cuda => {
            let CudaLowered { lowered, kernels, .. } = lower(front_end, it)?;
            for input in &lowered.inputs {
                front_end.package.watch(front_end.environment, input);
            }
            let is_it = |name: &str| name == it.name;
            let found = match &*kernels {
                [one] => Some(one),
                all => all.iter().find(|kernel| is_it(&kernel.signature.name)),
            };
            let Some(found) = found else {
                let message = format!("it has no kernel `{}`", it.name);
                return Err(CompileError::Override { file, kernel, message }.into());
            };
            let symbol = found.signature.symbol.to_string();
            OverrideCode::Lowered { modules: lowered.modules, symbol }
        }
    };
    Ok(Override { kernel, file, code })
}

fn lower(front_end: &FrontEnd<'_>, it: &KernelOverride) -> Result<CudaLowered, Failure> {
    let Some(clang) = front_end.clang else {
        return Err(CompileError::Override {
            file: it.display.clone(),
            kernel: it.name.clone(),
            message: "clang, which compiles it, was not found; `cargo kernelmill doctor` says how to get it"
                .to_owned(),
        }
        .into());
    };
    let (program, version) = (clang.program.clone(), clang.version.clone());
    let source = cuda_source(front_end.package, front_end.settings, &source(it));
    front_end.compiler.lower_cuda(&clang::Clang { program, version }, &source, None)
}

/// The file as a source.
fn source(it: &KernelOverride) -> Source {
    Source {
        path: it.path.clone(),
        display: it.display.clone(),
        kind: SourceKind::Cuda,
        signatures: None,
        functions: Vec::new(),
        generics: Vec::new(),
        instances: Vec::new(),
        weight: 0,
        texts: vec![(it.display.clone(), Arc::clone(&it.text))],
        overrides: Vec::new(),
        states: Vec::new(),
        variables: Vec::new(),
    }
}
