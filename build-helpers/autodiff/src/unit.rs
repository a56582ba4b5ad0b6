//! The module that derivatives are written into, and what is the same for all of them.

use std::{cell::OnceCell, collections::HashSet};

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Value},
    machine::Machine,
};

use crate::{Rules, Tape, call_graph};

/// A derivative that has been written.
pub(crate) struct Written<'c> {
    pub(crate) function: Value<'c>,
    pub(crate) tape: Tape,
}

/// A module, its target machine and the rules.
pub(crate) struct Unit<'a, 'c> {
    pub(crate) context: &'c Context,
    pub(crate) module: &'a Module<'c>,
    pub(crate) machine: &'a Machine,
    pub(crate) rules: &'a Rules,
    recursive: OnceCell<HashSet<String>>,
}

impl<'a, 'c> Unit<'a, 'c> {
    pub(crate) fn new(
        context: &'c Context,
        module: &'a Module<'c>,
        machine: &'a Machine,
        rules: &'a Rules,
    ) -> Self {
        Self { context, module, machine, rules, recursive: OnceCell::new() }
    }

    /// The functions of the module that can call themselves, when it was first asked.
    pub(crate) fn recursive(&self) -> &HashSet<String> {
        self.recursive.get_or_init(|| call_graph::recursive_functions(self.module))
    }

    /// A function that is known to exist.
    pub(crate) fn function(&self, symbol: &str) -> Value<'c> {
        let function = self.module.function(symbol);
        function.unwrap_or_else(|| panic!("{symbol} has just been written"))
    }
}
