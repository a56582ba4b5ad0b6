//! `__nvvm_reflect`: the question of a library to the code that it was linked with, folded to its answer.
//!
//! libdevice and other libraries in bitcode ask for the architecture and for the handling of denormal numbers
//! ([libdevice User's Guide, "Reflection"](https://docs.nvidia.com/cuda/libdevice-users-guide/basic-usage.html)). LLVM
//! answers for NVIDIA alone (`NVVMReflect.cpp`); here the question is folded for every target, after everything is
//! linked, so that none of it is left where a library is used on the CPU.

use kernelmill_artifact::Target;
use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Value},
    machine::Machine,
};

use crate::{Error, ir::calls_of, job::Config};

/// What is asked by a call, by the names that NVIDIA and OpenCL have for it.
const FUNCTIONS: [&str; 3] = ["__nvvm_reflect_ocl", "__nvvm_reflect", "llvm.nvvm.reflect"];

/// Makes texts constants that reach the question through functions and slots, as in code that nothing optimised.
const SIMPLIFY: &str = "inline,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,\
    instcombine<no-verify-fixpoint>)";

/// Answers every question: `__CUDA_ARCH` with the architecture, 860 for 8.6, and 0 elsewhere; `__CUDA_FTZ` with 1 where
/// denormal numbers are flushed; all others with 0. Gives the calls whose question is no constant text.
///
/// # Errors
///
/// LLVM's, of simplification.
pub(crate) fn reflect<'c>(
    module: &Module<'c>,
    machine: &Machine,
    config: &Config,
) -> Result<Vec<Value<'c>>, Error> {
    if !fold(module, config).is_empty() {
        machine.run(module, SIMPLIFY)?;
    }
    Ok(fold(module, config))
}

/// Replaces the calls whose text is known, and gives the others.
fn fold<'c>(module: &Module<'c>, config: &Config) -> Vec<Value<'c>> {
    let mut others = Vec::new();
    for function in module.functions().into_iter().filter(|it| asks(&it.name())) {
        for call in calls_of(function) {
            let Some(question) = call.arguments().first().and_then(|it| text(*it)) else {
                others.push(call);
                continue;
            };
            call.replace_with(call.ty().constant(answer(question, config)));
            call.erase();
        }
        if !function.is_used() {
            function.delete_function();
        }
    }
    others
}

/// Whether a function of this name is the question.
fn asks(name: &str) -> bool {
    let rest = FUNCTIONS.iter().find_map(|known| name.strip_prefix(known));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn answer(question: &[u8], config: &Config) -> u64 {
    match (question, &config.target) {
        (b"__CUDA_FTZ", target) => u64::from(config.options.ftz && !target.is_cpu()),
        (b"__CUDA_ARCH", Target::Ptx(arch) | Target::Bitcode(arch) | Target::Cubin(arch)) => {
            u64::from(arch.number()) * 10
        }
        _ => 0,
    }
}

/// The text that a constant pointer leads to, without the zero at its end.
fn text(pointer: Value<'_>) -> Option<&[u8]> {
    let mut value = pointer;
    while value.is_constant_expression() {
        value = value.operand(0);
    }
    let content = value.is_global().then(|| value.initializer()).flatten()?;
    // rustc puts bytes into a struct.
    let is_struct = content.is_constant_aggregate();
    let bytes = if is_struct { content.constant_element(0)? } else { content }.as_bytes()?;
    bytes.split(|byte| *byte == 0).next()
}
