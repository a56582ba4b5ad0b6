//! Variables and functions of a module.

use super::context::ModuleContext;
use super::layout::{lay_out, slices};
use crate::program::{Function, Global, Symbol, Unsupported};
use crate::ptx::{self, Alias, Ast, Initial, StateSpace, Variable};

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
    for function in &tree.functions {
        let defined = tree.functions.iter().any(|f| f.name == function.name && f.body.is_some());
        if !defined && !BUILTINS.contains(&function.name) {
            let found = Unsupported { what: function.name.to_string(), line: function.line };
            context.unsupported.push(found);
        }
    }
    for &Alias { line, name, of } in &tree.aliases {
        match context.symbols.functions.get(of) {
            Some(&index) => {
                context.symbols.functions.insert(name, index);
            }
            None => context.error(line, format!("alias of `{of}`, which is not a function")),
        }
    }
}

pub(crate) fn declare_variable<'a>(variable: &Variable<'a>, context: &mut ModuleContext<'a>) {
    let symbol = match variable.home {
        StateSpace::Shared if variable.bytes.unwrap_or(0) == 0 => Symbol::Dynamic,
        StateSpace::Shared => Symbol::Shared(context.shared_variable(variable)),
        _ => {
            if let Some(&known) = context.symbols.variables.get(variable.name) {
                redeclare(variable, known, context);
                return;
            }
            context.program.globals.push(global(variable));
            Symbol::Global(context.program.globals.len() - 1)
        }
    };
    context.symbols.variables.insert(variable.name, symbol);
}

/// A definition may follow a declaration.
fn redeclare(variable: &Variable<'_>, known: Symbol, context: &mut ModuleContext<'_>) {
    if let Symbol::Global(index) = known
        && !variable.external
    {
        context.program.globals[index] = global(variable);
    }
}

fn global(variable: &Variable<'_>) -> Global {
    let bytes = variable.bytes.unwrap_or(0);
    Global {
        name: variable.name.to_string(),
        bytes,
        align: u64::from(variable.align),
        constant: variable.home == StateSpace::Const,
        contents: vec![0; bytes as usize],
        addresses: Vec::new(),
    }
}

fn declare_function<'a>(function: &ptx::Function<'a>, context: &mut ModuleContext<'a>) {
    if let Some(&index) = context.symbols.functions.get(function.name) {
        if function.body.is_some() && context.program.functions[index].defined {
            context.error(function.line, format!("`{}` is defined twice", function.name));
        }
        context.program.functions[index].defined |= function.body.is_some();
        return;
    }
    let parameters = lay_out(&function.parameters, 0);
    let end = parameters.last().map_or(0, |last| last.offset + last.size);
    let returns = lay_out(&function.returns, end);
    let end = returns.last().map_or(end, |last| last.offset + last.size);
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
    for variable in &tree.variables {
        initialise_variable(variable, context);
    }
}

pub(crate) fn initialise_variable(variable: &Variable<'_>, context: &mut ModuleContext<'_>) {
    let Some(&Symbol::Global(index)) = context.symbols.variables.get(variable.name) else { return };
    let element = variable.ty.bytes() as usize;
    for (number, value) in variable.initial.iter().enumerate() {
        let place = number * element;
        match *value {
            Initial::Bits(bits) => {
                let contents = &mut context.program.globals[index].contents;
                let Some(slot) = contents.get_mut(place..place + element.min(8)) else {
                    context
                        .error(variable.line, format!("too many values for `{}`", variable.name));
                    return;
                };
                slot.copy_from_slice(&bits.to_le_bytes()[..element.min(8)]);
            }
            Initial::Address { name, offset, mask } => match context.symbols.find(name) {
                Some(symbol) => {
                    let address = (place, symbol, offset, mask);
                    context.program.globals[index].addresses.push(address);
                }
                None => context.error(variable.line, format!("`{name}` is not declared")),
            },
        }
    }
}
