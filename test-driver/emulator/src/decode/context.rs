//! The module that is decoded: symbols, program and errors so far.

use super::prototype::Prototype;
use crate::program::{Program, SharedVariable, Symbol, Unsupported};
use crate::ptx::{MOST_ERRORS, ParseError, Variable};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What the names of a module stand for.
#[derive(Default)]
pub(crate) struct Symbols<'a> {
    pub(crate) variables: HashMap<&'a str, Symbol>,
    pub(crate) functions: HashMap<&'a str, usize>,
    pub(crate) prototypes: HashMap<&'a str, Prototype>,
    /// The variables that are not only declared.
    pub(crate) defined: HashSet<&'a str>,
}

impl Symbols<'_> {
    pub(crate) fn find(&self, name: &str) -> Option<Symbol> {
        let function = || self.functions.get(name).map(|&index| Symbol::Code(index));
        self.variables.get(name).copied().or_else(function)
    }
}

/// What all functions of a module add to.
#[derive(Default)]
pub(crate) struct ModuleContext<'a> {
    pub(crate) symbols: Symbols<'a>,
    pub(crate) program: Program,
    pub(crate) mnemonics: HashMap<String, u32>,
    pub(crate) unsupported: Vec<Unsupported>,
    pub(crate) errors: Vec<ParseError>,
    /// Of PTX, and the capability of the target.
    pub(crate) version: (u32, u32),
    pub(crate) capability: u32,
    /// Whether it is for one architecture alone: `sm_90a`.
    pub(crate) specific: bool,
}

impl ModuleContext<'_> {
    pub(crate) fn error(&mut self, line: u32, message: impl Into<String>) {
        if self.errors.len() < MOST_ERRORS {
            self.errors.push(ParseError::new(line, message));
        }
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
