//! Rules of marked code: functions that stand for others where a plugin's marker is given the code, and nowhere else.
//!
//! GPUCompiler.jl has them as method tables that overlay each other. Here a function that is an argument of a marker's
//! call is *marked code*, with everything that it calls. It is copied as far as rules change it, so that the functions
//! themselves, which other code calls too, stay as they are. A marker inside of marked code adds the rules of its own
//! plugin to those around it, and wins where both have one for a function.
//!
//! Needs: the source's own functions, of which none is part of another. Guarantees: plugins of the stage `FrontEnd`
//! are given code that follows the rules.

use std::collections::HashMap;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, Value},
};

use super::{
    api::{Plugin, markers},
    rule::Rule,
};
use crate::{
    Error,
    base::demangle::demangle,
    ir::{copy_function, reachable},
};

const NOT_THERE: &str = "which the source does not have; functions that nothing uses are removed: name it in a \
                         `#[used]` static";

/// A rule of a plugin, as two functions of the module.
#[derive(Clone, Copy)]
struct Resolved<'c> {
    function: Value<'c>,
    replacement: Value<'c>,
}

/// Applies the rules of plugins to the code that their markers are given.
///
/// # Errors
///
/// [`Error::Plugins`] where a rule names a function that the source does not have, or two of different types.
pub(super) fn apply<'c>(
    context: &'c Context,
    module: &Module<'c>,
    plugins: &[&dyn Plugin],
) -> Result<(), Error> {
    let mut marks = Vec::new();
    for plugin in plugins.iter().filter(|plugin| !plugin.rules().is_empty()) {
        let markers = markers(module, *plugin);
        if markers.iter().any(|marker| marker.is_used()) {
            let rules = plugin.rules().iter().map(|rule| resolve(module, *plugin, rule));
            let rules: Vec<_> = rules.collect::<Result<_, _>>()?;
            marks.push((markers, rules.into_iter().flatten().collect::<Vec<_>>()));
        }
    }
    if marks.is_empty() {
        return Ok(());
    }
    let mut overlay = Overlay { context, module, marks, copies: HashMap::new() };
    // Copies have their rules already.
    for function in module.definitions() {
        overlay.rewrite(function, &[]);
    }
    Ok(())
}

/// The functions of a rule; none where nothing calls the one that it is for.
fn resolve<'c>(
    module: &Module<'c>,
    plugin: &dyn Plugin,
    rule: &Rule,
) -> Result<Option<Resolved<'c>>, Error> {
    let find = |name: &str| {
        let is_named = |function: &Value<'c>| {
            let path = demangle(&function.name());
            path == name || path.strip_suffix(name).is_some_and(|rest| rest.ends_with("::"))
        };
        module.functions().into_iter().find(is_named)
    };
    let Some(function) = find(rule.function) else { return Ok(None) };
    let named = plugin.name();
    let Rule { function: from, replacement: to } = rule;
    let fault = |what: &str| {
        Error::Plugins(format!(
            "a rule of the plugin `{named}` replaces `{from}` by `{to}`, {what}"
        ))
    };
    let replacement = find(to).ok_or_else(|| fault(NOT_THERE))?;
    if replacement.value_type() != function.value_type() {
        return Err(fault("which has another type"));
    }
    Ok(Some(Resolved { function, replacement }))
}

/// A module, and what was copied in it.
struct Overlay<'a, 'c> {
    context: &'c Context,
    module: &'a Module<'c>,
    /// For each plugin with rules, its markers and the rules.
    marks: Vec<(Vec<Value<'c>>, Vec<Resolved<'c>>)>,
    /// The copies, by the function and the plugins whose rules they have, the innermost last.
    copies: HashMap<(Value<'c>, Vec<usize>), Value<'c>>,
}

impl<'c> Overlay<'_, 'c> {
    /// Gives a function the rules of these plugins: calls of others, and arguments of markers.
    fn rewrite(&mut self, function: Value<'c>, active: &[usize]) {
        for call in function.calls() {
            let callee = call.called_function();
            let mark =
                callee.and_then(|it| self.marks.iter().position(|(all, _)| all.contains(&it)));
            let inner = match mark {
                Some(mark) => with(active, mark),
                None => active.to_vec(),
            };
            if inner.is_empty() {
                continue;
            }
            for (index, operand) in call.operands().into_iter().enumerate() {
                if operand.is_function() && Some(operand) != mark.and(callee) {
                    let new = self.under(operand, &inner);
                    if new != operand {
                        call.set_operand(index as u32, new);
                    }
                }
            }
        }
    }

    /// The function that stands for one under the rules of these plugins: its replacement, a copy that follows the
    /// rules, or itself where they change nothing of it.
    fn under(&mut self, function: Value<'c>, active: &[usize]) -> Value<'c> {
        if let Some(replacement) = self.replacement(function, active) {
            return replacement;
        }
        let key = (function, active.to_vec());
        if let Some(copy) = self.copies.get(&key) {
            return *copy;
        }
        if function.is_declaration() || !self.is_changed(function, active) {
            return function;
        }
        let name = format!("{}.ruled{}", function.name(), self.copies.len());
        let copy = copy_function(self.context, self.module, function, &name);
        self.copies.insert(key, copy);
        self.rewrite(copy, active);
        copy
    }

    /// What the innermost of some plugins has for a function.
    fn replacement(&self, function: Value<'c>, active: &[usize]) -> Option<Value<'c>> {
        let rules = active.iter().rev().flat_map(|mark| &self.marks[*mark].1);
        let mut found = rules.filter(|rule| rule.function == function);
        found.next().map(|rule| rule.replacement)
    }

    /// Whether a function leads to one that has a rule, or to a marker that has rules.
    fn is_changed(&self, function: Value<'c>, active: &[usize]) -> bool {
        let is_marker = |value: &Value<'c>| self.marks.iter().any(|(all, _)| all.contains(value));
        let reached = reachable(function);
        reached.iter().any(|it| self.replacement(*it, active).is_some() || is_marker(it))
    }
}

/// The plugins around some code, with one more inside.
fn with(active: &[usize], mark: usize) -> Vec<usize> {
    let outer = active.iter().copied().filter(|it| *it != mark);
    outer.chain([mark]).collect()
}
