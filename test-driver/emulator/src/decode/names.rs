//! What names stand for in a function.

use crate::ptx::{Statement, Type, Variable};
use std::collections::HashMap;

/// A named thing of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entity {
    Register {
        slot: u32,
        ty: Type,
    },
    /// A variable in the function's frame.
    Frame {
        offset: u32,
        bytes: u32,
    },
    /// A parameter of the kernel.
    Parameter {
        offset: u32,
        bytes: u32,
    },
    Shared(usize),
    Dynamic,
}

/// Registers `%r0` to `%r9`, declared as `%r<10>`.
struct Range<'a> {
    prefix: &'a str,
    first: u32,
    count: u32,
    ty: Type,
}

/// The names of one `{ }`.
#[derive(Default)]
struct Scope<'a> {
    entities: HashMap<&'a str, Entity>,
    ranges: Vec<Range<'a>>,
    labels: HashMap<&'a str, usize>,
    tables: HashMap<&'a str, Vec<&'a str>>,
    prototypes: HashMap<&'a str, (Vec<u32>, Vec<u32>)>,
}

/// The scopes open at a point of a function.
#[derive(Default)]
pub(crate) struct Names<'a> {
    scopes: Vec<Scope<'a>>,
    /// Where each label is; labels of inner scopes have numbers of their own.
    pub(crate) places: Vec<Option<u32>>,
}

fn bytes(variables: &[Variable<'_>]) -> Vec<u32> {
    variables.iter().map(|variable| variable.bytes.unwrap_or(0) as u32).collect()
}

impl<'a> Names<'a> {
    /// Opens a scope; its labels are known from its start.
    pub(crate) fn open(&mut self, statements: &[Statement<'a>]) {
        let mut scope = Scope::default();
        for statement in statements {
            match statement {
                Statement::Label(name) => {
                    scope.labels.insert(name, self.places.len());
                    self.places.push(None);
                }
                Statement::BranchTargets { label, targets } => {
                    scope.tables.insert(label, targets.clone());
                }
                Statement::CallPrototype { label, returns, parameters } => {
                    scope.prototypes.insert(label, (bytes(returns), bytes(parameters)));
                }
                _ => {}
            }
        }
        self.scopes.push(scope);
    }

    pub(crate) fn close(&mut self) {
        self.scopes.pop();
    }

    fn inner(&mut self) -> &mut Scope<'a> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    pub(crate) fn declare(&mut self, name: &'a str, entity: Entity) {
        self.inner().entities.insert(name, entity);
    }

    pub(crate) fn declare_range(&mut self, prefix: &'a str, first: u32, count: u32, ty: Type) {
        self.inner().ranges.push(Range { prefix, first, count, ty });
    }

    pub(crate) fn find(&self, name: &str) -> Option<Entity> {
        self.scopes
            .iter()
            .rev()
            .find_map(|scope| scope.entities.get(name).copied().or_else(|| scope.in_range(name)))
    }

    /// The number of a label.
    pub(crate) fn label(&self, name: &str) -> Option<usize> {
        self.scopes.iter().rev().find_map(|scope| scope.labels.get(name).copied())
    }

    /// The labels of a `.branchtargets`.
    pub(crate) fn table(&self, name: &str) -> Option<Vec<&'a str>> {
        self.scopes.iter().rev().find_map(|scope| scope.tables.get(name).cloned())
    }

    /// Whether `name` is a `.callprototype`.
    pub(crate) fn is_prototype(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.prototypes.contains_key(name))
    }
}

impl Scope<'_> {
    fn in_range(&self, name: &str) -> Option<Entity> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number: u32 = name[prefix.len()..].parse().ok()?;
        let range = self.ranges.iter().find(|range| range.prefix == prefix)?;
        let words = slots_of(range.ty);
        let slot = range.first + number * words;
        (number < range.count).then_some(Entity::Register { slot, ty: range.ty })
    }
}

/// Slots of a register: two for 128 bits.
pub(crate) fn slots_of(ty: Type) -> u32 {
    if ty == Type::B128 { 2 } else { 1 }
}
