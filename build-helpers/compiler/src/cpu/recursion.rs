//! Stack checks: a function that can come to call itself tests at its start what is left of the stack of the
//! thread of the host. Where that does not suffice, its thread of the launch ends as by a panic.
//!
//! [`mark`] needs: functions that are to be inlined are marked. It marks each function on a cycle of calls, so that no pass
//! takes it for one that always returns. [`settle`] needs: simplified functions. Guarantees: those that are still on
//! a cycle have one mark, at their start, and no other function has one.
//!
//! A call through a pointer can lead to every function whose address is taken. The library's own functions are left out of
//! such cycles, but for destructors: a recursion has a function of the kernel's author on it, and formatting code,
//! which every panic has, would be taken for one.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::{
    ir::{Builder, IntPredicate, ModuleExt, Place, Type, Value},
    machine::Machine,
};

use super::{
    abi::{block, field, item},
    context::thread_local,
    operation::STACK_CHECK,
};
use crate::{
    base::{demangle::demangle, names::SHIM_PREFIX},
    ir::{Frames, allocas, calls_of, calls_pointers, is_addressed, path, reachable},
    passes::entry::Unit,
};

/// Bytes of stack that must be left below a function and what it calls: for what the code generator puts there,
/// and for the run time's part.
const RESERVE: u64 = 64 << 10;

/// Marks the functions on cycles of calls.
pub(super) fn mark(unit: &Unit<'_, '_>) {
    for function in recursive(unit) {
        insert(unit, function);
    }
}

/// Marks those that are still on cycles, at their start, and no other; with the kernels that come to each.
pub(super) fn settle<'c>(unit: &Unit<'_, 'c>) -> Checked<'c> {
    let Some(mark) = unit.module.functions().into_iter().find(|it| it.name() == STACK_CHECK) else {
        return HashMap::new();
    };
    calls_of(mark).into_iter().for_each(Value::erase);
    let mut found: HashMap<_, _> =
        recursive(unit).into_iter().map(|function| (function, Vec::new())).collect();
    found.keys().for_each(|function| insert(unit, *function));
    for shim in unit.module.definitions() {
        if let Some(kernel) = shim.name().strip_prefix(SHIM_PREFIX) {
            for function in reachable(shim) {
                if let Some(kernels) = found.get_mut(&function) {
                    kernels.push(kernel.to_owned());
                }
            }
        }
    }
    found
}

/// Marks a function at its start.
fn insert(unit: &Unit<'_, '_>, function: Value<'_>) {
    let mark = unit.module.declare(STACK_CHECK, Type::void(unit.context).function(&[]));
    mark.add_attribute(unit.context, Place::Function, "nounwind", 0);
    let builder = Builder::new(unit.context);
    builder.before(function.instructions()[0]);
    builder.call(mark, &[]);
}

/// Who calls whom, of the functions that a module defines.
struct Calls<'c> {
    by_name: HashMap<Value<'c>, Vec<Value<'c>>>,
    /// The functions that call through pointers.
    indirect: HashSet<Value<'c>>,
    /// The functions whose address is taken.
    addressed: Vec<Value<'c>>,
}

impl<'c> Calls<'c> {
    fn new(functions: &[Value<'c>]) -> Self {
        let (mut by_name, mut indirect) = (HashMap::new(), HashSet::new());
        for function in functions {
            let mut callees = Vec::new();
            for call in function.calls() {
                match call.called_function() {
                    Some(callee) if callee.is_declaration() => {}
                    Some(callee) => callees.push(callee),
                    None if call.inline_assembly().is_some() => {}
                    None => _ = indirect.insert(*function),
                }
            }
            by_name.insert(*function, callees);
        }
        let addressed = functions.iter().copied().filter(|it| is_addressed(*it)).collect();
        Self { by_name, indirect, addressed }
    }

    /// The functions that a function may call.
    fn of(&self, function: Value<'c>, through_pointers: bool) -> impl Iterator<Item = Value<'c>> {
        let named = self.by_name.get(&function).into_iter().flatten();
        let is_indirect = through_pointers && self.indirect.contains(&function);
        let others = is_indirect.then_some(&self.addressed).into_iter().flatten();
        named.chain(others).copied()
    }

    /// The functions that can come to call themselves.
    fn on_cycles(&self, through_pointers: bool) -> HashSet<Value<'c>> {
        let mut left: HashSet<_> = self.by_name.keys().copied().collect();
        // Those that lead to no cycle go first, which costs next to nothing.
        loop {
            let before = left.len();
            let kept = left.iter().copied();
            let kept =
                kept.filter(|it| self.of(*it, through_pointers).any(|to| left.contains(&to)));
            let kept: HashSet<_> = kept.collect();
            left = kept;
            if left.len() == before {
                break;
            }
        }
        let returns = |start: &Value<'c>| {
            let (mut seen, mut work) = (HashSet::new(), vec![*start]);
            while let Some(function) = work.pop() {
                for callee in self.of(function, through_pointers) {
                    if callee == *start {
                        return true;
                    }
                    if left.contains(&callee) && seen.insert(callee) {
                        work.push(callee);
                    }
                }
            }
            false
        };
        left.iter().copied().filter(returns).collect()
    }
}

/// The functions of a module that are to be checked, in its order.
fn recursive<'c>(unit: &Unit<'_, 'c>) -> Vec<Value<'c>> {
    let functions = unit.module.definitions();
    let calls = Calls::new(&functions);
    let mut found = calls.on_cycles(false);
    let through_pointers = calls.on_cycles(true);
    found.extend(through_pointers.into_iter().filter(|function| !is_of_library(*function)));
    functions.into_iter().filter(|function| found.contains(function)).collect()
}

/// Whether a function is of Rust's library or of the device library, and no destructor.
fn is_of_library(function: Value<'_>) -> bool {
    let path = path(function);
    if path.contains("drop_glue") || path.contains("drop_in_place") {
        return false;
    }
    let start = path.trim_start_matches(|it: char| !it.is_alphabetic() && it != '_');
    let start = start.trim_start_matches("mut ").trim_start_matches("dyn ");
    let head = start.split(['<', '>', ' ', ',']).next().unwrap_or("");
    let is_primitive = path.starts_with('<') && !head.contains("::");
    ["core::", "alloc::", "std::", "kernelmill_device::"].iter().any(|it| head.starts_with(it))
        || is_primitive
}

/// The functions that are checked, with the kernels that come to each.
pub(super) type Checked<'c> = HashMap<Value<'c>, Vec<String>>;

/// What the checks of a module are built from.
pub(super) struct Checks<'u, 'a, 'c> {
    unit: &'u Unit<'a, 'c>,
    checked: &'u Checked<'c>,
    /// The bytes of each of them, with those of what it calls.
    bytes: HashMap<Value<'c>, u64>,
    /// The most that any function of the module takes so.
    most: u64,
}

impl<'u, 'a, 'c> Checks<'u, 'a, 'c> {
    pub(super) fn new(unit: &'u Unit<'a, 'c>, machine: &Machine, checked: &'u Checked<'c>) -> Self {
        // Asked one by one: what is known of a function on a cycle depends on where the way to it began.
        let deepest = |function| Frames::new(machine).deepest(function);
        let bytes: HashMap<_, _> = checked.keys().map(|it| (*it, deepest(*it))).collect();
        let mut frames = Frames::new(machine);
        let functions = if bytes.is_empty() { Vec::new() } else { unit.module.definitions() };
        let most = functions.into_iter().map(|it| frames.deepest(it)).max();
        let most = bytes.values().copied().chain(most).max().unwrap_or(0);
        Self { unit, checked, bytes, most }
    }

    /// Builds the check in place of its mark; the call in it after which the thread ends.
    pub(super) fn build(&self, mark: Value<'c>) -> Value<'c> {
        let context = self.unit.context;
        let (rest, builder) = (mark.block(), Builder::new(context));
        let function = rest.function();
        // What is allocated behind the start of a function would be allocated again each time.
        builder.before(mark);
        for alloca in allocas(function).into_iter().filter(|alloca| alloca.block() == rest) {
            builder.move_here(alloca);
        }
        let start = rest.split_before(context, mark, "stack_check");
        let over = rest.insert_before(context, "stack_overflow");
        builder.at_end(start);
        let (wide, pointer) = (Type::int(context, 64), Type::pointer(context, 0));
        let frame = self.unit.module.intrinsic("llvm.frameaddress", &[pointer]);
        let frame = builder.call(frame, &[Type::int(context, 32).constant(0)]);
        let at = builder.pointer_to_int(frame, wide);
        let thread = thread_local(self.unit);
        let of_launch = field(context, &builder, pointer, thread, item::BLOCK);
        let limit = field(context, &builder, wide, of_launch, block::STACK_LIMIT);
        let least = builder.add(limit, wide.constant(self.needed(function)));
        let is_over = builder.compare(IntPredicate::Ult, at, least);
        builder.branch_if(is_over, over, rest);
        builder.at_end(over);
        let report = field(context, &builder, pointer, of_launch, block::STACK_OVERFLOW);
        let kernels = self.checked.get(&function).map_or(&[][..], Vec::as_slice);
        let text = message(function, kernels);
        let word = Type::int(context, 32);
        let index =
            [0, 4, 8].map(|axis| field(context, &builder, word, thread, item::THREAD + axis));
        let ty = Type::void(context).function(&[pointer, word, word, word, pointer, wide]);
        let address = self.text(&text);
        let length = wide.constant(text.len() as u64);
        let call = builder.call_pointer(
            ty,
            report,
            &[of_launch, index[0], index[1], index[2], address, length],
        );
        builder.unreachable();
        mark.erase();
        call
    }

    /// The bytes that a function needs until another check: those of it and of what it calls, and of the function that
    /// is checked next, whose frame is there before its check.
    fn needed(&self, function: Value<'c>) -> u64 {
        let mut reached = reachable(function).into_iter().filter(|it| it.is_function());
        let calls_pointers = reached.any(calls_pointers);
        let next = self.bytes.values().copied().max().unwrap_or(0);
        let next = if calls_pointers { self.most } else { next };
        let own = self.bytes.get(&function).copied().unwrap_or(self.most);
        own.saturating_add(next).saturating_add(RESERVE)
    }

    /// A constant with a text.
    fn text(&self, text: &str) -> Value<'c> {
        let byte = Type::int(self.unit.context, 8);
        let bytes: Vec<_> = text.bytes().map(|it| byte.constant(u64::from(it))).collect();
        let value = byte.constant_array(&bytes);
        let global = self.unit.module.new_global("__kernelmill_stack_overflow", value.ty(), 0);
        global.set_initializer(value);
        global.set_global_constant(true);
        global.set_linkage(kernelmill_llvm::ir::Linkage::Internal);
        global
    }
}

/// What the host is told.
fn message(function: Value<'_>, kernels: &[String]) -> String {
    let name = demangle(&function.name());
    let kernels: Vec<_> = kernels.iter().map(|it| format!("`{it}`")).collect();
    let kernels = match &*kernels {
        [one] => format!("kernel {one}"),
        _ => format!("one of the kernels {}", kernels.join(", ")),
    };
    format!("{kernels}: stack overflow in `{name}`, whose recursion is too deep")
}
