//! Alias analysis: the objects that pointers are derived from, and the objects that a function writes.

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
};

use kernelmill_llvm::ir::{Opcode, Value};

use super::cfg::Cfg;
use crate::rules::{Rules, flows};

/// The object that a pointer is derived from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Root<'c> {
    /// A parameter, by its index.
    Parameter(u32),
    /// A stack slot.
    Slot(Value<'c>),
    /// A global variable.
    Global(Value<'c>),
    /// A pointer that this instruction read.
    Loaded(Value<'c>),
    /// Anything.
    Unknown,
}

/// The memory of one function.
#[derive(Debug)]
pub(crate) struct Memory<'c> {
    parameters: Vec<Value<'c>>,
    /// Whether pointers of different parameters do not alias.
    distinct: bool,
    /// The objects that are written, and by which instruction.
    writes: Vec<Root<'c>>,
    escaped: HashSet<Value<'c>>,
    roots: RefCell<HashMap<Value<'c>, Vec<Root<'c>>>>,
}

impl<'c> Memory<'c> {
    pub(crate) fn of(function: Value<'c>, cfg: &Cfg<'c>, rules: &Rules, distinct: bool) -> Self {
        let mut memory = Self {
            parameters: function.parameters(),
            distinct,
            writes: Vec::new(),
            escaped: HashSet::new(),
            roots: RefCell::new(HashMap::new()),
        };
        let instructions: Vec<_> = cfg.instructions().collect();
        for &instruction in &instructions {
            if is_foreign(rules, instruction) {
                memory.writes.push(Root::Unknown);
            }
            for pointer in written(instruction) {
                let roots = memory.roots(pointer);
                memory.writes.extend(roots);
            }
            memory.note_escapes(instruction);
        }
        memory
    }

    /// The objects that a pointer may be derived from; none for null.
    pub(crate) fn roots(&self, pointer: Value<'c>) -> Vec<Root<'c>> {
        if let Some(known) = self.roots.borrow().get(&pointer) {
            return known.clone();
        }
        let mut found = Vec::new();
        let (mut seen, mut stack) = (HashSet::new(), vec![pointer]);
        while let Some(value) = stack.pop() {
            if !seen.insert(value) || value.is_zero() || value.is_undefined() {
                continue;
            }
            match self.root(value) {
                Ok(root) if !found.contains(&root) => found.push(root),
                Ok(_) => {}
                Err(through) => stack.extend(through),
            }
        }
        self.roots.borrow_mut().insert(pointer, found.clone());
        found
    }

    /// The object that a pointer is the address of, or the pointers that it is computed from.
    fn root(&self, value: Value<'c>) -> Result<Root<'c>, Vec<Value<'c>>> {
        if let Some(index) = self.parameters.iter().position(|parameter| *parameter == value) {
            return Ok(Root::Parameter(index as u32));
        }
        if value.is_global() || value.is_function() {
            return Ok(Root::Global(value));
        }
        if value.is_constant_expression() {
            return match value.constant_opcode() {
                Opcode::GetElementPtr | Opcode::AddrSpaceCast => Err(vec![value.operand(0)]),
                _ => Ok(Root::Unknown),
            };
        }
        if !value.is_instruction() {
            return Ok(Root::Unknown);
        }
        match value.opcode() {
            Opcode::Alloca => Ok(Root::Slot(value)),
            Opcode::Load => Ok(Root::Loaded(value)),
            Opcode::GetElementPtr | Opcode::AddrSpaceCast | Opcode::BitCast | Opcode::Freeze => {
                Err(vec![value.operand(0)])
            }
            Opcode::Phi => Err(value.operands()),
            Opcode::Select => Err(value.operands()[1..].to_vec()),
            _ => Ok(Root::Unknown),
        }
    }

    /// Whether the memory at a pointer does not change during the function.
    pub(crate) fn is_unchanged(&self, pointer: Value<'c>) -> bool {
        let roots = self.roots(pointer);
        roots.iter().all(|root| !self.writes.iter().any(|write| self.may_be_same(*root, *write)))
    }

    fn may_be_same(&self, a: Root<'c>, b: Root<'c>) -> bool {
        use Root::{Global, Loaded, Parameter, Slot, Unknown};
        match (a, b) {
            (Slot(a), Slot(b)) | (Global(a), Global(b)) => a == b,
            (Slot(slot), Loaded(_) | Unknown) | (Loaded(_) | Unknown, Slot(slot)) => {
                self.escaped.contains(&slot)
            }
            (Slot(_), _) | (_, Slot(_)) => false,
            (Parameter(a), Parameter(b)) => a == b || !self.distinct,
            (Global(global), other) | (other, Global(global)) => {
                let constant = global.is_global() && global.is_global_constant();
                !constant && (!self.distinct || other == Unknown)
            }
            (Parameter(_), Loaded(_)) | (Loaded(_), Parameter(_)) => !self.distinct,
            (Unknown | Loaded(_), _) | (_, Unknown) => true,
        }
    }

    /// Records the stack slots whose address escapes by an instruction.
    fn note_escapes(&mut self, instruction: Value<'c>) {
        let given: Vec<Value<'c>> = match instruction.opcode() {
            Opcode::Store => vec![instruction.operand(0)],
            Opcode::Call => match transfer(instruction) {
                Some(_) => Vec::new(),
                None => instruction.arguments(),
            },
            Opcode::PtrToInt | Opcode::InsertValue => instruction.operands(),
            _ => return,
        };
        for pointer in given.into_iter().filter(|value| value.ty().is_pointer()) {
            for root in self.roots(pointer) {
                if let Root::Slot(slot) = root {
                    self.escaped.insert(slot);
                }
            }
        }
    }
}

/// A copy or fill of memory by one of LLVM's intrinsics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transfer {
    Copy,
    /// A copy between ranges that may overlap.
    Move,
    Fill,
}

/// The transfer that a call makes.
pub(crate) fn transfer(instruction: Value<'_>) -> Option<Transfer> {
    let name = instruction.called_function()?.name();
    [
        ("llvm.memcpy.", Transfer::Copy),
        ("llvm.memmove.", Transfer::Move),
        ("llvm.memset.", Transfer::Fill),
    ]
    .into_iter()
    .find_map(|(prefix, transfer)| name.starts_with(prefix).then_some(transfer))
}

/// Whether a call is pure: it only computes from its arguments.
pub(crate) fn is_pure(call: Value<'_>) -> bool {
    use kernelmill_llvm::ir::Place;
    let Some(callee) = call.called_function() else { return false };
    let none = callee.attribute_number(Place::Function, "memory") == Some(0);
    none && !callee.has_attribute(Place::Function, "convergent")
}

/// Whether a call is an intrinsic that only informs LLVM's optimiser.
pub(crate) fn is_hint(call: Value<'_>) -> bool {
    const HINTS: [&str; 6] = [
        "llvm.assume",
        "llvm.lifetime.",
        "llvm.dbg.",
        "llvm.experimental.noalias.scope.decl",
        "llvm.donothing",
        "llvm.invariant.",
    ];
    call.called_function()
        .is_some_and(|callee| HINTS.iter().any(|hint| callee.name().starts_with(hint)))
}

/// Whether an instruction calls an unknown function.
pub(crate) fn is_foreign(rules: &Rules, instruction: Value<'_>) -> bool {
    instruction.is_call()
        && transfer(instruction).is_none()
        && !is_hint(instruction)
        && !is_pure(instruction)
        && flows(rules, instruction).is_none()
}

/// The pointers through which an instruction may write.
fn written(instruction: Value<'_>) -> Vec<Value<'_>> {
    match instruction.opcode() {
        Opcode::Store => vec![instruction.operand(1)],
        Opcode::AtomicRmw | Opcode::AtomicCmpXchg => vec![instruction.operand(0)],
        Opcode::Call if transfer(instruction).is_some() => vec![instruction.operand(0)],
        Opcode::Call if is_hint(instruction) || is_pure(instruction) => Vec::new(),
        Opcode::Call => {
            let arguments = instruction.arguments().into_iter();
            arguments.filter(|argument| argument.ty().is_pointer()).collect()
        }
        _ => Vec::new(),
    }
}
