//! The files that stand for stages of a unit's kernels, as its job takes them.

use super::super::{
    compiler::Failure,
    front_end::FrontEnd,
    override_source::{kernel_of, lower},
};
use crate::{
    discovery::{
        override_file::{Form, KernelOverride},
        source::Source,
    },
    plan::units::UnitCompiler,
};
use kernelmill_artifact::{Signature, Target};
use kernelmill_compiler::{
    Error as CompileError, Override, OverrideCode,
    frontend::cuda::{clang::CudaLowered, is_same_symbol},
};
use kernelmill_store::digest;

/// The files for a target, each with the kernel as the unit's code names it.
pub(super) fn of_target<'s>(
    source: &'s Source,
    signatures: &[Signature],
    target: &Target,
) -> Vec<(&'s KernelOverride, String)> {
    let of = |it: &'s KernelOverride| {
        let is_it = |kernel: &&Signature| is_same_symbol(&it.symbol, &kernel.symbol);
        let is_for = it.form.is_for(target) && UnitCompiler::LlvmPipeline.takes(it.form);
        let kernel = signatures.iter().find(is_it).filter(|_| is_for)?;
        Some((it, kernel.symbol.to_string()))
    };
    source.overrides.iter().filter_map(of).collect()
}

/// What the key of a unit has of a file, wherever it lies. Of CUDA C++ and OpenCL C it is the bitcode that counts.
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

/// What a file is for the compiler. CUDA C++ and OpenCL C go through their front ends, and what those read is watched.
pub(super) fn make(
    front_end: &FrontEnd<'_>,
    (it, kernel): (&KernelOverride, String),
) -> Result<Override, Failure> {
    let file = it.display.clone();
    let code = match it.form {
        Form::Ir => OverrideCode::FrontEnd(it.text().into_owned()),
        Form::Ptx => OverrideCode::Ptx(it.text().into_owned()),
        Form::Cuda | Form::OpenCl => {
            let CudaLowered { lowered, kernels, .. } = lower(front_end, it)?;
            for input in &lowered.inputs {
                front_end.package.watch(front_end.environment, input);
            }
            let found = kernel_of(it, &kernels)?;
            let symbol = found.signature.symbol.to_string();
            OverrideCode::Lowered { modules: lowered.modules, symbol }
        }
        Form::Wgsl | Form::Spirv => {
            let (file, form) = (&it.display, it.form);
            let message =
                format!("the LLVM pipeline does not read {file}, an override in {form:?}");
            return Err(CompileError::Internal(message).into());
        }
    };
    Ok(Override { kernel, file, code })
}
