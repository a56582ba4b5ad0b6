//! The stack that a kernel needs on the CPU. Its functions run on the stack of a thread of the host, which
//! nobody asks how large it is.
//!
//! What is added up is the stack memory of the functions on the longest way of calls, each function once:
//! how deep a recursion goes is not known before it runs.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Opcode, Value},
};

use super::Backtraces;
use crate::{
    diagnostic::{Fault, Frame},
    target_info::TargetInfo,
};

/// The bytes that a kernel may take: half of what Rust's threads have by default.
const LIMIT: u64 = 1 << 20;

/// A fault for each function that needs more, and calls none that does.
pub(super) fn find<'c>(
    module: &Module<'c>,
    backend: &dyn TargetInfo,
    backtraces: &Backtraces<'c>,
) -> Vec<Fault> {
    if backend.is_gpu() {
        return Vec::new();
    }
    let bytes = |alloca: Value<'c>| {
        let count = alloca.operand(0).as_u64().unwrap_or(1);
        backend.machine().size_of(alloca.allocated_type()).saturating_mul(count)
    };
    let own =
        |function: Value<'c>| allocas(function).into_iter().map(bytes).fold(0, u64::saturating_add);
    let mut frames = Frames {
        own: module.definitions().into_iter().map(|function| (function, own(function))).collect(),
        deepest: HashMap::new(),
        active: HashSet::new(),
    };
    let mut faults = Vec::new();
    for function in module.definitions() {
        let is_over = frames.deepest(function) > LIMIT;
        if is_over && callees(function).into_iter().all(|it| frames.deepest(it) <= LIMIT) {
            let largest = allocas(function).into_iter().max_by_key(|alloca| bytes(*alloca));
            let place = largest.and_then(|alloca| place(alloca, backtraces));
            let frames = place.unwrap_or_else(|| backtraces.to_start_of(function));
            faults.push(Fault::new(MESSAGE, frames).help(HELP));
        }
    }
    faults
}

const MESSAGE: &str =
    "the local variables of a kernel, or of what it calls, take more than 1 MiB of stack";

const HELP: &str = "put large arrays into a slice that the host passes, or into a shared array; on the CPU a kernel runs on the \
     stack of a thread of the host";

fn allocas(function: Value<'_>) -> Vec<Value<'_>> {
    let all = function.instructions().into_iter();
    all.filter(|instruction| instruction.opcode() == Opcode::Alloca).collect()
}

/// Where stack memory is first used on a line that is known.
fn place<'c>(alloca: Value<'c>, backtraces: &Backtraces<'c>) -> Option<Vec<Frame>> {
    let uses = alloca.users().into_iter().filter(|user| user.is_instruction());
    let places = uses.map(|user| backtraces.to(user));
    places.into_iter().find(|frames| frames.iter().any(|frame| frame.line > 0))
}

/// The stack memory of functions.
struct Frames<'c> {
    /// Their own.
    own: HashMap<Value<'c>, u64>,
    /// With that of what they call.
    deepest: HashMap<Value<'c>, u64>,
    /// The functions on the way that is followed.
    active: HashSet<Value<'c>>,
}

impl<'c> Frames<'c> {
    fn deepest(&mut self, function: Value<'c>) -> u64 {
        if let Some(known) = self.deepest.get(&function) {
            return *known;
        }
        if !self.active.insert(function) {
            return 0;
        }
        let below = callees(function).into_iter().map(|callee| self.deepest(callee)).max();
        self.active.remove(&function);
        let own = self.own.get(&function).copied().unwrap_or(0);
        let all = own.saturating_add(below.unwrap_or(0));
        self.deepest.insert(function, all);
        all
    }
}

/// The functions that are called by their names.
fn callees(function: Value<'_>) -> Vec<Value<'_>> {
    function.calls().into_iter().filter_map(Value::called_function).collect()
}
