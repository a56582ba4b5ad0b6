//! Activity analysis: values that vary with the active parameters and are useful for the result.
//!
//! A value is active if it is varied and useful: Hascoët, Naumann and Pascual, "'To be recorded' analysis
//! in reverse-mode automatic differentiation" (2005).

use std::collections::HashSet;

use kernelmill_llvm::ir::{Opcode, Value};

use super::{
    cfg::Cfg,
    floats::holds_floats,
    memory::{Memory, Root, transfer},
};
use crate::{
    Activity, Mode, Request,
    rules::{Flow, Partial, Rules, flows},
};

/// The activity of all values of a function.
#[derive(Debug)]
pub(crate) struct Activities<'c> {
    parameters: Vec<Activity>,
    varied: HashSet<Value<'c>>,
    /// Useful values, which reach a result; `None` in forward mode.
    useful: Option<HashSet<Value<'c>>>,
    /// Stack slots that hold varied values.
    slots: HashSet<Value<'c>>,
}

impl<'c> Activities<'c> {
    pub(crate) fn of(
        function: Value<'c>,
        cfg: &Cfg<'c>,
        memory: &Memory<'c>,
        rules: &Rules,
        request: &Request,
    ) -> Self {
        let parameters = &request.activities;
        let mut found = Self {
            parameters: parameters.clone(),
            varied: HashSet::new(),
            useful: None,
            slots: HashSet::new(),
        };
        for (value, activity) in function.parameters().into_iter().zip(parameters) {
            if *activity != Activity::Constant && holds_floats(value.ty()) {
                found.varied.insert(value);
            }
        }
        let instructions: Vec<_> = cfg.instructions().collect();
        loop {
            let before = (found.varied.len(), found.slots.len());
            for &instruction in &instructions {
                found.step(instruction, memory, rules);
            }
            if before == (found.varied.len(), found.slots.len()) {
                break;
            }
        }
        if request.mode == Mode::Reverse {
            found.find_useful(&instructions, memory, rules);
        }
        found
    }

    /// Whether a value is active: varied and useful.
    pub(crate) fn is_active(&self, value: Value<'c>) -> bool {
        self.is_varied(value) && self.useful.as_ref().is_none_or(|useful| useful.contains(&value))
    }

    /// Whether a value varies with the active parameters.
    pub(crate) fn is_varied(&self, value: Value<'c>) -> bool {
        self.varied.contains(&value)
    }

    /// Whether the memory of a pointer has a shadow.
    pub(crate) fn is_shadowed(&self, memory: &Memory<'c>, pointer: Value<'c>) -> bool {
        memory.roots(pointer).into_iter().any(|root| self.is_shadowed_root(memory, root))
    }

    pub(crate) fn is_shadowed_root(&self, memory: &Memory<'c>, root: Root<'c>) -> bool {
        match root {
            Root::Parameter(index) => self.parameters[index as usize] != Activity::Constant,
            Root::Slot(slot) => self.slots.contains(&slot),
            Root::Loaded(load) => self.is_shadowed(memory, load.operand(0)),
            Root::Global(_) | Root::Unknown => false,
        }
    }

    /// Whether several threads may add to the shadow of a pointer's memory.
    pub(crate) fn is_shared(&self, memory: &Memory<'c>, pointer: Value<'c>) -> bool {
        memory.roots(pointer).into_iter().any(|root| match root {
            Root::Parameter(index) => self.parameters[index as usize] == Activity::Shared,
            Root::Loaded(load) => self.is_shared(memory, load.operand(0)),
            _ => false,
        })
    }

    fn carries(&self, value: Value<'c>, memory: &Memory<'c>) -> bool {
        self.is_varied(value) || value.ty().is_pointer() && self.is_shadowed(memory, value)
    }

    fn step(&mut self, instruction: Value<'c>, memory: &Memory<'c>, rules: &Rules) {
        match instruction.opcode() {
            Opcode::Store if self.carries(instruction.operand(0), memory) => {
                self.reaches(instruction.operand(1), memory);
            }
            Opcode::Call if transfer(instruction).is_some() => {
                let from = instruction.operand(1);
                if from.ty().is_pointer() && self.is_shadowed(memory, from) {
                    self.reaches(instruction.operand(0), memory);
                }
            }
            Opcode::Call if flows(rules, instruction).is_none() => {
                let arguments = instruction.arguments();
                if arguments.iter().any(|argument| self.carries(*argument, memory)) {
                    for argument in arguments.into_iter().filter(|value| value.ty().is_pointer()) {
                        self.reaches(argument, memory);
                    }
                    self.vary(instruction);
                }
            }
            Opcode::Load => {
                if self.is_shadowed(memory, instruction.operand(0)) {
                    self.vary(instruction);
                }
            }
            _ => {
                let sources = sources(rules, instruction);
                if sources.iter().any(|source| self.is_varied(*source)) {
                    self.vary(instruction);
                }
            }
        }
    }

    fn vary(&mut self, value: Value<'c>) {
        if holds_floats(value.ty()) {
            self.varied.insert(value);
        }
    }

    fn reaches(&mut self, pointer: Value<'c>, memory: &Memory<'c>) {
        for root in memory.roots(pointer) {
            if let Root::Slot(slot) = root {
                self.slots.insert(slot);
            }
        }
    }

    fn find_useful(&mut self, instructions: &[Value<'c>], memory: &Memory<'c>, rules: &Rules) {
        let mut useful = HashSet::new();
        let mut stack: Vec<Value<'c>> = Vec::new();
        for &instruction in instructions {
            match instruction.opcode() {
                Opcode::Ret => stack.extend(instruction.operands()),
                Opcode::Store if self.is_shadowed(memory, instruction.operand(1)) => {
                    stack.push(instruction.operand(0));
                }
                Opcode::Call if flows(rules, instruction).is_none() => {
                    stack.extend(instruction.arguments());
                }
                _ => {}
            }
        }
        while let Some(value) = stack.pop() {
            if self.is_varied(value) && useful.insert(value) && value.is_instruction() {
                stack.extend(sources(rules, value));
            }
        }
        self.useful = Some(useful);
    }
}

/// The operands that an instruction's result varies with.
pub(crate) fn sources<'c>(rules: &Rules, instruction: Value<'c>) -> Vec<Value<'c>> {
    if let Some(flows) = flows(rules, instruction) {
        let flowing =
            |flow: &Flow<'_>| !matches!(flow, Flow::Partial(Partial::Zero) | Flow::Custom(""));
        let operands = instruction.operands().into_iter().zip(flows);
        return operands.filter(|(_, flow)| flowing(flow)).map(|(operand, _)| operand).collect();
    }
    match instruction.opcode() {
        Opcode::Select => instruction.operands()[1..].to_vec(),
        Opcode::ICmp | Opcode::FCmp | Opcode::Load => Vec::new(),
        Opcode::SIToFP | Opcode::UIToFP => Vec::new(),
        _ => instruction.operands().into_iter().filter(|operand| !operand.is_block()).collect(),
    }
}
