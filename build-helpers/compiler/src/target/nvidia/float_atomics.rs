//! Atomic additions of floating-point numbers, as the instructions that there are for them.
//!
//! LLVM 22 makes `atom.global.add.f32` of an `atomicrmw fadd` of `float`. LLVM 23 makes a loop of compare-and-exchange of it,
//! unless the address is in shared memory or the function flushes denormal numbers. The reason: the instruction
//! "on global memory flushes subnormal inputs and results to sign-preserving zero; on shared memory supports subnormal
//! inputs and results" ([PTX ISA, atom]). CUDA C++ has the instruction for `atomicAdd` all the same, and the loop takes
//! some hundred times as long where many threads add to one number. So kernels have the instruction here too, and the
//! documents of `AtomicF32` and of `atomicAdd` say what it flushes.
//!
//! A subtraction is the addition of the negated number, which LLVM makes a loop of in every version.
//!
//! [PTX ISA, atom]: https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-atom

use kernelmill_llvm::{
    Version,
    inkwell::{context::Context, module::Module},
    ir::{
        AtomicOperation, AtomicOrdering, Builder, ModuleExt, Opcode, SyncScope, Type, TypeKind,
        Value,
    },
};

use super::workarounds::surround;

/// The first major version of LLVM that expands additions of `float` outside of shared memory.
const EXPANDS_FADD: u32 = 23;

/// The address space of generic addresses and that of global memory, with the part of the instruction's name.
const SPACES: [(u32, &str); 2] = [(0, ""), (1, ".global")];

/// The names of scopes in LLVM and in PTX. A cluster's is none of them, as old processors lack it.
const SCOPES: [(&str, &str); 3] = [("", "sys"), ("device", "gpu"), ("block", "cta")];

/// Makes instructions of additions and subtractions of numbers in memory. Needs: the loads that must be exact are known,
/// since an atomic operation is not seen any more in an instruction.
pub(super) fn make_native<'c>(context: &'c Context, module: &Module<'c>, llvm: Version) {
    let builder = Builder::new(context);
    for function in module.definitions() {
        for atomic in function.instructions() {
            let Some(addition) = as_addition(&builder, atomic) else { continue };
            if llvm.major >= EXPANDS_FADD
                && let Some(instruction) = Instruction::of(context, addition)
            {
                instruction.put(context, &builder, addition);
            }
        }
    }
}

/// The addition that an instruction is or becomes: one of `float` or `double`, aligned and not volatile.
fn as_addition<'c>(builder: &Builder<'c>, atomic: Value<'c>) -> Option<Value<'c>> {
    let operation = (atomic.opcode() == Opcode::AtomicRmw).then(|| atomic.atomic_operation())??;
    let bytes = match atomic.ty().kind() {
        TypeKind::Float => 4,
        TypeKind::Double => 8,
        _ => return None,
    };
    if atomic.alignment() < bytes {
        return None;
    }
    match operation {
        AtomicOperation::FAdd => Some(atomic),
        AtomicOperation::FSub => {
            builder.before(atomic);
            let negated = builder.negate_float(atomic.operand(1));
            let order = atomic.ordering();
            let addition = builder.atomic(AtomicOperation::FAdd, atomic.operand(0), negated, order);
            addition.set_sync_scope(atomic.sync_scope());
            atomic.replace_with(addition);
            atomic.erase();
            Some(addition)
        }
        _ => None,
    }
}

/// What the name of an instruction says of where it adds, and for whom.
struct Instruction {
    space: &'static str,
    scope: &'static str,
}

impl Instruction {
    /// The instruction for an addition that LLVM has none for.
    fn of(context: &Context, addition: Value<'_>) -> Option<Self> {
        if addition.ty().kind() != TypeKind::Float {
            return None;
        }
        let number = addition.operand(0).ty().address_space();
        let (_, space) = SPACES.into_iter().find(|(it, _)| *it == number)?;
        let named = addition.sync_scope();
        let (_, scope) =
            SCOPES.into_iter().find(|(name, _)| SyncScope::named(context, name) == named)?;
        Some(Self { space, scope })
    }

    /// Replaces the addition. One whose result nobody uses is a reduction, which no thread waits for.
    fn put<'c>(&self, context: &'c Context, builder: &Builder<'c>, addition: Value<'c>) {
        if addition.ordering() != AtomicOrdering::Monotonic {
            surround(builder, addition);
        }
        let Self { space, scope } = self;
        let arguments = [addition.operand(0), addition.operand(1)];
        builder.before(addition);
        builder.take_line(addition);
        let types = arguments.map(Value::ty);
        if addition.is_used() {
            let text = format!("atom.relaxed.{scope}{space}.add.f32 $0, [$1], $2;");
            let ty = addition.ty().function(&types);
            let old = builder.call_assembly(ty, &text, "=f,l,f,~{memory}", &arguments);
            addition.replace_with(old);
        } else {
            let text = format!("red.relaxed.{scope}{space}.add.f32 [$0], $1;");
            let ty = Type::void(context).function(&types);
            builder.call_assembly(ty, &text, "l,f,~{memory}", &arguments);
        }
        addition.erase();
    }
}

#[cfg(test)]
mod tests {
    use kernelmill_llvm::ir::parse_ir;

    use super::*;
    use crate::base::loaded::open_llvm;

    /// The body of a function with this line after the pass for a version of LLVM.
    fn passed(line: &str, llvm: u32) -> Vec<String> {
        open_llvm();
        let context = Context::create();
        let text = format!(
            "define void @use(ptr %p, ptr addrspace(1) %g, ptr addrspace(3) %s, float %v, double %d, half %h, \
             <2 x half> %w, ptr %out) {{\n{line}\nret void\n}}\n"
        );
        let module = parse_ir(&context, &text, "", "").expect("valid IR");
        make_native(&context, &module, Version { major: llvm, minor: 1, patch: 0 });
        module.verify().expect("valid IR after the pass");
        let text = module.to_text();
        let (_, body) = text.split_once("{\n").expect("a body");
        let lines = body.lines().take_while(|line| *line != "}").map(str::trim);
        lines.filter(|line| *line != "ret void").map(str::to_owned).collect()
    }

    /// The line of a call of inline assembly.
    fn reduction(name: &str, pointer: &str) -> String {
        format!(
            "call void asm sideeffect \"red.relaxed.{name}.add.f32 [$0], $1;\", \"l,f,~{{memory}}\"({pointer}, float %v)"
        )
    }

    #[test]
    fn the_instruction_has_the_scope_and_the_space() {
        for (pointer, space) in [("ptr %p", ""), ("ptr addrspace(1) %g", ".global")] {
            for (scope, name) in
                [("", "sys"), ("syncscope(\"device\")", "gpu"), ("syncscope(\"block\")", "cta")]
            {
                let line = format!("%o = atomicrmw fadd {pointer}, float %v {scope} monotonic");
                assert_eq!(passed(&line, 23), [reduction(&format!("{name}{space}"), pointer)]);
                let line = format!("{line}\nstore float %o, ptr %out");
                let found = passed(&line, 23);
                let text = format!(
                    "= call float asm sideeffect \"atom.relaxed.{name}{space}.add.f32 $0, [$1], $2;\", \
                     \"=f,l,f,~{{memory}}\"({pointer}, float %v)"
                );
                assert!(found[0].ends_with(&text) && found[1].starts_with("store "), "{found:?}");
            }
        }
    }

    #[test]
    fn orders_are_fences() {
        let red = reduction("sys", "ptr %p");
        let [release, acquire, strict] =
            ["fence release", "fence acquire", "fence seq_cst"].map(str::to_owned);
        for (order, expected) in [
            ("acquire", vec![red.clone(), acquire.clone()]),
            ("release", vec![release.clone(), red.clone()]),
            ("acq_rel", vec![release, red.clone(), acquire.clone()]),
            ("seq_cst", vec![strict, red, acquire]),
        ] {
            let line = format!("%o = atomicrmw fadd ptr %p, float %v {order}");
            assert_eq!(passed(&line, 23), expected, "{order}");
        }
    }

    /// What LLVM has an instruction for, and what PTX has none for.
    #[test]
    fn other_operations_stay_as_they_are() {
        for line in [
            "%o = atomicrmw fadd ptr addrspace(3) %s, float %v monotonic, align 4",
            "%o = atomicrmw fadd ptr %p, double %d monotonic, align 8",
            "%o = atomicrmw fadd ptr %p, half %h monotonic, align 2",
            "%o = atomicrmw fadd ptr %p, <2 x half> %w monotonic, align 4",
            "%o = atomicrmw volatile fadd ptr %p, float %v monotonic, align 4",
            "%o = atomicrmw fadd ptr %p, float %v monotonic, align 2",
            "%o = atomicrmw fadd ptr %p, float %v syncscope(\"singlethread\") monotonic, align 4",
            "%o = atomicrmw fadd ptr %p, float %v syncscope(\"cluster\") monotonic, align 4",
            "%o = atomicrmw fmin ptr %p, float %v monotonic, align 4",
            "%o = atomicrmw fmax ptr %p, float %v monotonic, align 4",
            "%o = atomicrmw fsub ptr %p, half %h monotonic, align 2",
            "%o = atomicrmw volatile fsub ptr %p, double %d monotonic, align 8",
            "%o = atomicrmw xchg ptr %p, float %v monotonic, align 4",
        ] {
            assert_eq!(passed(line, 23), [line]);
        }
    }

    #[test]
    fn llvm_22_has_the_instruction_itself() {
        let line = "%o = atomicrmw fadd ptr addrspace(1) %g, float %v acq_rel, align 4";
        assert_eq!(passed(line, 22), [line]);
    }

    #[test]
    fn subtractions_add_the_negated_number() {
        let order = "syncscope(\"device\") acq_rel, align";
        for (llvm, pointer, value, bytes) in [
            (23, "ptr addrspace(1) %g", "double %d", 8),
            (23, "ptr addrspace(3) %s", "float %v", 4),
            (22, "ptr %p", "float %v", 4),
        ] {
            let line = format!("%o = atomicrmw fsub {pointer}, {value} {order} {bytes}");
            let (ty, _) = value.split_once(' ').unwrap();
            let expected = [
                format!("%1 = fneg {value}"),
                format!("%2 = atomicrmw fadd {pointer}, {ty} %1 {order} {bytes}"),
            ];
            assert_eq!(passed(&line, llvm), expected);
        }
        let found = passed("%o = atomicrmw fsub ptr %p, float %v monotonic", 23);
        let expected = reduction("sys", "ptr %p").replace("%v", "%1");
        assert_eq!(found, ["%1 = fneg float %v".to_owned(), expected]);
    }
}
