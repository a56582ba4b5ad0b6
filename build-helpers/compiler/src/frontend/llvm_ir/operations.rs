//! Operations of other vendors as the operations that kernels in Rust use: indices, sizes, barriers, fences,
//! and the mathematical functions of their libraries.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, Linkage, ModuleExt, Opcode, Type, Value, parse_ir},
    machine::Machine,
};

use crate::{Error, base::names::PREFIX, ir::calls_of, passes::link};

/// Functions in place of those of other vendors.
const TEXT: &str = include_str!("operations.ll");

/// Intrinsics, and the operations of the same type.
const SAME: [(&str, &str); 23] = [
    ("llvm.nvvm.read.ptx.sreg.tid.x", "thread_idx_x"),
    ("llvm.nvvm.read.ptx.sreg.tid.y", "thread_idx_y"),
    ("llvm.nvvm.read.ptx.sreg.tid.z", "thread_idx_z"),
    ("llvm.nvvm.read.ptx.sreg.ctaid.x", "block_idx_x"),
    ("llvm.nvvm.read.ptx.sreg.ctaid.y", "block_idx_y"),
    ("llvm.nvvm.read.ptx.sreg.ctaid.z", "block_idx_z"),
    ("llvm.nvvm.read.ptx.sreg.ntid.x", "block_dim_x"),
    ("llvm.nvvm.read.ptx.sreg.ntid.y", "block_dim_y"),
    ("llvm.nvvm.read.ptx.sreg.ntid.z", "block_dim_z"),
    ("llvm.nvvm.read.ptx.sreg.nctaid.x", "grid_dim_x"),
    ("llvm.nvvm.read.ptx.sreg.nctaid.y", "grid_dim_y"),
    ("llvm.nvvm.read.ptx.sreg.nctaid.z", "grid_dim_z"),
    ("llvm.nvvm.read.ptx.sreg.laneid", "lane_id"),
    ("llvm.nvvm.barrier0", "barrier"),
    ("llvm.nvvm.membar.cta", "fence_block"),
    ("llvm.nvvm.membar.gl", "fence_device"),
    ("llvm.amdgcn.workitem.id.x", "thread_idx_x"),
    ("llvm.amdgcn.workitem.id.y", "thread_idx_y"),
    ("llvm.amdgcn.workitem.id.z", "thread_idx_z"),
    ("llvm.amdgcn.workgroup.id.x", "block_idx_x"),
    ("llvm.amdgcn.workgroup.id.y", "block_idx_y"),
    ("llvm.amdgcn.workgroup.id.z", "block_idx_z"),
    ("llvm.amdgcn.s.barrier", "barrier"),
];

/// The barrier of a whole block with a number, of which 0 is that of `__syncthreads`.
const NUMBERED_BARRIER: &str = "llvm.nvvm.barrier.cta.sync.aligned.all";

/// Memory that AMD's run time fills, what fills it here, and what the call becomes before address spaces go: its
/// result is a pointer into one.
const FILLED: [(&str, &str); 2] = [
    ("llvm.amdgcn.implicitarg.ptr", "kernelmill.implicit"),
    ("llvm.amdgcn.dispatch.ptr", "kernelmill.dispatch"),
];
/// The bytes of either, at the most.
const FILLED_BYTES: u64 = 256;

/// Replaces AMD's intrinsics that give memory by calls with another result, which has no address space.
pub(super) fn settle_memory(module: &Module<'_>) {
    for (intrinsic, _) in FILLED {
        if let Some(function) = ModuleExt::function(module, intrinsic) {
            let ty = function.value_type();
            let ours = module.declare(&placeholder(intrinsic), ty);
            function.replace_with(ours);
            function.delete_function();
        }
    }
}

/// Whether an intrinsic gives memory that is filled here.
pub(super) fn gives_memory(name: &str) -> bool {
    FILLED.iter().any(|(intrinsic, _)| *intrinsic == name)
}

/// What stands for an intrinsic that gives memory meanwhile.
fn placeholder(intrinsic: &str) -> String {
    format!("kernelmill.{}", intrinsic.trim_start_matches("llvm."))
}

/// Replaces what other vendors have by the operations that every target has.
pub(super) fn settle<'c>(
    context: &'c Context,
    machine: &Machine,
    module: &Module<'c>,
) -> Result<(), Error> {
    for (intrinsic, operation) in SAME {
        if let Some(function) = ModuleExt::function(module, intrinsic) {
            let ours = module.declare(&format!("{PREFIX}{operation}"), function.value_type());
            function.replace_with(ours);
        }
    }
    drop_casts(module);
    settle_barriers(context, module);
    settle_mathematics(module);
    let ours = parse_ir(context, TEXT, machine.data_layout(), machine.triple())?;
    // Only what the module calls comes along, and what the file defines itself stays its own.
    let given = ours.definitions();
    given.iter().for_each(|function| function.set_linkage(Linkage::LinkOnceOdr));
    let given: Vec<_> = given.iter().map(|function| function.name()).collect();
    let wanted = FILLED
        .iter()
        .filter(|(intrinsic, _)| ModuleExt::function(module, &placeholder(intrinsic)).is_some());
    for (_, fill) in wanted {
        let ty = Type::void(context).function(&[Type::pointer(context, 0)]);
        module.declare(fill, ty);
    }
    module.link(ours)?;
    for name in given {
        if let Some(function) = ModuleExt::function(module, &name) {
            function.set_linkage(Linkage::Internal);
        }
    }
    fill_memory(context, module);
    Ok(machine.run(module, "globaldce")?)
}

/// Drops casts of pointers to their own type, which casts between address spaces have become.
fn drop_casts(module: &Module<'_>) {
    for instruction in module.definitions().into_iter().flat_map(Value::instructions) {
        let is_cast = instruction.opcode() == Opcode::BitCast
            && instruction.ty() == instruction.operand(0).ty();
        if is_cast {
            instruction.replace_with(instruction.operand(0));
            instruction.erase();
        }
    }
}

/// Replaces barriers whose number is 0.
fn settle_barriers<'c>(context: &'c Context, module: &Module<'c>) {
    let Some(numbered) = ModuleExt::function(module, NUMBERED_BARRIER) else { return };
    let builder = Builder::new(context);
    let ours = module.declare(&format!("{PREFIX}barrier"), Type::void(context).function(&[]));
    for call in calls_of(numbered) {
        if call.arguments().first().and_then(|number| number.as_u64()) == Some(0) {
            builder.before(call);
            builder.take_line(call);
            builder.call(ours, &[]);
            call.erase();
        }
    }
    if !numbered.is_used() {
        numbered.delete_function();
    }
}

/// Renames the functions of libdevice and of ocml that C's library has too.
fn settle_mathematics(module: &Module<'_>) {
    for function in module.functions().into_iter().filter(|it| it.is_declaration()) {
        let Some(name) = in_c(&function.name()) else { continue };
        let intrinsic = in_llvm(&name);
        if let Some(name) = intrinsic.or_else(|| link::provides(&name).then_some(name)) {
            let ours = module.declare(&name, function.value_type());
            function.replace_with(ours);
            function.delete_function();
        }
    }
}

/// The name in C of a function of NVIDIA's or AMD's library.
fn in_c(name: &str) -> Option<String> {
    if let Some(name) = name.strip_prefix("__nv_") {
        return Some(name.to_owned());
    }
    let (name, ty) = name.strip_prefix("__ocml_")?.rsplit_once('_')?;
    match ty {
        "f32" => Some(format!("{name}f")),
        "f64" => Some(name.to_owned()),
        _ => None,
    }
}

/// The functions of C that every target has instructions for, by LLVM's names.
const INSTRUCTIONS: [(&str, &str); 12] = [
    ("sqrt", "sqrt"),
    ("fabs", "fabs"),
    ("floor", "floor"),
    ("ceil", "ceil"),
    ("trunc", "trunc"),
    ("rint", "rint"),
    ("nearbyint", "nearbyint"),
    ("round", "round"),
    ("fma", "fma"),
    ("copysign", "copysign"),
    ("fmin", "minnum"),
    ("fmax", "maxnum"),
];

/// The intrinsic for a function of C.
fn in_llvm(name: &str) -> Option<String> {
    let of = |name: &str| INSTRUCTIONS.iter().find(|(function, _)| *function == name);
    match (of(name), name.strip_suffix('f').and_then(of)) {
        (Some((_, llvm)), _) => Some(format!("llvm.{llvm}.f64")),
        (None, Some((_, llvm))) => Some(format!("llvm.{llvm}.f32")),
        (None, None) => None,
    }
}

/// Gives functions that read memory of AMD's run time such memory, filled with what this launch is.
fn fill_memory<'c>(context: &'c Context, module: &Module<'c>) {
    let builder = Builder::new(context);
    let bytes = Type::int(context, 8).array(FILLED_BYTES);
    for (intrinsic, fill) in FILLED {
        let Some(function) = ModuleExt::function(module, &placeholder(intrinsic)) else { continue };
        let Some(fill) = ModuleExt::function(module, fill) else { continue };
        for call in calls_of(function) {
            let memory = filled(&builder, call, bytes, fill);
            call.replace_with(memory);
            call.erase();
        }
        function.delete_function();
    }
}

/// Memory that is filled where its function starts.
fn filled<'c>(
    builder: &Builder<'c>,
    call: Value<'c>,
    bytes: Type<'c>,
    fill: Value<'c>,
) -> Value<'c> {
    builder.before(call.block().function().blocks()[0].instructions()[0]);
    let memory = builder.alloca(bytes);
    memory.set_alignment(8);
    builder.call(fill, &[memory]);
    memory
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_vendors_libraries_have_names_in_c() {
        for (name, expected) in [
            ("__nv_sinf", Some("sinf")),
            ("__nv_exp", Some("exp")),
            ("__ocml_pow_f32", Some("powf")),
            ("__ocml_native_recip_f16", None),
            ("__ocml_sqrt_f64", Some("sqrt")),
            ("sinf", None),
        ] {
            assert_eq!(in_c(name).as_deref(), expected);
        }
        assert_eq!(in_llvm("fmaf").as_deref(), Some("llvm.fma.f32"));
        assert_eq!(in_llvm("fmax").as_deref(), Some("llvm.maxnum.f64"));
        assert_eq!(in_llvm("sin"), None);
    }
}
