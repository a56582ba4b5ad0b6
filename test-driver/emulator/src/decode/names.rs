//! What names stand for in a function.
//!
//! Registers get their slots when they are first named: `.reg .b32 %r<1000000>` costs nothing.

use super::registers::RegisterFile;
use crate::ptx::{Registers, Statement, Type};
use std::collections::HashMap;

/// A named thing of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entity {
    Register {
        slot: u32,
        ty: Type,
    },
    /// `.reg .v4 .f32 v;`: a slot for each lane.
    Vector {
        slot: u32,
        ty: Type,
        lanes: u32,
    },
    /// A variable in the function's frame.
    Frame {
        offset: u32,
        bytes: u32,
        kind: Frame,
    },
    /// A parameter of the kernel.
    Parameter {
        offset: u32,
        bytes: u32,
    },
    /// A variable in device memory that only this function names.
    Global(usize),
    Shared(usize),
    Dynamic,
}

/// What a variable in a function's frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Local,
    /// What the function is given, and what it gives.
    Input,
    Result,
    /// What its calls pass and take.
    Argument,
}

/// Registers that are declared: one, or `%r0` to `%r9` as `%r<10>`.
struct Declared {
    ty: Type,
    lanes: u32,
    count: u32,
    /// The first slot of those that were named, by number.
    slots: HashMap<u32, u32>,
}

/// The names of one `{ }`.
#[derive(Default)]
struct Scope<'a> {
    entities: HashMap<&'a str, Entity>,
    registers: HashMap<&'a str, Declared>,
    /// By what stands before the number.
    ranges: HashMap<&'a str, Declared>,
    labels: HashMap<&'a str, usize>,
    tables: HashMap<&'a str, Table<'a>>,
    prototypes: HashMap<&'a str, ()>,
}

/// A `.branchtargets`.
#[derive(Clone)]
pub(crate) struct Table<'a> {
    pub(crate) targets: Vec<&'a str>,
    /// Where its targets lie in the function's pool, once a branch has used it.
    pub(crate) pool: Option<u32>,
}

/// A label that a scope has already.
pub(crate) struct Duplicate<'a> {
    pub(crate) line: u32,
    pub(crate) name: &'a str,
}

/// The scopes open at a point of a function, and the slots of its registers.
#[derive(Default)]
pub(crate) struct Names<'a> {
    scopes: Vec<Scope<'a>>,
    pub(crate) file: RegisterFile,
    /// Where each label is; labels of inner scopes have numbers of their own.
    pub(crate) places: Vec<Option<u32>>,
}

impl<'a> Names<'a> {
    /// Opens a scope; its labels are known from its start. Gives the labels that stand there twice.
    pub(crate) fn open(&mut self, statements: &[Statement<'a>]) -> Vec<Duplicate<'a>> {
        let mut scope = Scope::default();
        let mut duplicates = Vec::new();
        for statement in statements {
            match statement {
                Statement::Label { line, name } => {
                    if scope.labels.insert(name, self.places.len()).is_some() {
                        duplicates.push(Duplicate { line: *line, name });
                    }
                    self.places.push(None);
                }
                Statement::BranchTargets { label, targets } => {
                    let table = Table { targets: targets.clone(), pool: None };
                    scope.tables.insert(label, table);
                }
                Statement::CallPrototype { label } => {
                    scope.prototypes.insert(label, ());
                }
                _ => {}
            }
        }
        self.scopes.push(scope);
        duplicates
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

    /// Declares a variable; whether the innermost scope did not have the name.
    pub(crate) fn declare(&mut self, name: &'a str, entity: Entity) -> bool {
        let scope = self.inner();
        let is_new = !scope.has(name);
        scope.entities.insert(name, entity);
        is_new
    }

    /// Declares registers; whether the innermost scope did not have them.
    pub(crate) fn declare_registers(&mut self, registers: &Registers<'a>) -> bool {
        let Registers { name, ty, lanes, count, .. } = *registers;
        let scope = self.inner();
        let declared = |count| Declared { ty, lanes, count, slots: HashMap::new() };
        match count {
            Some(count) => scope.ranges.insert(name, declared(count)).is_none(),
            None => {
                let is_new = !scope.has(name);
                scope.registers.insert(name, declared(1));
                is_new
            }
        }
    }

    /// What a name stands for; a vector's member is a register.
    pub(crate) fn find(&mut self, name: &str) -> Option<Entity> {
        if let Some(entity) = self.find_whole(name) {
            return Some(entity);
        }
        let (whole, member) = name.rsplit_once('.')?;
        let place = match member {
            "x" | "r" => 0,
            "y" | "g" => 1,
            "z" | "b" => 2,
            "w" | "a" => 3,
            _ => return None,
        };
        match self.find_whole(whole)? {
            Entity::Vector { slot, ty, lanes } if place < lanes => {
                Some(Entity::Register { slot: slot + place, ty })
            }
            _ => None,
        }
    }

    fn find_whole(&mut self, name: &str) -> Option<Entity> {
        let Names { scopes, file, .. } = self;
        scopes.iter_mut().rev().find_map(|scope| {
            if let Some(&entity) = scope.entities.get(name) {
                return Some(entity);
            }
            if let Some(declared) = scope.registers.get_mut(name) {
                return Some(declared.entity(0, name, file));
            }
            let (prefix, number) = scope.range_of(name)?;
            Some(scope.ranges.get_mut(prefix)?.entity(number, name, file))
        })
    }

    /// The number of a label.
    pub(crate) fn label(&self, name: &str) -> Option<usize> {
        self.scopes.iter().rev().find_map(|scope| scope.labels.get(name).copied())
    }

    /// A `.branchtargets`.
    pub(crate) fn table(&mut self, name: &str) -> Option<&mut Table<'a>> {
        self.scopes.iter_mut().rev().find_map(|scope| scope.tables.get_mut(name))
    }

    /// Whether `name` is a `.callprototype`.
    pub(crate) fn is_prototype(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.prototypes.contains_key(name))
    }
}

impl Scope<'_> {
    fn has(&self, name: &str) -> bool {
        self.entities.contains_key(name)
            || self.labels.contains_key(name)
            || self.registers.contains_key(name)
            || self.range_of(name).is_some()
    }

    /// The declared range that a name is of, and its number there: `%r12` is number 12 of `%r<20>`.
    fn range_of<'n>(&self, name: &'n str) -> Option<(&'n str, u32)> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let count = self.ranges.get(prefix)?.count;
        let number = name[prefix.len()..].parse().ok().filter(|number| *number < count)?;
        Some((prefix, number))
    }
}

impl Declared {
    /// Register `number`, which gets its slots now if it has none.
    fn entity(&mut self, number: u32, name: &str, file: &mut RegisterFile) -> Entity {
        let (ty, lanes) = (self.ty, self.lanes);
        let slot = *self.slots.entry(number).or_insert_with(|| file.register(name, ty, lanes));
        if lanes == 1 { Entity::Register { slot, ty } } else { Entity::Vector { slot, ty, lanes } }
    }
}
