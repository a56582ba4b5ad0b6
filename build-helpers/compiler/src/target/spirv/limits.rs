//! What SPIR-V for OpenCL has not, and what LLVM's back end for it would pass on as something else.
//!
//! That back end widens integers of other widths than those of SPIR-V without cutting their results, and knows nothing
//! of what an intrinsic is that it has no rule for. So everything that is not known to be right is refused, with its line.

use kernelmill_artifact::{Parameter, ParameterKind, Signature, Target};
use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{AtomicOperation, ModuleExt, Opcode, Type, Value, calling_convention},
};

use super::{expansions, spaces, uniformity, updates, variables};
use crate::{
    base::demangle::demangle,
    diagnostic::{Code, Fault, Frame},
    passes::call_chains::CallChains,
};

/// The intrinsic that stands for the end of a thread until panics are inlined.
pub(super) const END: &str = "llvm.trap";

/// Functions of OpenCL C that the target's operations and what stands for wide integers call.
pub(super) const BUILT_IN: [&str; 6] = [
    "_Z12get_local_idj",
    "_Z12get_group_idj",
    "_Z14get_local_sizej",
    "_Z14get_num_groupsj",
    "_Z7barrierj",
    "_Z6mul_himm",
];

/// Intrinsics that the back end has right code for, by the part of their names before the type.
const INTRINSICS: [&str; 34] = [
    "fma",
    "sqrt",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "round",
    "roundeven",
    "nearbyint",
    "fabs",
    "copysign",
    "minnum",
    "maxnum",
    "ctlz",
    "cttz",
    "ctpop",
    "umin",
    "umax",
    "smin",
    "smax",
    "abs",
    "bswap",
    "uadd.sat",
    "usub.sat",
    "sadd.sat",
    "ssub.sat",
    "uadd.with.overflow",
    "usub.with.overflow",
    "umul.with.overflow",
    "memcpy",
    "memset",
    "fmuladd",
    "maximumnum",
    "minimumnum",
];

/// Parts of the names of operations, and what they are.
const MISSING: [(&str, &str); 4] = [
    ("dynamic_shared", "dynamic shared memory in a function that is not inlined into the kernel"),
    ("grid_workspace", "barriers of the grid"),
    ("grid_barrier", "barriers of the grid"),
    ("alloc", "a heap"),
];

/// What an operation is that the target does not have.
pub(in crate::target) fn missing(operation: &str) -> Option<&'static str> {
    MISSING.iter().find(|(start, _)| operation.starts_with(start)).map(|(_, what)| *what)
}

/// A fault for each thing that is not known to be right.
pub(super) fn find<'c>(module: &Module<'c>, call_chains: &CallChains<'c>) -> Vec<Fault> {
    let target = &Target::Spirv64;
    let mut faults = of_functions(target, module, call_chains);
    for function in module.definitions() {
        for (barrier, branch) in uniformity::divergent_barriers(function) {
            let branch = call_chains.to(branch);
            let branch = branch.iter().find(|frame| !frame.library && frame.line > 0);
            faults.push(divergent_barrier(call_chains.to(barrier), branch.map(|it| it.line)));
        }
        let is_kernel = function.calling_convention() == calling_convention::SPIR_KERNEL;
        for instruction in function.instructions() {
            if let Some(what) = of_instruction(instruction, is_kernel) {
                faults.push(fault(target, what, call_chains.to(instruction)));
            }
        }
    }
    faults
}

/// A barrier that not all threads of a block reach together, which part in this line.
pub(in crate::target) fn divergent_barrier(frames: Vec<Frame>, line: Option<u32>) -> Fault {
    let place = line.map_or_else(String::new, |line| format!(" in line {line}"));
    let message = format!(
        "reaches a barrier, or a warp-level primitive, which is a barrier here, that not all threads of a block \
         reach together: they diverge{place}, by a return, a panic or a branch"
    );
    let help = "let all threads reach it: put conditions around the code between barriers only, and use `get` for \
                an index that may be out of bounds";
    Fault::new(Code::Barrier, message, frames).help(help)
}

/// A fault for each variable without memory, and each function that calls itself.
pub(in crate::target) fn of_functions<'c>(
    target: &Target,
    module: &Module<'c>,
    call_chains: &CallChains<'c>,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (variable, using) in variables::used(module) {
        faults.push(fault(target, format!("uses {variable}"), call_chains.to(using)));
    }
    for function in module.definitions() {
        let is_kernel = function.calling_convention() == calling_convention::SPIR_KERNEL;
        let calls_itself = crate::ir::reachable(function)
            .into_iter()
            .filter(|it| it.is_function() && !it.is_declaration())
            .flat_map(Value::calls)
            .any(|call| call.called_function() == Some(function));
        if !is_kernel && calls_itself {
            let message = format!("calls `{}` recursively", demangle(&function.name()));
            faults.push(fault(target, message, call_chains.to_start_of(function)));
        }
    }
    faults
}

/// A fault for a kernel with parameters that an OpenCL device cannot be given.
pub(in crate::target) fn of_parameters(target: &Target, kernel: &Signature) -> Option<Fault> {
    let is_map = |it: &Parameter| matches!(it.kind, ParameterKind::TensorMap { .. });
    kernel.parameters.iter().any(is_map).then(|| {
        let (function, file) = (kernel.name.to_string(), kernel.file.to_string());
        let frame = Frame { function, file, line: kernel.line, library: false };
        fault(target, "has a tensor map as a parameter".to_owned(), vec![frame])
    })
}

/// A fault about what a target has not.
pub(in crate::target) fn fault(target: &Target, message: String, frames: Vec<Frame>) -> Fault {
    let message = format!("{message}, which {target} does not support");
    Fault::new(Code::Unsupported, message, frames).help("leave the target out for this kernel")
}

/// What an instruction does that the target cannot.
fn of_instruction(instruction: Value<'_>, is_kernel: bool) -> Option<String> {
    let operands = instruction.operands();
    let callee = instruction.callee();
    let values = operands.iter().copied().filter(|it| Some(*it) != callee);
    if let Some(what) = values.chain([instruction]).find_map(|value| of_type(value.ty())) {
        return Some(what);
    }
    let is_address = |it: &&Value<'_>| it.is_function() && Some(**it) != callee;
    if operands.iter().any(|it| is_address(&it)) {
        return Some("uses the address of a function".to_owned());
    }
    match instruction.opcode() {
        Opcode::Call => of_call(instruction, is_kernel),
        Opcode::AtomicRmw => {
            let plain = match instruction.atomic_operation() {
                Some(operation) => PLAIN.contains(&operation),
                None => false,
            };
            match plain {
                true => of_atomic(instruction.operand(0), instruction.operand(1).ty()),
                // In other memory they have become functions.
                false if updates::is_update(instruction) => Some(ANY_MEMORY.to_owned()),
                false => Some("uses an atomic operation other than of integers".to_owned()),
            }
        }
        Opcode::AtomicCmpXchg => of_atomic(instruction.operand(0), instruction.operand(1).ty()),
        Opcode::Load if instruction.ordering() != NOT_ATOMIC => {
            of_atomic(instruction.operand(0), instruction.ty())
                .or(Some("uses an atomic operation of this type".to_owned()))
        }
        Opcode::Store if instruction.ordering() != NOT_ATOMIC => {
            of_atomic(instruction.operand(1), instruction.operand(0).ty())
                .or(Some("uses an atomic operation of this type".to_owned()))
        }
        _ => None,
    }
}

const NOT_ATOMIC: kernelmill_llvm::ir::AtomicOrdering =
    kernelmill_llvm::ir::AtomicOrdering::NotAtomic;

/// Operations of integers that every device has.
const PLAIN: [AtomicOperation; 10] = [
    AtomicOperation::Xchg,
    AtomicOperation::Add,
    AtomicOperation::Sub,
    AtomicOperation::And,
    AtomicOperation::Or,
    AtomicOperation::Xor,
    AtomicOperation::Max,
    AtomicOperation::Min,
    AtomicOperation::UMax,
    AtomicOperation::UMin,
];

const ANY_MEMORY: &str = "uses an atomic operation on memory that may be global or shared";

fn of_atomic(pointer: Value<'_>, ty: Type<'_>) -> Option<String> {
    if !matches!(ty.int_width(), Some(32 | 64)) {
        return Some("uses an atomic operation of other than 32 or 64 bits".to_owned());
    }
    let is_known = matches!(pointer.ty().address_space(), spaces::GLOBAL | spaces::SHARED);
    (!is_known).then(|| ANY_MEMORY.to_owned())
}

fn of_call(call: Value<'_>, is_kernel: bool) -> Option<String> {
    let Some(callee) = call.called_function() else {
        return Some("calls a function through a pointer".to_owned());
    };
    let name = callee.name();
    let rest = name.strip_prefix("llvm.").filter(|_| callee.is_intrinsic())?;
    if name == END {
        let place =
            if is_kernel { "" } else { " in a function that is not inlined into the kernel" };
        return Some(format!("ends its thread{place}"));
    }
    if expansions::has(&name) {
        return None;
    }
    let is_known = INTRINSICS.iter().any(|known| {
        rest.strip_prefix(known).is_some_and(|types| types.is_empty() || types.starts_with('.'))
    });
    let is_transfer = rest.starts_with("memcpy") || rest.starts_with("memset");
    if is_transfer && call.operand(2).as_u64().is_none() {
        return Some("copies or fills memory of a length that is not constant".to_owned());
    }
    (!is_known).then(|| format!("uses LLVM's intrinsic `{name}`"))
}

/// What a type is that the target has not.
fn of_type(ty: Type<'_>) -> Option<String> {
    use kernelmill_llvm::ir::TypeKind;
    match ty.kind() {
        TypeKind::Integer => {
            let width = ty.int_width()?;
            (!matches!(width, 1 | 8 | 16 | 32 | 64))
                .then(|| format!("computes with integers of {width} bits"))
        }
        TypeKind::Vector => {
            let lanes = ty.lanes()?;
            let odd = (!matches!(lanes, 2 | 3 | 4 | 8 | 16))
                .then(|| format!("computes with vectors of {lanes} elements"));
            odd.or_else(|| of_type(ty.element()))
        }
        TypeKind::Struct => ty.fields().into_iter().find_map(of_type),
        _ => None,
    }
}
