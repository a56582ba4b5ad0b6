//! The calls on the way to each panic, as debug information has them after optimisation.

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
};

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Opcode, SourceFrame as Found, Value},
};

use super::location::is_location;
use crate::{
    artifact::SourceFrame,
    base::{demangle::demangle, names::SHIM_PREFIX, standard::is_standard},
    ir::calls_of,
};

/// How many calls are followed.
const DEPTH: usize = 32;

/// The calls on the way to panics, by the name of the location that a panic has to itself.
#[derive(Debug, Default)]
pub(crate) struct Backtraces {
    wanted: bool,
    found: RefCell<Option<Table>>,
}

type Table = HashMap<String, Vec<SourceFrame>>;

impl Backtraces {
    /// None yet; they are only looked for where they are wanted.
    pub(crate) fn new(wanted: bool) -> Self {
        Self { wanted, found: RefCell::default() }
    }

    /// Finds them in a module that has its lines yet and is inlined, unless that is done.
    pub(crate) fn find<'c>(&self, context: &'c Context, module: &Module<'c>) {
        if self.wanted && self.found.borrow().is_none() {
            *self.found.borrow_mut() = Some(split(context, module));
        }
    }

    /// The calls on the way to the panics that name a location, the innermost first.
    pub(super) fn of(&self, location: Value<'_>) -> Vec<SourceFrame> {
        let found = self.found.borrow();
        found.as_ref().and_then(|found| found.get(&location.name())).cloned().unwrap_or_default()
    }
}

/// Gives each call that names a location one of its own, and says how control gets to it: through
/// the functions that it was inlined from, and on while a function is called from one place only.
fn split<'c>(context: &'c Context, module: &Module<'c>) -> Table {
    let mut backtraces = Table::new();
    for function in module.definitions() {
        for call in function.calls() {
            for index in 0..call.arguments().len() as u32 {
                let operand = call.operand(index);
                let Some(location) = named(operand).filter(|it| is_location(*it)) else {
                    continue;
                };
                let own = copy(module, location);
                call.set_operand(index, renamed(operand, own));
                backtraces.insert(own.name(), frames(context, call));
            }
        }
    }
    backtraces
}

/// The global that an operand is the address of, behind casts.
fn named(operand: Value<'_>) -> Option<Value<'_>> {
    let mut value = operand;
    let casts = [Opcode::PtrToInt, Opcode::AddrSpaceCast];
    while value.is_constant_expression() && casts.contains(&value.constant_opcode()) {
        value = value.operand(0);
    }
    value.is_global().then_some(value)
}

/// The operand, with the address of another global in it.
fn renamed<'c>(operand: Value<'c>, to: Value<'c>) -> Value<'c> {
    if operand.is_global() {
        return to;
    }
    operand.same_cast(renamed(operand.operand(0), to))
}

fn copy<'c>(module: &Module<'c>, location: Value<'c>) -> Value<'c> {
    let space = location.ty().address_space();
    let own = module.new_global("__kernelmill_location", location.value_type(), space);
    if let Some(value) = location.initializer() {
        own.set_initializer(value);
    }
    own.set_global_constant(true);
    own.set_alignment(location.alignment());
    own.set_linkage(location.linkage());
    own
}

fn frames<'c>(context: &'c Context, call: Value<'c>) -> Vec<SourceFrame> {
    let (mut frames, mut seen, mut at) = (Vec::new(), HashSet::new(), Some(call));
    while let Some(call) = at.filter(|_| frames.len() < DEPTH) {
        frames.extend(call.source_frames(context).into_iter().filter_map(read));
        let function = call.block().function();
        let callers = calls_of(function);
        let once = callers.len() == 1 && function.users().len() == 1 && seen.insert(function);
        at = once.then(|| callers[0]);
    }
    frames
}

/// A frame as people know it; `None` for those of the standard library, of the device crate, and of
/// what `#[kernel]` writes.
fn read(frame: Found) -> Option<SourceFrame> {
    let hidden = is_standard(&frame.file)
        || frame.file.starts_with("kernelmill_device")
        || frame.function.starts_with(SHIM_PREFIX)
        || frame.line == 0;
    let function = demangle(&frame.function);
    (!hidden).then_some(SourceFrame { function, file: frame.file, line: frame.line })
}
