//! Outlined functions: those that use the context and are not inlined.

use crate::diagnostic::Code;
use std::collections::HashSet;

use kernelmill_llvm::{
    ir::{ModuleExt, Value},
    machine::Machine,
};

use super::{
    context::{Lowering, Source, reports_panic, suspends, thread_local},
    operation::{Operation, operations},
    recursion::{self, Checked, Checks},
};
use crate::{
    Error, Fault,
    base::{
        demangle::demangle,
        names::{SHIM_PREFIX, is_panic},
    },
    ir::reachable,
    passes::{call_chains::nameless, entry::Unit},
};

/// Where a thread of a kernel can end in a function that is not part of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutlinedExits {
    Never,
    /// Only where a panic is written down, which can panic again.
    InPanics,
    Anywhere,
}

/// The functions outside the kernels' bodies that use the context.
pub(super) struct Outlined<'c> {
    users: HashSet<Value<'c>>,
    /// Those that can end their thread.
    exiting: HashSet<Value<'c>>,
    /// Those that test what is left of the stack, with the kernels that come to them.
    checked: Checked<'c>,
}

impl<'c> Outlined<'c> {
    /// Finds them, once everything that can be inlined is.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for every one that waits for other threads: only a kernel itself can be
    /// a coroutine.
    pub(super) fn find(unit: &Unit<'_, 'c>) -> Result<Self, Error> {
        let checked = recursion::settle(unit);
        let functions = unit.module.definitions().into_iter();
        let others: Vec<_> =
            functions.filter(|function| !function.name().starts_with(SHIM_PREFIX)).collect();
        let faults: Vec<_> =
            others.iter().filter(|function| suspends(**function)).map(fault).collect();
        if !faults.is_empty() {
            return Err(Error::Invalid { targets: vec![kernelmill_artifact::Target::Cpu], faults });
        }
        let users: HashSet<_> = others
            .into_iter()
            .filter(|function| !operations(*function).is_empty() || panics(*function))
            .collect();
        let exiting = users.iter().copied().filter(|function| ends_thread(*function)).collect();
        Ok(Self { users, exiting, checked })
    }

    /// Where a kernel can come to one of them that end its thread.
    pub(super) fn exits(&self, kernel: Value<'c>) -> OutlinedExits {
        let ends = |value: &Value<'c>| self.exiting.contains(value);
        if !reachable(kernel).iter().any(ends) {
            return OutlinedExits::Never;
        }
        // What is only named where a panic is written down is not called before.
        let (mut called, mut work) = (HashSet::from([kernel]), vec![kernel]);
        while let Some(function) = work.pop() {
            for call in function.calls() {
                match call.called_function() {
                    None => return OutlinedExits::Anywhere,
                    Some(callee) if is_panic(&callee.name()) || !called.insert(callee) => {}
                    Some(callee) => work.push(callee),
                }
            }
        }
        if called.iter().any(ends) { OutlinedExits::Anywhere } else { OutlinedExits::InPanics }
    }

    /// Whether a call can lead to any of them: by name, or through a pointer that the callee was passed.
    pub(super) fn needs_context(&self, call: Value<'c>) -> bool {
        if self.users.is_empty() {
            return false;
        }
        let is_indirect =
            |call: Value<'c>| call.called_function().is_none() && call.inline_assembly().is_none();
        match call.called_function() {
            Some(callee) if callee.is_declaration() => false,
            Some(callee) => reachable(callee).into_iter().any(|it| {
                self.users.contains(&it)
                    || it.is_function() && it.calls().into_iter().any(is_indirect)
            }),
            None => true,
        }
    }

    /// Replaces the operations in them.
    pub(super) fn lower(&self, unit: &Unit<'_, 'c>, machine: &Machine, shared_bytes: u64) -> u64 {
        let checks = Checks::new(unit, machine, &self.checked);
        let functions = unit.module.definitions().into_iter();
        // In their order: what is built has to be the same each time.
        for function in functions.filter(|function| self.users.contains(function)) {
            let source = Source::Item(thread_local(unit));
            let lowering = Lowering { unit, source, shared_bytes, can_exit: false };
            for call in function.calls() {
                if reports_panic(call) {
                    lowering.jump_after(call);
                }
            }
            for (call, operation) in operations(function) {
                if operation == Operation::Exit {
                    lowering.jump_after(call);
                    call.erase();
                } else if operation == Operation::StackCheck {
                    lowering.jump_after(checks.build(call));
                } else {
                    lowering.lower(call, operation, 0, (None, false));
                }
            }
        }
        self.users.len() as u64
    }
}

fn panics(function: Value<'_>) -> bool {
    function.calls().into_iter().any(reports_panic)
}

fn ends_thread(function: Value<'_>) -> bool {
    let name = function.name();
    let ends = [Operation::Exit, Operation::StackCheck];
    let exits = operations(function).iter().any(|(_, operation)| ends.contains(operation));
    !is_panic(&name) && (exits || panics(function))
}

fn fault(function: &Value<'_>) -> Fault {
    let message = "a barrier or a warp-level primitive is in a function that calls itself or is called through a \
                   pointer";
    Fault::new(Code::Barrier, message, vec![nameless(&demangle(&function.name()))])
        .help("on the CPU, call it in the kernel or in functions that are inlined into the kernel: write a loop \
               in place of the recursion, and a direct call in place of the pointer")
}
