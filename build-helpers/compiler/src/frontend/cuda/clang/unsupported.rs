//! The search for unsupported features: what keeps single kernels of a file from a target, with the
//! line.

use std::collections::BTreeSet;

use kernelmill_artifact::target::nearest_within;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Place, Value},
};

use super::{
    lowered::{Scope, UnsupportedFeature},
    module::kernels,
};
use crate::{
    base::names::PREFIX,
    frontend::cuda::source::CudaSource,
    ir::reachable,
    passes::{
        call_chains::CallChains,
        link::{self, ptx_instructions::Instructions},
    },
};

/// The language of a source that clang reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// CUDA C++.
    Cuda,
    /// OpenCL C, where clang declares functions that are built in, and mangles no other names.
    OpenCl,
    /// LLVM IR for NVIDIA's machine, where assembly and intrinsics are NVIDIA's.
    NvidiaIr,
    /// LLVM IR for AMD's.
    AmdIr,
    /// LLVM IR for OpenCL's machine, for a host, or for nothing.
    OtherIr,
}

/// What functions there are.
struct Names {
    language: Language,
    /// Their names as people write them.
    known: BTreeSet<String>,
}

/// The unsupported features of all kernels of a module that clang wrote, each once.
pub(crate) fn find<'c>(
    context: &'c Context,
    module: &Module<'c>,
    source: &CudaSource,
    language: Language,
) -> Vec<UnsupportedFeature> {
    let mut found = BTreeSet::new();
    let defined = module.definitions().into_iter();
    let defined = defined.map(|function| plain(&function.name()).to_owned());
    let names = Names { language, known: defined.chain(link::known()).collect() };
    let is_ptx = matches!(language, Language::Cuda | Language::NvidiaIr);
    let mut replaced: Option<Instructions<'c>> = None;
    for kernel in kernels(module) {
        let symbol = kernel.name();
        let call_chains = CallChains::from(context, [kernel]);
        let mut used: Vec<_> = reachable(kernel).into_iter().collect();
        used.retain(|value| value.is_function() && !value.is_declaration());
        for function in used {
            for instruction in function.instructions() {
                if is_ptx && instruction.is_call() && instruction.inline_assembly().is_some() {
                    let replaced = replaced.get_or_insert_with(|| Instructions::new(context));
                    if replaced.have(instruction) {
                        continue;
                    }
                }
                for (reason, scope) in features_of(instruction, &names) {
                    found.insert(UnsupportedFeature {
                        symbol: symbol.clone(),
                        file: instruction.debug_file().unwrap_or_else(|| source.display.clone()),
                        line: instruction.debug_line(),
                        reason,
                        scope,
                        frames: call_chains.to(instruction),
                    });
                }
            }
        }
    }
    found.into_iter().collect()
}

/// The unsupported features of one instruction.
fn features_of(instruction: Value<'_>, names: &Names) -> Vec<(String, Scope)> {
    let mut found = Vec::new();
    if let Some(text) = instruction.inline_assembly() {
        // An empty one only keeps the compiler from moving things.
        if let Some(first) = text
            .split(|c: char| c.is_whitespace() || "{};".contains(c))
            .find(|word| !word.is_empty())
        {
            found.push(match names.language {
                Language::AmdIr => {
                    (format!("inline assembly for AMD's GPUs (`{first}`)"), Scope::NotAmd)
                }
                Language::OtherIr => (
                    format!("inline assembly (`{first}`) in a module that is not for a GPU"),
                    Scope::Everywhere,
                ),
                _ => (format!("inline PTX (`{first}`)"), Scope::NotNvidia),
            });
        }
        return found;
    }
    for operand in instruction.operands() {
        let undefined = (operand.is_function() || operand.is_global()) && operand.is_declaration();
        if undefined && let Some(feature) = undefined_name(operand, names) {
            found.push(feature);
        }
    }
    found
}

/// Why something that is used and not there is unsupported.
fn undefined_name(value: Value<'_>, names: &Names) -> Option<(String, Scope)> {
    let name = value.name();
    if let Some(rest) = name.strip_prefix("llvm.") {
        let (vendor, _) = rest.split_once('.').unwrap_or((rest, ""));
        return match vendor {
            "nvvm" => {
                Some((format!("the instruction `{rest}` of NVIDIA's GPUs"), Scope::NotNvidia))
            }
            "amdgcn" | "r600" => {
                Some((format!("the instruction `{rest}` of AMD's GPUs"), Scope::NotAmd))
            }
            "x86" | "aarch64" | "arm" | "spv" => Some((
                format!("the instruction `{rest}`, which only one kind of processor has"),
                Scope::Everywhere,
            )),
            _ => None,
        };
    }
    if value.is_global() {
        // Shared memory whose size the launch gives has no definition anywhere.
        return (value.ty().address_space() != 3).then(|| {
            (
                format!("the variable `{}`, which this file does not define", plain(&name)),
                Scope::Everywhere,
            )
        });
    }
    let provided = name.starts_with(PREFIX) || link::provides(&name);
    let unreachable = value.has_attribute(Place::Function, "noreturn") && name == "abort";
    if matches!(names.language, Language::OpenCl | Language::OtherIr) && name.starts_with("_Z") {
        let name = plain(&name);
        let text = format!("a call of `{name}`, a built-in function that kernelmill does not have");
        return Some((text, Scope::Everywhere));
    }
    (!provided && !unreachable).then(|| {
        let name = plain(&name);
        let near = nearest_within(name, names.known.iter().cloned(), name.len() / 3);
        let near = near.map_or_else(String::new, |near| format!("; the nearest name is `{near}`"));
        (format!("a call of `{name}`, which this file does not define{near}"), Scope::Unlinked)
    })
}

/// The innermost name in a mangled one; other names as they are.
fn plain(symbol: &str) -> &str {
    let Some(rest) = symbol.strip_prefix("_Z") else { return symbol };
    let mut rest = rest.strip_prefix('N').unwrap_or(rest);
    let mut last = symbol;
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(length) = rest[..digits].parse::<usize>() else { return last };
        let Some(name) = rest.get(digits..digits + length) else { return last };
        (last, rest) = (name, &rest[digits + length..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_mangling() {
        for (symbol, name) in [
            ("_Z4scalPf", "scal"),
            ("_ZN2ns5innerEi", "inner"),
            ("plain", "plain"),
            ("_Zli", "_Zli"),
        ] {
            assert_eq!(plain(symbol), name);
        }
    }
}
