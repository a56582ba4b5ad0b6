//! Functions that call themselves on every path, so that they never end.
//!
//! Recursion that can end is left alone: processors have a stack for it. What cannot end is looked
//! for before anything is optimised, because afterwards it is a loop, or nothing at all.

use crate::diagnostic::Code;
use std::collections::{HashMap, HashSet, VecDeque, hash_map::Entry};

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{Block, ModuleExt, Value},
};

use crate::passes::call_chains::CallChains;
use crate::{base::demangle::demangle, diagnostic::Fault};

/// A fault for each cycle of functions that a kernel calls and that never ends.
pub(super) fn find<'c>(module: &Module<'c>, call_chains: &CallChains<'c>) -> Vec<Fault> {
    let calls: HashMap<_, _> = module
        .definitions()
        .into_iter()
        .map(|function| (function, calls_of_definitions(function)))
        .collect();
    let endless = endless(&calls);
    let mut told: HashSet<Value<'c>> = HashSet::new();
    let mut faults = Vec::new();
    for function in module.definitions() {
        if !endless.contains(&function) || told.contains(&function) {
            continue;
        }
        if !call_chains.is_reached(function) {
            continue;
        }
        let Some(cycle) = cycle(function, &calls, &endless) else { continue };
        told.extend(cycle.iter().map(|call| call.block().function()));
        faults.push(fault(&cycle, call_chains));
    }
    faults
}

/// The calls in a function of functions that the module has.
fn calls_of_definitions(function: Value<'_>) -> Vec<Value<'_>> {
    let calls = function.calls().into_iter();
    calls.filter(|call| call.called_function().is_some_and(|it| !it.is_declaration())).collect()
}

/// The functions from whose start no path leads to an end without a call of one of them.
fn endless<'c>(calls: &HashMap<Value<'c>, Vec<Value<'c>>>) -> HashSet<Value<'c>> {
    let mut endless: HashSet<_> = calls.keys().copied().collect();
    // Those that lead to no recursion go first, which costs next to nothing.
    shrink(&mut endless, |function, rest| {
        let callees = calls[&function].iter().filter_map(|call| call.called_function());
        callees.into_iter().any(|callee| rest.contains(&callee))
    });
    shrink(&mut endless, |function, rest| !can_end(function, rest));
    endless
}

/// Keeps what stays when what is not kept is gone.
fn shrink<'c>(
    set: &mut HashSet<Value<'c>>,
    is_kept: impl Fn(Value<'c>, &HashSet<Value<'c>>) -> bool,
) {
    loop {
        let kept: HashSet<_> = set.iter().copied().filter(|one| is_kept(*one, set)).collect();
        if kept.len() == set.len() {
            return;
        }
        *set = kept;
    }
}

/// Whether a path through a function ends without a call of one of these.
fn can_end<'c>(function: Value<'c>, endless: &HashSet<Value<'c>>) -> bool {
    let is_blocked = |block: Block<'c>| {
        let mut calls = block.instructions().into_iter().filter(|one| one.is_call());
        calls.any(|call| call.called_function().is_some_and(|callee| endless.contains(&callee)))
    };
    let mut seen = HashSet::new();
    let mut work: Vec<_> = function.blocks().first().copied().into_iter().collect();
    while let Some(block) = work.pop() {
        if !seen.insert(block) || is_blocked(block) {
            continue;
        }
        let next = block.successors();
        if next.is_empty() {
            return true;
        }
        work.extend(next);
    }
    false
}

/// The calls that lead from a function back to it, the shortest way; `None` where it only leads to
/// others that do not end.
fn cycle<'c>(
    start: Value<'c>,
    calls: &HashMap<Value<'c>, Vec<Value<'c>>>,
    endless: &HashSet<Value<'c>>,
) -> Option<Vec<Value<'c>>> {
    let mut by: HashMap<Value<'c>, Value<'c>> = HashMap::new();
    let mut work = VecDeque::from([start]);
    while let Some(function) = work.pop_front() {
        for call in calls.get(&function)? {
            let callee = call.called_function()?;
            if !endless.contains(&callee) {
                continue;
            }
            if callee == start {
                let mut cycle = vec![*call];
                let mut at = function;
                while at != start {
                    let call = by[&at];
                    cycle.push(call);
                    at = call.block().function();
                }
                cycle.reverse();
                return Some(cycle);
            }
            if let Entry::Vacant(slot) = by.entry(callee) {
                slot.insert(*call);
                work.push_back(callee);
            }
        }
    }
    None
}

fn fault<'c>(cycle: &[Value<'c>], call_chains: &CallChains<'c>) -> Fault {
    let name = |call: &Value<'c>| demangle(&call.block().function().name());
    let names: Vec<_> = cycle.iter().map(|call| format!("`{}`", name(call))).collect();
    let message = match &*names {
        [only] => format!("{only} calls itself on every path, so it never ends"),
        [first, rest @ ..] => format!(
            "{first} calls {}, which calls {first} again, on every path, so they never end",
            rest.join(", which calls ")
        ),
        [] => String::new(),
    };
    Fault::new(Code::Recursion, message, call_chains.to(cycle[0]))
        .help("end the recursion on some path, or loop")
}
