//! Variables and functions of a module.

use super::context::ModuleContext;
use super::layout::{lay_out, slices};
use super::prototype::Prototype;
use crate::program::{Address, Function, Global, Symbol, Unsupported, Value};
use crate::ptx::{self, Alias, Ast, Initial, StateSpace, Variable};
use std::collections::HashSet;

/// Functions that the emulator supplies where they have no body.
const BUILTINS: [&str; 4] = ["vprintf", "__assertfail", "malloc", "free"];

/// Gives every variable and function its number.
pub(crate) fn declare<'a>(tree: &Ast<'a>, context: &mut ModuleContext<'a>) {
    for variable in &tree.variables {
        declare_variable(variable, context);
    }
    for function in &tree.functions {
        declare_function(function, context);
    }
    let bodies = tree.functions.iter().filter(|function| function.body.is_some());
    let mut defined: HashSet<&str> = bodies.map(|function| function.name).collect();
    defined.extend(tree.aliases.iter().map(|alias| alias.name));
    for function in &tree.functions {
        if !defined.contains(function.name) && !BUILTINS.contains(&function.name) {
            let found = Unsupported { what: function.name.to_string(), line: function.line };
            context.unsupported.push(found);
        }
    }
    for &Alias { line, name, of } in &tree.aliases {
        if !context.symbols.functions.contains_key(name) {
            context.error(line, format!("the alias `{name}` is not declared"));
            continue;
        }
        match context.symbols.functions.get(of) {
            Some(&index) if index != context.symbols.functions[name] => {
                let [alias, aliased] = [name, of].map(|it| context.symbols.prototypes.get(it));
                let (alias, aliased) =
                    (alias.map(|it| &it.types), aliased.map(|it| (&it.types, &it.linkage)));
                let wrong = match aliased {
                    Some((_, Some(linkage))) if linkage == "weak" => {
                        Some("this function is `.weak`")
                    }
                    Some((types, _)) if alias != Some(types) => {
                        Some("this function has other parameters")
                    }
                    _ => None,
                };
                if let Some(wrong) = wrong {
                    context.error(line, format!("the alias of `{of}` is invalid: {wrong}"));
                }
                if context.program.functions[context.symbols.functions[name]].defined {
                    context.error(line, format!("the alias `{name}` has a body"));
                }
                context.symbols.functions.insert(name, index);
            }
            Some(&index) => {
                context.symbols.functions.insert(name, index);
            }
            None => context
                .error(line, format!("the alias of `{of}` is invalid: this is not a function")),
        }
    }
}

fn declare_variable<'a>(variable: &Variable<'a>, context: &mut ModuleContext<'a>) {
    if let Some(&known) = context.symbols.variables.get(variable.name) {
        redeclare(variable, known, context);
        return;
    }
    let symbol = match variable.home {
        StateSpace::Shared if variable.bytes.unwrap_or(0) == 0 => Symbol::Dynamic,
        StateSpace::Shared => Symbol::Shared(context.shared_variable(variable)),
        _ => Symbol::Global(add(variable, context)),
    };
    context.symbols.variables.insert(variable.name, symbol);
    if !variable.external {
        context.symbols.defined.insert(variable.name);
    }
}

/// A variable in device memory that a function declares for itself; gives its number.
pub(crate) fn declare_local(variable: &Variable<'_>, context: &mut ModuleContext<'_>) -> usize {
    let index = add(variable, context);
    initialise_variable(variable, index, context);
    index
}

fn add(variable: &Variable<'_>, context: &mut ModuleContext<'_>) -> usize {
    context.program.globals.push(global(variable));
    context.program.globals.len() - 1
}

/// A definition may follow a declaration, and declarations a definition.
fn redeclare<'a>(variable: &Variable<'a>, known: Symbol, context: &mut ModuleContext<'a>) {
    if variable.external {
        return;
    }
    if !context.symbols.defined.insert(variable.name) {
        context.error(variable.line, format!("`{}` is declared twice", variable.name));
        return;
    }
    match known {
        Symbol::Global(index) => context.program.globals[index] = global(variable),
        _ if variable.home == StateSpace::Shared => {
            let symbol = Symbol::Shared(context.shared_variable(variable));
            context.symbols.variables.insert(variable.name, symbol);
        }
        _ => {
            let message = format!("`{}` was declared in another state space before", variable.name);
            context.error(variable.line, message);
        }
    }
}

fn global(variable: &Variable<'_>) -> Global {
    Global {
        name: variable.name.to_string(),
        bytes: variable.bytes.unwrap_or(0),
        align: u64::from(variable.align),
        constant: variable.home == StateSpace::Const,
        values: Vec::new(),
        addresses: Vec::new(),
    }
}

fn declare_function<'a>(function: &ptx::Function<'a>, context: &mut ModuleContext<'a>) {
    if context.symbols.variables.contains_key(function.name) {
        let message =
            format!("`{}` is declared twice, as a variable and as a function", function.name);
        context.error(function.line, message);
        return;
    }
    if let Some(&index) = context.symbols.functions.get(function.name) {
        if function.body.is_some() && context.program.functions[index].defined {
            context.error(function.line, format!("`{}` is defined twice", function.name));
        }
        if context.program.functions[index].defined && function.body.is_none() {
            context.error(
                function.line,
                format!("`{}` is declared after it is defined", function.name),
            );
        }
        let known = &mut context.program.functions[index];
        known.defined |= function.body.is_some();
        if known.entry != function.entry {
            let message =
                format!("`{}` is declared both as a kernel and as a function", function.name);
            context.error(function.line, message);
            return;
        }
        let parameters = lay_out(&function.parameters, 0);
        let end = parameters.last().map_or(0, |last| last.offset + last.size);
        let returns = lay_out(&function.returns, end);
        let same = known.parameters == slices(&parameters) && known.returns == slices(&returns);
        let before = context.symbols.prototypes.insert(function.name, Prototype::of(function));
        if !same {
            let message = format!("`{}` has other parameters than before", function.name);
            context.error(function.line, message);
        } else if before.is_some_and(|before| !before.goes_with(function)) {
            let message = format!(
                "`{}` was declared with other types, attributes or linkage before",
                function.name
            );
            context.error(function.line, message);
        }
        return;
    }
    let parameters = lay_out(&function.parameters, 0);
    let end = parameters.last().map_or(0, |last| last.offset + last.size);
    let returns = lay_out(&function.returns, end);
    let end = returns.last().map_or(end, |last| last.offset + last.size);
    context.symbols.prototypes.insert(function.name, Prototype::of(function));
    context.symbols.functions.insert(function.name, context.program.functions.len());
    context.program.functions.push(Function {
        name: function.name.to_string(),
        entry: function.entry,
        defined: function.body.is_some(),
        parameters: slices(&parameters),
        returns: slices(&returns),
        frame_bytes: end,
        ..Function::default()
    });
}

/// Fills the contents of variables in, now that all names are known.
pub(crate) fn initialise(tree: &Ast<'_>, context: &mut ModuleContext<'_>) {
    for variable in tree.variables.iter().filter(|variable| !variable.initial.is_empty()) {
        if let Some(&Symbol::Global(index)) = context.symbols.variables.get(variable.name) {
            initialise_variable(variable, index, context);
        }
    }
}

fn initialise_variable(variable: &Variable<'_>, index: usize, context: &mut ModuleContext<'_>) {
    let bytes = variable.ty.bytes().min(8);
    let stride = u64::from(variable.ty.bytes());
    for (number, value) in &variable.initial {
        let place = number.saturating_mul(stride);
        if place.saturating_add(stride) > context.program.globals[index].bytes {
            context.error(variable.line, format!("too many values for `{}`", variable.name));
            return;
        }
        match *value {
            Initial::Bits(bits) => {
                context.program.globals[index].values.push(Value { place, bits, bytes });
            }
            Initial::Address { name, offset, mask } => match context.symbols.find(name) {
                Some(Symbol::Shared(_) | Symbol::Dynamic) => {
                    context.error(
                        variable.line,
                        format!("`{name}` is in shared memory, whose address is not known when the module is loaded"),
                    );
                }
                Some(symbol) => {
                    let address = Address { place, symbol, offset, mask };
                    context.program.globals[index].addresses.push(address);
                }
                None => context.error(variable.line, format!("`{name}` is not declared")),
            },
        }
    }
}
