//! From the tree to what runs: names become slots, instructions become handlers.

mod arithmetic;
mod asynchronous;
mod atomic;
mod build;
mod compare;
mod control;
mod convert;
mod float;
mod fragment;
mod function;
mod globals;
mod group;
mod instruction;
mod logic;
mod matrix;
mod memory;
mod modifiers;
mod moves;
mod names;
mod poison;
mod warp;

use crate::module::{Decoded, Kernel, Parameter, Unsupported};
use crate::program::{Program, SharedVariable};
use crate::syntax::{Function, Home, ParseError, ParseErrors, Statement, Tree, Variable};
use globals::Symbols;
use std::collections::HashMap;
use std::sync::Arc;

/// What goes wrong while an instruction is decoded.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The emulator lacks it.
    Unsupported,
    /// It is not PTX.
    Error(String),
}

impl Problem {
    pub(crate) fn error<T>(message: impl Into<String>) -> Result<T, Problem> {
        Err(Problem::Error(message.into()))
    }
}

/// What all functions of a module add to.
#[derive(Default)]
pub(crate) struct Shared<'a> {
    pub(crate) symbols: Symbols<'a>,
    pub(crate) program: Program,
    pub(crate) mnemonics: HashMap<String, u32>,
    pub(crate) unsupported: Vec<Unsupported>,
    pub(crate) errors: Vec<ParseError>,
}

impl Shared<'_> {
    pub(crate) fn error(&mut self, line: u32, message: impl Into<String>) {
        self.errors.push(ParseError { line, message: message.into() });
    }

    /// The number of a mnemonic.
    pub(crate) fn mnemonic(&mut self, text: String) -> u32 {
        if let Some(&number) = self.mnemonics.get(&text) {
            return number;
        }
        let number = self.program.mnemonics.len() as u32;
        self.program.mnemonics.push(Arc::from(text.as_str()));
        self.mnemonics.insert(text, number);
        number
    }

    pub(crate) fn shared_variable(&mut self, variable: &Variable<'_>) -> usize {
        let bytes = u32::try_from(variable.bytes.unwrap_or(0)).unwrap_or(u32::MAX);
        self.program.shared.push(SharedVariable { bytes, align: variable.align });
        self.program.shared.len() - 1
    }
}

/// Decodes a module.
pub(crate) fn decode(tree: &Tree<'_>) -> Result<Decoded, ParseErrors> {
    let mut shared = Shared::default();
    shared.program.files = tree.files.iter().map(|&(n, path)| (n, path.into())).collect();
    globals::declare(tree, &mut shared);
    let mut kernels = Vec::new();
    for function in &tree.functions {
        let Some(&index) = shared.symbols.functions.get(function.name) else { continue };
        if function.body.is_some() {
            let decoded = function::decode(function, &mut shared);
            shared.program.functions[index] = decoded;
        }
    }
    for function in &tree.functions {
        if let (true, Some(_)) = (function.entry, &function.body)
            && let Some(&index) = shared.symbols.functions.get(function.name)
        {
            kernels.push(kernel(function, index, &shared.program));
        }
    }
    globals::initialise(tree, &mut shared);
    if !shared.errors.is_empty() {
        shared.errors.sort_by_key(|error| error.line);
        return Err(ParseErrors(shared.errors));
    }
    shared.unsupported.sort_by_key(|found| found.line);
    Ok(Decoded { program: shared.program, kernels, unsupported: shared.unsupported })
}

/// Lays variables out one after another, as the parameters of a kernel are.
pub(crate) fn lay_out<'v, 'a: 'v>(
    variables: impl IntoIterator<Item = &'v Variable<'a>>,
    start: u32,
) -> Vec<Parameter> {
    let mut end = start;
    let place = |variable: &Variable<'a>| {
        let size = u32::try_from(variable.bytes.unwrap_or(0)).unwrap_or(u32::MAX);
        let offset = end.next_multiple_of(variable.align);
        end = offset.saturating_add(size);
        Parameter { name: variable.name.to_string(), size, align: variable.align, offset }
    };
    variables.into_iter().map(place).collect()
}

fn kernel(function: &Function<'_>, index: usize, program: &Program) -> Kernel {
    let bound = function.required_block.or(function.max_block);
    Kernel {
        name: function.name.to_string(),
        parameters: lay_out(&function.parameters, 0),
        static_shared_bytes: program.shared_layout(index).bytes,
        max_threads: bound.map(|[x, y, z]| x.saturating_mul(y).saturating_mul(z)),
        required_block: function.required_block,
        registers: registers(function.body.as_deref().unwrap_or(&[])).min(255),
        local_bytes: program.functions[index].frame_bytes,
        function: index,
    }
}

/// Registers declared are many more than are alive at once; the device has few.
fn registers(body: &[Statement<'_>]) -> u32 {
    let words: u32 = body
        .iter()
        .map(|statement| match statement {
            Statement::Registers { ty, count, .. } => {
                count.unwrap_or(1).saturating_mul(ty.bytes().div_ceil(4)) / 4
            }
            Statement::Block(inner) => registers(inner),
            _ => 0,
        })
        .sum();
    words.clamp(16, 255)
}

/// Whether a variable lies in a function's frame.
pub(crate) fn is_framed(home: Home) -> bool {
    matches!(home, Home::Local | Home::Param)
}
