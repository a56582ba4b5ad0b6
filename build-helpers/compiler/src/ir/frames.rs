//! Stack frames: the stack memory of functions, and of the longest way of calls below each.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::{
    ir::{Opcode, Value},
    machine::Machine,
};

use super::calls::reachable;

/// The stack memory of functions. A function of a recursion counts once: how deep it goes is not known
/// before it runs.
pub(crate) struct Frames<'m, 'c> {
    machine: &'m Machine,
    /// Of those that were asked for: with that of what they call.
    deepest: HashMap<Value<'c>, u64>,
    /// The functions on the way that is followed.
    active: HashSet<Value<'c>>,
    /// Whether a function that was asked for recurses.
    recurses: bool,
}

impl<'m, 'c> Frames<'m, 'c> {
    /// Those of functions for a machine. Nothing is looked at before it is asked for.
    pub(crate) fn new(machine: &'m Machine) -> Self {
        Self { machine, deepest: HashMap::new(), active: HashSet::new(), recurses: false }
    }

    /// The bytes of a function alone; 0 for one that is declared.
    fn own(&self, function: Value<'c>) -> u64 {
        let all = allocas(function).into_iter();
        all.map(|alloca| alloca_bytes(alloca, self.machine)).fold(0, u64::saturating_add)
    }

    /// The bytes of a function and of the longest way of calls below it.
    pub(crate) fn deepest(&mut self, function: Value<'c>) -> u64 {
        if let Some(known) = self.deepest.get(&function) {
            return *known;
        }
        if !self.active.insert(function) {
            self.recurses = true;
            return 0;
        }
        let below = callees(function).into_iter().map(|callee| self.deepest(callee)).max();
        self.active.remove(&function);
        let all = self.own(function).saturating_add(below.unwrap_or(0));
        self.deepest.insert(function, all);
        all
    }

    /// The bytes of the deepest of some functions, which nothing in the module calls; `None` where what they call recurses.
    ///
    /// A call through a pointer can lead to every function whose address is taken. On the way from there to another
    /// such call is a function that tests the stack by itself, as one that may recurse, or one of the library, which
    /// takes next to nothing.
    pub(crate) fn bound(machine: &'m Machine, of: &[Value<'c>]) -> Option<u64> {
        let mut frames = Self::new(machine);
        let mut most = |functions: &[Value<'c>]| {
            functions.iter().map(|function| frames.deepest(*function)).max().unwrap_or(0)
        };
        let mut deepest = most(of);
        let reached: HashSet<_> = of.iter().flat_map(|function| reachable(*function)).collect();
        let reached: Vec<_> = reached.into_iter().filter(|it| it.is_function()).collect();
        if reached.iter().any(|function| calls_pointers(*function)) {
            let is_passed = |it: &Value<'c>| !of.contains(it) && is_addressed(*it);
            let passed: Vec<_> = reached.into_iter().filter(is_passed).collect();
            deepest = deepest.saturating_add(most(&passed));
        }
        (!frames.recurses).then_some(deepest)
    }
}

/// Whether a function calls others through pointers.
pub(crate) fn calls_pointers(function: Value<'_>) -> bool {
    let is_indirect =
        |call: Value<'_>| call.called_function().is_none() && call.inline_assembly().is_none();
    function.calls().into_iter().any(is_indirect)
}

/// Whether the address of a function is used otherwise than to call it.
pub(crate) fn is_addressed(function: Value<'_>) -> bool {
    function.users().into_iter().any(|user| {
        let is_callee = user.is_call() && user.callee() == Some(function);
        !is_callee || user.arguments().contains(&function)
    })
}

/// The functions that are called by their names.
pub(crate) fn callees(function: Value<'_>) -> Vec<Value<'_>> {
    function.calls().into_iter().filter_map(Value::called_function).collect()
}

/// The allocations of stack memory in a function.
pub(crate) fn allocas(function: Value<'_>) -> Vec<Value<'_>> {
    let all = function.instructions().into_iter();
    all.filter(|instruction| instruction.opcode() == Opcode::Alloca).collect()
}

/// The bytes of an allocation.
pub(crate) fn alloca_bytes(alloca: Value<'_>, machine: &Machine) -> u64 {
    let count = alloca.operand(0).as_u64().unwrap_or(1);
    machine.size_of(alloca.allocated_type()).saturating_mul(count)
}
