//! One function.

use super::build::{Build, Flow};
use super::modifiers::Modifiers;
use super::names::{Entity, Names, slots_of};
use super::{Problem, Shared, globals, is_framed, lay_out, poison};
use crate::execute::ops;
use crate::module::Unsupported;
use crate::program::{Function, Handler, Origin, Symbol};
use crate::syntax::{self, Home, Instruction, Operand, Statement, Type, Variable};
use std::collections::HashMap;

/// The function being decoded.
pub(crate) struct Decoder<'s, 'a> {
    pub(crate) shared: &'s mut Shared<'a>,
    pub(crate) names: Names<'a>,
    pub(crate) function: Function,
    pub(crate) builds: Vec<Build>,
    constants: HashMap<u64, u32>,
    relocated: HashMap<(Symbol, i64), u32>,
    /// Instructions whose `e` is a label's number, or whose pool entry is.
    pub(crate) jumps: Vec<(usize, usize)>,
    pub(crate) pool_jumps: Vec<(usize, usize)>,
    /// Names of slots that are registers.
    registers: Vec<(u32, u32, String, Option<u32>)>,
    source: Option<(u32, u32)>,
    pub(crate) line: u32,
}

/// Decodes a function that has a body.
pub(crate) fn decode<'a>(tree: &syntax::Function<'a>, shared: &mut Shared<'a>) -> Function {
    let index = shared.symbols.functions[tree.name];
    let declared = std::mem::take(&mut shared.program.functions[index]);
    let mut decoder = Decoder {
        shared,
        names: Names::default(),
        function: Function { defined: true, entry: tree.entry, ..declared },
        builds: Vec::new(),
        constants: HashMap::new(),
        relocated: HashMap::new(),
        jumps: Vec::new(),
        pool_jumps: Vec::new(),
        registers: Vec::new(),
        source: None,
        line: tree.line,
    };
    let body = tree.body.as_deref().unwrap_or(&[]);
    decoder.names.open(&[]);
    decoder.declare_parameters(tree);
    decoder.block(body);
    decoder.finish()
}

impl<'a> Decoder<'_, 'a> {
    fn declare_parameters(&mut self, tree: &syntax::Function<'a>) {
        let parameters = lay_out(&tree.parameters, 0);
        let end = parameters.last().map_or(0, |last| last.offset + last.size);
        let returns = lay_out(&tree.returns, end);
        let end = returns.last().map_or(end, |last| last.offset + last.size);
        let variables = tree.parameters.iter().chain(&tree.returns);
        for (variable, place) in variables.zip(parameters.iter().chain(&returns)) {
            let (offset, bytes) = (place.offset, place.size);
            if variable.home == Home::Register {
                self.register_parameter(tree, variable);
                continue;
            }
            let entity = if tree.entry {
                Entity::Parameter { offset, bytes }
            } else {
                Entity::Frame { offset, bytes }
            };
            self.names.declare(variable.name, entity);
        }
        // A kernel's parameters are not in its frame.
        self.function.frame_bytes = if tree.entry { 0 } else { end };
    }

    /// Old PTX passes arguments in registers; calls of such functions do not run.
    fn register_parameter(&mut self, tree: &syntax::Function<'a>, variable: &Variable<'a>) {
        let what = format!("{} with parameters in registers", tree.name);
        self.shared.unsupported.push(Unsupported { what, line: variable.line });
        self.declare_registers(variable.name, variable.ty, None);
    }

    fn block(&mut self, statements: &[Statement<'a>]) {
        self.names.open(statements);
        for statement in statements {
            self.statement(statement);
        }
        self.names.close();
    }

    fn statement(&mut self, statement: &Statement<'a>) {
        match statement {
            Statement::Label(name) => {
                if let Some(label) = self.names.label(name) {
                    self.names.places[label] = Some(self.builds.len() as u32);
                }
            }
            Statement::Instruction(instruction) => self.instruction(instruction),
            Statement::Variable(variable) => self.variable(variable),
            Statement::Registers { name, ty, count } => self.declare_registers(name, *ty, *count),
            Statement::Block(statements) => self.block(statements),
            Statement::Location { file, line } => self.source = Some((*file, *line)),
            Statement::BranchTargets { .. }
            | Statement::CallPrototype { .. }
            | Statement::CallTargets => {}
        }
    }

    fn variable(&mut self, variable: &Variable<'a>) {
        let entity = match variable.home {
            home if is_framed(home) => {
                let bytes = variable.bytes.unwrap_or(0) as u32;
                let offset = self.function.frame_bytes.next_multiple_of(variable.align);
                self.function.frame_bytes = offset.saturating_add(bytes);
                Entity::Frame { offset, bytes }
            }
            Home::Shared if variable.bytes.unwrap_or(0) == 0 => Entity::Dynamic,
            Home::Shared => {
                let index = self.shared.shared_variable(variable);
                self.function.shared.push(index);
                Entity::Shared(index)
            }
            _ => {
                globals::declare_variable(variable, self.shared);
                globals::initialise_variable(variable, self.shared);
                return;
            }
        };
        self.names.declare(variable.name, entity);
    }

    fn declare_registers(&mut self, name: &'a str, ty: Type, count: Option<u32>) {
        let first = self.function.template.len() as u32;
        let words = slots_of(ty);
        // Unwritten registers read as a pattern that stands out.
        let length = (count.unwrap_or(1) * words) as usize;
        let fill = if ty == Type::Pred { 0 } else { 0xdead_beef_dead_beef };
        let width = u64::MAX >> (64 - ty.bits().min(64));
        self.function.template.extend(std::iter::repeat_n(fill & width, length));
        self.registers.push((first, length as u32, name.to_string(), count));
        match count {
            Some(count) => self.names.declare_range(name, first, count, ty),
            None => self.names.declare(name, Entity::Register { slot: first, ty }),
        }
    }

    fn instruction(&mut self, instruction: &Instruction<'a>) {
        self.line = instruction.line;
        let (start, jumps) = (self.builds.len(), self.jumps.len());
        if let Err(problem) = self.guarded_instruction(instruction) {
            self.builds.truncate(start);
            self.function.origins.truncate(start);
            self.jumps.truncate(jumps);
            match problem {
                Problem::Error(message) => self.shared.error(instruction.line, message),
                Problem::Unsupported => self.unsupported(instruction),
            }
        }
        if self.builds.len() > start {
            let mnemonic = self.shared.mnemonic(instruction.mnemonic());
            let last = self.function.origins.len() - 1;
            self.function.origins[last].mnemonic = Some(mnemonic);
        }
    }

    fn unsupported(&mut self, instruction: &Instruction<'a>) {
        let what = instruction.mnemonic();
        self.shared.unsupported.push(Unsupported { what: what.clone(), line: instruction.line });
        let text = self.function.texts.len() as u32;
        self.function.texts.push(what);
        let skipped = self.open_guard(instruction);
        self.push(Build::new(ops::unsupported).flow(Flow::End).with(|i| i.e = text));
        self.close_guard(skipped.ok().flatten());
    }

    fn guarded_instruction(&mut self, instruction: &Instruction<'a>) -> Result<(), Problem> {
        let mut modifiers = Modifiers::new(&instruction.modifiers);
        if instruction.opcode == "bra" {
            return self.branch(instruction, &mut modifiers);
        }
        let skipped = self.open_guard(instruction)?;
        self.decode_instruction(instruction, &mut modifiers)?;
        self.close_guard(skipped);
        Ok(())
    }

    /// Jumps over an instruction whose guard does not hold.
    fn open_guard(&mut self, instruction: &Instruction<'a>) -> Result<Option<usize>, Problem> {
        let Some(guard) = instruction.guard else { return Ok(None) };
        let slot = self.predicate(&Operand::Name(guard.name, 0))?;
        let run: Handler = if guard.negated { ops::jump_if } else { ops::jump_unless };
        self.push(Build::new(run).a(slot).flow(Flow::Branch));
        Ok(Some(self.builds.len() - 1))
    }

    fn close_guard(&mut self, skipped: Option<usize>) {
        if let Some(skipped) = skipped {
            self.builds[skipped].instruction.e = self.builds.len() as u32;
        }
    }

    /// Adds an instruction.
    pub(crate) fn push(&mut self, build: Build) {
        self.builds.push(build);
        let origin = Origin { line: self.line, source: self.source, mnemonic: None };
        self.function.origins.push(origin);
    }

    /// A slot that nothing else uses.
    pub(crate) fn scratch(&mut self) -> u32 {
        self.function.template.push(0);
        self.function.template.len() as u32 - 1
    }

    /// The slot that holds a constant.
    pub(crate) fn constant(&mut self, value: u64) -> u32 {
        if let Some(&slot) = self.constants.get(&value) {
            return slot;
        }
        let slot = self.scratch();
        self.function.template[slot as usize] = value;
        self.constants.insert(value, slot);
        slot
    }

    /// The slot that holds the address of a symbol.
    pub(crate) fn address_of(&mut self, symbol: Symbol, offset: i64) -> u32 {
        if let Some(&slot) = self.relocated.get(&(symbol, offset)) {
            return slot;
        }
        let slot = self.scratch();
        self.function.relocations.push((slot, symbol, offset));
        self.relocated.insert((symbol, offset), slot);
        if let Symbol::Code(function) = symbol {
            self.function.callees.push(function);
        }
        slot
    }

    fn finish(mut self) -> Function {
        self.push(Build::new(crate::execute::leave).flow(Flow::End));
        for (instruction, label) in std::mem::take(&mut self.jumps) {
            let place = self.names.places[label].unwrap_or(0);
            self.builds[instruction].instruction.e = place;
        }
        for (entry, label) in std::mem::take(&mut self.pool_jumps) {
            self.function.pool[entry] = self.names.places[label].unwrap_or(0);
        }
        self.function.code = self.builds.iter().map(|build| build.instruction).collect();
        let watched = poison::watched(&self.builds, &self.function, &self.register_slots());
        if !watched.is_empty() {
            self.function.names =
                watched.into_iter().map(|slot| (slot, self.register_name(slot))).collect();
            poison::guard(&self.builds, &mut self.function);
        }
        self.function
    }

    fn register_slots(&self) -> Vec<bool> {
        let mut slots = vec![false; self.function.template.len()];
        for &(first, length, ..) in &self.registers {
            slots[first as usize..(first + length) as usize].fill(true);
        }
        slots
    }

    fn register_name(&self, slot: u32) -> String {
        let holds = |&&(first, length, ..): &&(u32, u32, String, Option<u32>)| {
            (first..first + length).contains(&slot)
        };
        match self.registers.iter().find(holds) {
            Some((first, length, name, Some(count))) => {
                format!("{name}{}", (slot - first) / (length / count.max(&1)).max(1))
            }
            Some((_, _, name, None)) => name.clone(),
            None => format!("slot {slot}"),
        }
    }
}
