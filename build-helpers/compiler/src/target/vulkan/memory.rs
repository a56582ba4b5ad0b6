//! Which memory a pointer points into. WGSL has no pointers that a program could compute: a place is a word of one array
//! that is named where it is used. So each pointer has one memory, which is known here, or one of several, of which the code
//! carries the number ([`several`](super::several)), and an offset in bytes, which the code computes.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Opcode, Value};

use super::spaces::SHARED;

/// A memory of a kernel: an array of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Memory<'c> {
    /// The buffer of a parameter, by the number of the function's parameter.
    Buffer(usize),
    /// The bytes of a parameter that is passed by value.
    Bytes(usize),
    /// The panic record of the launch.
    Record,
    /// The dynamic shared memory of the launch.
    Dynamic,
    /// The variables of the program.
    Program,
    /// A stack slot.
    Slot(Value<'c>),
    /// A shared variable.
    Shared(Value<'c>),
    /// A constant.
    Table(Value<'c>),
    /// One of several, by the number of their list in the kernel.
    Several(usize),
    /// None: the pointer is null, or undefined.
    Nowhere,
}

/// Why a pointer has no memory that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// It was read from memory.
    Read,
    /// It was made of a number.
    Number,
    /// It is that of a variable of the device.
    Variable,
    /// It comes from something else.
    Other,
}

impl Unknown {
    /// What the kernel does, for a message.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Read => "uses a pointer that it has read from memory",
            Self::Number => "converts an integer to a pointer",
            Self::Variable => "uses a variable in the memory of the device",
            Self::Other => "uses a pointer whose buffer is not known",
        }
    }
}

/// What a function's parameters are.
#[derive(Clone, Debug, Default)]
pub(super) struct Parameters {
    /// By their numbers: those that are passed by value in memory.
    pub(super) by_value: Vec<bool>,
    /// The number of the one with the address of the panic record.
    pub(super) record: Option<usize>,
    /// The number of the one with the address of dynamic shared memory.
    pub(super) dynamic: Option<usize>,
    /// The number of the one with the address of the program's variables.
    pub(super) program: Option<usize>,
}

/// The memories that a pointer in a function may be of, each once: none for one that is null or undefined.
pub(super) fn of<'c>(
    function: Value<'c>,
    parameters: &Parameters,
    pointer: Value<'c>,
) -> Result<Vec<Memory<'c>>, Unknown> {
    let of_function = function.parameters();
    let (mut found, mut seen, mut work) = (Vec::new(), HashSet::new(), vec![pointer]);
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        let memory = match leaf(&of_function, parameters, value)? {
            Leaf::Memory(memory) => memory,
            Leaf::Of(sources) => {
                work.extend(sources);
                continue;
            }
        };
        if memory != Memory::Nowhere && !found.contains(&memory) {
            found.push(memory);
        }
    }
    Ok(found)
}

/// Where a pointer comes from.
enum Leaf<'c> {
    Memory(Memory<'c>),
    /// From these.
    Of(Vec<Value<'c>>),
}

fn leaf<'c>(
    of_function: &[Value<'c>],
    parameters: &Parameters,
    value: Value<'c>,
) -> Result<Leaf<'c>, Unknown> {
    if value.is_undefined() || value.is_zero() && !value.is_instruction() {
        return Ok(Leaf::Memory(Memory::Nowhere));
    }
    if value.is_global() {
        return match value {
            _ if value.ty().address_space() == SHARED => Ok(Leaf::Memory(Memory::Shared(value))),
            _ if value.is_global_constant() && value.initializer().is_some() => {
                Ok(Leaf::Memory(Memory::Table(value)))
            }
            _ => Err(Unknown::Variable),
        };
    }
    if let Some(number) = of_function.iter().position(|it| *it == value) {
        let memory = match parameters.by_value.get(number) {
            _ if parameters.dynamic == Some(number) => Memory::Dynamic,
            _ if parameters.program == Some(number) => Memory::Program,
            Some(true) => Memory::Bytes(number),
            _ => Memory::Buffer(number),
        };
        return Ok(Leaf::Memory(memory));
    }
    let opcode = match () {
        () if value.is_instruction() => value.opcode(),
        () if value.is_constant_expression() => value.constant_opcode(),
        () => return Err(Unknown::Other),
    };
    match opcode {
        Opcode::GetElementPtr | Opcode::AddrSpaceCast | Opcode::BitCast | Opcode::Freeze => {
            Ok(Leaf::Of(vec![value.operand(0)]))
        }
        Opcode::Select => Ok(Leaf::Of(vec![value.operand(1), value.operand(2)])),
        Opcode::Phi => Ok(Leaf::Of(value.operands())),
        Opcode::Alloca => Ok(Leaf::Memory(Memory::Slot(value))),
        Opcode::Load => Err(Unknown::Read),
        Opcode::IntToPtr => {
            let record = parameters.record.map(|index| of_function[index]);
            match record == Some(value.operand(0)) {
                true => Ok(Leaf::Memory(Memory::Record)),
                false => Err(Unknown::Number),
            }
        }
        _ => Err(Unknown::Other),
    }
}
