//! Workarounds for LLVM's NVPTX back end.

use std::collections::HashSet;

use kernelmill_llvm::{
    Version,
    inkwell::{context::Context, module::Module},
    ir::{AtomicOrdering, Builder, ModuleExt, Opcode, Place, Value, calling_convention},
};

/// The first major version of LLVM whose NVPTX back end keeps the order of an `atomicrmw`
/// (llvm-project pull request 179553).
const ORDERS_ATOMICRMW: u32 = 23;
/// That of a `cmpxchg` (llvm-project pull request 126159).
const ORDERS_CMPXCHG: u32 = 21;

/// Takes `noalias` from parameters of kernels through which memory is read atomically or as `volatile`.
///
/// `NVPTXDAGToDAGISel::tryLDG` selects `ld.global.nc` for each load from a `noalias` parameter that the
/// kernel does not write, without a look at what kind of load it is. LLVM 22 and before end the process on
/// an atomic one, and on a `volatile` one the loop that waits for a flag never ends. `__restrict__` on the
/// pointer is enough for that.
pub(super) fn keep_exact_loads(module: &Module<'_>) {
    for kernel in module.definitions() {
        if kernel.calling_convention() != calling_convention::PTX_KERNEL {
            continue;
        }
        for (index, parameter) in (0..).zip(kernel.parameters()) {
            let place = Place::Parameter(index);
            let is_promised = kernel.has_attribute(place, "noalias");
            if is_promised && !kernel.has_attribute(place, "byval") && is_read_exactly(parameter) {
                kernel.remove_attribute(place, "noalias");
            }
        }
    }
}

/// Puts fences around atomic operations whose order this version of LLVM's back end drops.
///
/// It selects a relaxed `atom` for each of them, so that what other threads wrote before a release is not
/// visible after the acquire. The fences are those of LLVM's `AtomicExpand`: a release or sequentially
/// consistent one before, an acquire one after.
pub(super) fn order_atomics<'c>(context: &'c Context, module: &Module<'c>, llvm: Version) {
    let loses_order = |opcode| match opcode {
        Opcode::AtomicRmw => llvm.major < ORDERS_ATOMICRMW,
        Opcode::AtomicCmpXchg => llvm.major < ORDERS_CMPXCHG,
        _ => false,
    };
    let builder = Builder::new(context);
    for function in module.definitions() {
        for atomic in function.instructions() {
            if loses_order(atomic.opcode()) {
                surround(&builder, atomic);
            }
        }
    }
}

/// Makes the order of an atomic operation that of fences around it. A load or store keeps its own too.
pub(in crate::target) fn surround<'c>(builder: &Builder<'c>, atomic: Value<'c>) {
    use AtomicOrdering::{
        Acquire, AcquireRelease, Monotonic, NotAtomic, Release, SequentiallyConsistent, Unknown,
        Unordered,
    };
    let mut orders = vec![atomic.ordering()];
    if atomic.opcode() == Opcode::AtomicCmpXchg {
        orders.push(atomic.failure_ordering());
    }
    let (mut before, mut after) = (None, false);
    for order in orders {
        match order {
            NotAtomic | Unordered | Monotonic => {}
            Acquire => after = true,
            Release => before = before.or(Some(Release)),
            AcquireRelease => (before, after) = (before.or(Some(Release)), true),
            // The strongest also stands for one that is not known.
            SequentiallyConsistent | Unknown(_) => {
                (before, after) = (Some(SequentiallyConsistent), true);
            }
        }
    }
    if let Some(order) = before {
        builder.before(atomic);
        builder.fence(order);
    }
    if after {
        let next = atomic.next_instruction().expect("a block ends with a terminator");
        builder.before(next);
        builder.fence(Acquire);
    }
    if matches!(atomic.opcode(), Opcode::AtomicRmw | Opcode::AtomicCmpXchg) {
        atomic.make_monotonic();
    }
}

/// Whether there is an atomic or volatile access at an address that is derived from this one.
fn is_read_exactly(address: Value<'_>) -> bool {
    let (mut seen, mut work) = (HashSet::from([address]), vec![address]);
    while let Some(value) = work.pop() {
        for user in value.users().into_iter().filter(|user| user.is_instruction()) {
            match user.opcode() {
                Opcode::Load | Opcode::Store if user.is_exact_access() => return true,
                Opcode::AtomicRmw | Opcode::AtomicCmpXchg => return true,
                Opcode::GetElementPtr
                | Opcode::AddrSpaceCast
                | Opcode::BitCast
                | Opcode::Phi
                | Opcode::Select
                | Opcode::Freeze
                    if seen.insert(user) =>
                {
                    work.push(user);
                }
                _ => {}
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernelmill_llvm::ir::parse_ir;

    use crate::base::loaded::open_llvm;

    /// The body of a function after the workaround for this version of LLVM, a line an instruction.
    fn ordered(atomic: &str, llvm: u32) -> Vec<String> {
        open_llvm();
        let context = Context::create();
        let text = format!("define void @use(ptr %at) {{\n  {atomic}\n  ret void\n}}\n");
        let module = parse_ir(&context, &text, "", "").expect("valid IR");
        let version = Version { major: llvm, minor: 1, patch: 0 };
        order_atomics(&context, &module, version);
        let text = module.to_text();
        let (_, body) = text.split_once("{\n").expect("a body");
        let lines = body.lines().take_while(|line| *line != "}");
        lines.map(|line| line.trim().to_owned()).collect()
    }

    #[test]
    fn the_order_of_an_atomicrmw_is_that_of_fences_before_llvm_23() {
        let add = |order| format!("%old = atomicrmw add ptr %at, i32 1 {order}, align 4");
        let [release, acquire, strict] =
            ["fence release", "fence acquire", "fence seq_cst"].map(str::to_owned);
        let bare = add("monotonic");
        let end = "ret void".to_owned();
        for (order, expected) in [
            ("monotonic", vec![bare.clone(), end.clone()]),
            ("acquire", vec![bare.clone(), acquire.clone(), end.clone()]),
            ("release", vec![release.clone(), bare.clone(), end.clone()]),
            ("acq_rel", vec![release, bare.clone(), acquire.clone(), end.clone()]),
            ("seq_cst", vec![strict, bare, acquire, end.clone()]),
        ] {
            assert_eq!(ordered(&add(order), 22), expected, "{order}");
            assert_eq!(ordered(&add(order), 23), [add(order), end.clone()], "{order}");
        }
    }

    #[test]
    fn the_order_of_a_cmpxchg_is_that_of_fences_before_llvm_21() {
        let exchange = |order| format!("%old = cmpxchg ptr %at, i32 0, i32 1 {order}, align 4");
        let (given, bare) = (exchange("release acquire"), exchange("monotonic monotonic"));
        assert_eq!(ordered(&given, 20), ["fence release", &*bare, "fence acquire", "ret void"]);
        assert_eq!(ordered(&given, 21), [&*given, "ret void"]);
    }
}
