//! What LLVM has for the host alone: a back end that meets it in a kernel ends the whole process.

use crate::diagnostic::Code;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, ModuleExt, Type, TypeKind, Value},
};

use crate::passes::call_chains::CallChains;
use crate::{diagnostic::Fault, target_info::TargetInfo};

/// What the address of such a variable is replaced by.
pub(super) const THREAD_LOCAL: &str = "__kernelmill_thread_local";

/// The names of LLVM's back ends, by which it names the instructions of processors.
const PROCESSORS: [&str; 12] = [
    "aarch64",
    "amdgcn",
    "arm",
    "bpf",
    "hexagon",
    "loongarch",
    "mips",
    "nvvm",
    "ppc",
    "riscv",
    "wasm",
    "x86",
];

/// Everything in a module that the target's back end cannot take.
pub(super) fn find<'c>(
    module: &Module<'c>,
    backend: &dyn TargetInfo,
    call_chains: &CallChains<'c>,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    for function in module.definitions() {
        for instruction in function.instructions() {
            if let Some(fault) = fault(instruction, backend) {
                faults.push(Fault { frames: call_chains.to(instruction), ..fault });
            }
        }
    }
    faults
}

/// Marks uses of variables of which each thread of the host has its own, so that those which are
/// still there after optimisation are known. On a GPU they would become one variable for all; on the
/// CPU one thread of the host runs many threads of a launch, which would share one.
pub(super) fn mark_thread_locals<'c>(context: &'c Context, module: &Module<'c>) {
    let builder = Builder::new(context);
    let pointer = Type::pointer(context, 0);
    for function in module.functions() {
        if !function.name().starts_with("llvm.threadlocal.address.") {
            continue;
        }
        let marker = module.declare(THREAD_LOCAL, pointer.function(&[]));
        for call in function.users().into_iter().filter(|user| user.is_call()) {
            builder.before(call);
            call.replace_with(builder.call(marker, &[]));
            call.erase();
        }
    }
}

/// What is wrong with an instruction.
fn fault(instruction: Value<'_>, backend: &dyn TargetInfo) -> Option<Fault> {
    lacking_type(instruction, backend)
        .or_else(|| instruction.is_call().then(|| call(instruction, backend)).flatten())
}

fn lacking_type(instruction: Value<'_>, backend: &dyn TargetInfo) -> Option<Fault> {
    let operands = instruction.operands().into_iter().map(Value::ty);
    let kinds = operands.chain([instruction.ty()]).map(scalar_kind);
    let lacking = kinds.into_iter().find(|kind| backend.lacks(*kind))?;
    let message = format!("uses {}, which the target lacks", type_name(lacking));
    Some(Fault::new(Code::OtherMachine, message, Vec::new()).help(type_help(lacking)))
}

/// The kind of a type, or of a vector's elements.
fn scalar_kind(ty: Type<'_>) -> TypeKind {
    match ty.kind() {
        TypeKind::Vector => ty.element().kind(),
        kind => kind,
    }
}

fn type_name(kind: TypeKind) -> &'static str {
    match kind {
        TypeKind::Half => "numbers of type `f16`",
        TypeKind::BFloat => "numbers of type `bf16`",
        TypeKind::Double => "numbers of type `f64`",
        TypeKind::Fp128 => "numbers of type `f128`",
        TypeKind::X86Fp80 => "numbers of 80 bits",
        _ => "a type of the host's processor",
    }
}

fn type_help(kind: TypeKind) -> &'static str {
    match kind {
        TypeKind::Half | TypeKind::BFloat => {
            "compute with `f32`, and convert when you load and store"
        }
        TypeKind::Double => "compute with `f32`",
        TypeKind::Fp128 | TypeKind::X86Fp80 => "compute with `f64`",
        _ => "leave the target out, or write the kernel without it",
    }
}

fn call(call: Value<'_>, backend: &dyn TargetInfo) -> Option<Fault> {
    if let Some(text) = call.inline_assembly() {
        let first = text.split(|c: char| c.is_whitespace() || "{};".contains(c));
        let first = first.into_iter().find(|word| !word.is_empty())?;
        if backend.takes_assembly() && !call.is_intel_assembly() {
            return None;
        }
        if !backend.is_gpu() {
            return None;
        }
        let message = format!("has inline assembly of another processor (`{first}`)");
        return Some(Fault::new(Code::OtherMachine, message, Vec::new()).help(
            "put it under `#[cfg]`, and write its effect in plain code for the other targets",
        ));
    }
    match call.called_function() {
        Some(callee) => {
            let name = callee.name();
            let (processor, _) = name.strip_prefix("llvm.")?.split_once('.')?;
            let foreign =
                PROCESSORS.contains(&processor) && !backend.processors().contains(&processor);
            let message = format!("uses the instruction `{}` of another processor", &name[5..]);
            foreign.then(|| {
                Fault::new(Code::OtherMachine, message, Vec::new())
                    .help("write its effect in plain code, which the compiler vectorises")
            })
        }
        None if !backend.calls_pointers() => {
            let message = "calls a function through a pointer, which the target does not support";
            Some(Fault::new(Code::OtherMachine, message, Vec::new()).help(
                "use generics instead of `dyn Trait` and `fn` pointers, or `match` over an `enum`",
            ))
        }
        None => None,
    }
}
