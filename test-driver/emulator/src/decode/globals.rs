//! Variables and functions of a module.

use super::{Shared, lay_out};
use crate::module::{Parameter, Unsupported};
use crate::program::{Function, Global, Slice, Symbol};
use crate::syntax::{Home, Initial, Tree, Variable};
use std::collections::HashMap;

/// What the names of a module stand for.
#[derive(Default)]
pub(crate) struct Symbols<'a> {
    pub(crate) variables: HashMap<&'a str, Symbol>,
    pub(crate) functions: HashMap<&'a str, usize>,
}

impl Symbols<'_> {
    pub(crate) fn find(&self, name: &str) -> Option<Symbol> {
        let function = || self.functions.get(name).map(|&index| Symbol::Code(index));
        self.variables.get(name).copied().or_else(function)
    }
}

pub(crate) fn slices(parameters: &[Parameter]) -> Vec<Slice> {
    parameters.iter().map(|p| Slice { offset: p.offset, bytes: p.size }).collect()
}

/// Functions that the emulator supplies where they have no body.
const BUILTINS: [&str; 4] = ["vprintf", "__assertfail", "malloc", "free"];

/// Gives every variable and function its number.
pub(crate) fn declare<'a>(tree: &Tree<'a>, shared: &mut Shared<'a>) {
    for variable in &tree.variables {
        declare_variable(variable, shared);
    }
    for function in &tree.functions {
        declare_function(function, shared);
    }
    for function in &tree.functions {
        let defined = tree.functions.iter().any(|f| f.name == function.name && f.body.is_some());
        if !defined && !BUILTINS.contains(&function.name) {
            let found = Unsupported { what: function.name.to_string(), line: function.line };
            shared.unsupported.push(found);
        }
    }
    for &(name, of) in &tree.aliases {
        match shared.symbols.functions.get(of) {
            Some(&index) => {
                shared.symbols.functions.insert(name, index);
            }
            None => shared.error(0, format!("alias of `{of}`, which is not a function")),
        }
    }
}

pub(crate) fn declare_variable<'a>(variable: &Variable<'a>, shared: &mut Shared<'a>) {
    let symbol = match variable.home {
        Home::Shared if variable.bytes.unwrap_or(0) == 0 => Symbol::Dynamic,
        Home::Shared => Symbol::Shared(shared.shared_variable(variable)),
        _ => {
            if let Some(&known) = shared.symbols.variables.get(variable.name) {
                redeclare(variable, known, shared);
                return;
            }
            shared.program.globals.push(global(variable));
            Symbol::Global(shared.program.globals.len() - 1)
        }
    };
    shared.symbols.variables.insert(variable.name, symbol);
}

/// A definition may follow a declaration.
fn redeclare(variable: &Variable<'_>, known: Symbol, shared: &mut Shared<'_>) {
    if let Symbol::Global(index) = known
        && !variable.external
    {
        shared.program.globals[index] = global(variable);
    }
}

fn global(variable: &Variable<'_>) -> Global {
    let bytes = variable.bytes.unwrap_or(0);
    Global {
        name: variable.name.to_string(),
        bytes,
        align: u64::from(variable.align),
        constant: variable.home == Home::Const,
        contents: vec![0; bytes as usize],
        addresses: Vec::new(),
    }
}

fn declare_function<'a>(function: &crate::syntax::Function<'a>, shared: &mut Shared<'a>) {
    if let Some(&index) = shared.symbols.functions.get(function.name) {
        if function.body.is_some() && shared.program.functions[index].defined {
            shared.error(function.line, format!("`{}` is defined twice", function.name));
        }
        shared.program.functions[index].defined |= function.body.is_some();
        return;
    }
    let parameters = lay_out(&function.parameters, 0);
    let end = parameters.last().map_or(0, |last| last.offset + last.size);
    let returns = lay_out(&function.returns, end);
    let end = returns.last().map_or(end, |last| last.offset + last.size);
    shared.symbols.functions.insert(function.name, shared.program.functions.len());
    shared.program.functions.push(Function {
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
pub(crate) fn initialise(tree: &Tree<'_>, shared: &mut Shared<'_>) {
    for variable in &tree.variables {
        initialise_variable(variable, shared);
    }
}

pub(crate) fn initialise_variable(variable: &Variable<'_>, shared: &mut Shared<'_>) {
    let Some(&Symbol::Global(index)) = shared.symbols.variables.get(variable.name) else { return };
    let element = variable.ty.bytes() as usize;
    for (number, value) in variable.initial.iter().enumerate() {
        let place = number * element;
        match *value {
            Initial::Bits(bits) => {
                let contents = &mut shared.program.globals[index].contents;
                let Some(slot) = contents.get_mut(place..place + element.min(8)) else {
                    shared.error(variable.line, format!("too many values for `{}`", variable.name));
                    return;
                };
                slot.copy_from_slice(&bits.to_le_bytes()[..element.min(8)]);
            }
            Initial::Address { name, offset, mask } => match shared.symbols.find(name) {
                Some(symbol) => {
                    let address = (place, symbol, offset, mask);
                    shared.program.globals[index].addresses.push(address);
                }
                None => shared.error(variable.line, format!("`{name}` is not declared")),
            },
        }
    }
}
