//! One function.

use super::build::{Build, Flow};
use super::context::ModuleContext;
use super::globals;
use super::layout::{is_framed, lay_out};
use super::modifiers::Modifiers;
use super::names::{Duplicate, Entity, Frame, Names};
use super::problem::Problem;
use super::registers::{RegisterParameters, Registers};
use crate::execute::Handler;
use crate::execute::instructions::{control_flow, leave};
use crate::program::{Function, Origin, Parts, Slice, Symbol, Unsupported};
use crate::ptx;
use crate::ptx::{Instruction, Operand, StateSpace, Statement, Variable};
use std::collections::{BTreeMap, HashMap};

/// The body of a decoded function, before it is analysed.
#[derive(Default)]
pub(crate) struct Body {
    pub(crate) builds: Vec<Build>,
    pub(crate) registers: Registers,
}

/// The function being decoded.
///
/// One type with many methods: one for each kind of instruction, in a file for each chapter of the PTX
/// ISA.
pub(crate) struct Decoder<'s, 'a> {
    pub(crate) context: &'s mut ModuleContext<'a>,
    pub(crate) names: Names<'a>,
    pub(crate) function: Function,
    pub(crate) builds: Vec<Build>,
    constants: HashMap<u64, u32>,
    relocated: HashMap<(Symbol, i64), u32>,
    /// Instructions whose `e` is a label's number, or whose pool entry is.
    pub(crate) jumps: Vec<(usize, usize)>,
    pub(crate) pool_jumps: Vec<(usize, usize)>,
    /// Parameters of a function that are registers.
    pub(super) given: RegisterParameters,
    /// The parts of results, its own and those of calls, by their places in the frame.
    pub(super) parts: BTreeMap<u32, Parts>,
    source: Option<(u32, u32)>,
    pub(crate) line: u32,
    /// Whether the registers of the instruction have the width and kind of its type.
    pub(super) is_strict: bool,
}

/// Decodes a function that has a body.
pub(crate) fn decode<'a>(tree: &ptx::Function<'a>, context: &mut ModuleContext<'a>) -> Body {
    let index = context.symbols.functions[tree.name];
    let declared = std::mem::take(&mut context.program.functions[index]);
    let mut decoder = Decoder {
        context,
        names: Names::default(),
        function: Function { defined: true, entry: tree.entry, ..declared },
        builds: Vec::new(),
        constants: HashMap::new(),
        relocated: HashMap::new(),
        jumps: Vec::new(),
        pool_jumps: Vec::new(),
        given: RegisterParameters::default(),
        parts: BTreeMap::new(),
        source: None,
        line: tree.line,
        is_strict: false,
    };
    let body = tree.body.as_deref().unwrap_or(&[]);
    decoder.open(body);
    decoder.declare_parameters(tree);
    body.iter().for_each(|statement| decoder.statement(statement));
    let (function, body) = decoder.finish();
    context.program.functions[index] = function;
    body
}

impl<'a> Decoder<'_, 'a> {
    fn declare_parameters(&mut self, tree: &ptx::Function<'a>) {
        let parameters = lay_out(&tree.parameters, 0);
        let end = parameters.last().map_or(0, |last| last.offset + last.size);
        let returns = lay_out(&tree.returns, end);
        let end = returns.last().map_or(end, |last| last.offset + last.size);
        let given = tree.parameters.iter().map(|variable| (variable, Frame::Input));
        let variables = given.chain(tree.returns.iter().map(|variable| (variable, Frame::Result)));
        for ((variable, kind), place) in variables.zip(parameters.iter().chain(&returns)) {
            let (offset, bytes) = (place.offset, place.size);
            if kind == Frame::Result && !tree.entry {
                let parts = self.parts_of(variable.name, (bytes, variable.ty.bytes()), true);
                self.parts.insert(offset, parts);
                self.function.result_parts.push(parts);
            }
            if variable.home == StateSpace::Register {
                self.register_parameter(tree, variable, Slice { offset, bytes });
                continue;
            }
            let entity = if tree.entry {
                Entity::Parameter { offset, bytes }
            } else {
                Entity::Frame { offset, bytes, kind }
            };
            self.declare(variable.line, variable.name, entity);
        }
        // A kernel's parameters are not in its frame.
        self.function.frame_bytes = if tree.entry { 0 } else { end };
    }

    fn declare(&mut self, line: u32, name: &'a str, entity: Entity) {
        if !self.names.declare(name, entity) {
            self.context.error(line, format!("`{name}` is declared twice"));
        }
    }

    fn open(&mut self, statements: &[Statement<'a>]) {
        for Duplicate { line, name } in self.names.open(statements) {
            self.context.error(line, format!("the label `{name}` is defined twice in this scope"));
        }
    }

    fn block(&mut self, statements: &[Statement<'a>]) {
        self.open(statements);
        for statement in statements {
            self.statement(statement);
        }
        self.names.close();
    }

    fn statement(&mut self, statement: &Statement<'a>) {
        match statement {
            Statement::Label { name, .. } => {
                if let Some(label) = self.names.label(name) {
                    self.names.places[label] = Some(self.builds.len() as u32);
                }
            }
            Statement::Instruction(instruction) => self.instruction(instruction),
            Statement::Variable(variable) => self.variable(variable),
            Statement::Registers(registers) => self.declare_registers(registers),
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
                let bytes = u32::try_from(variable.bytes.unwrap_or(0)).unwrap_or(u32::MAX);
                let kind = if home == StateSpace::Param { Frame::Argument } else { Frame::Local };
                Entity::Frame { offset: self.frame_space(bytes, variable.align), bytes, kind }
            }
            StateSpace::Shared if variable.bytes.unwrap_or(0) == 0 => Entity::Dynamic,
            StateSpace::Shared => {
                let index = self.context.shared_variable(variable);
                self.function.shared.push(index);
                Entity::Shared(index)
            }
            _ => Entity::Global(globals::declare_local(variable, self.context)),
        };
        self.declare(variable.line, variable.name, entity);
    }

    /// Room in the function's frame.
    pub(super) fn frame_space(&mut self, bytes: u32, align: u32) -> u32 {
        let frame = &mut self.function.frame_bytes;
        let offset = frame.checked_next_multiple_of(align).unwrap_or(u32::MAX);
        *frame = offset.saturating_add(bytes);
        offset
    }

    fn declare_registers(&mut self, registers: &ptx::Registers<'a>) {
        if !self.names.declare_registers(registers) {
            let name = registers.name;
            self.context.error(registers.line, format!("register `{name}` is declared twice"));
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
                Problem::Error(message) => self.context.error(instruction.line, message),
                Problem::Unsupported => self.unsupported(instruction),
            }
        }
        if self.builds.len() > start {
            let mnemonic = self.context.mnemonic(instruction.mnemonic());
            let last = self.function.origins.len() - 1;
            self.function.origins[last].mnemonic = Some(mnemonic);
        }
    }

    fn unsupported(&mut self, instruction: &Instruction<'a>) {
        let what = instruction.mnemonic();
        self.context.unsupported.push(Unsupported { what: what.clone(), line: instruction.line });
        let text = self.function.tables.texts.len() as u32;
        self.function.tables.texts.push(what);
        let skipped = self.open_guard(instruction);
        self.push(Build::new(control_flow::unsupported).flow(Flow::End).with(|i| i.e = text));
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
        let run: Handler =
            if guard.negated { control_flow::jump_if } else { control_flow::jump_unless };
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
        self.names.file.scratch(0)
    }

    /// The slot that holds a constant.
    pub(crate) fn constant(&mut self, value: u64) -> u32 {
        if let Some(&slot) = self.constants.get(&value) {
            return slot;
        }
        let slot = self.names.file.scratch(value);
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

    /// The function, and its body.
    fn finish(mut self) -> (Function, Body) {
        self.give_back();
        self.push_return(leave);
        for (instruction, label) in std::mem::take(&mut self.jumps) {
            let place = self.names.places[label].unwrap_or(0);
            self.builds[instruction].instruction.e = place;
        }
        for (entry, label) in std::mem::take(&mut self.pool_jumps) {
            self.function.tables.pool[entry] = self.names.places[label].unwrap_or(0);
        }
        self.function.template = self.names.file.template;
        (self.function, Body { builds: self.builds, registers: self.names.file.registers })
    }
}
