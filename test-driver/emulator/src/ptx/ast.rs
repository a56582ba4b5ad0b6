//! The syntax tree. Names borrow from the text.
//!
//! PTX ISA, "Syntax".

use super::types::Type;

/// A whole PTX text.
#[derive(Debug, Default)]
pub(crate) struct Ast<'a> {
    /// Of PTX: major and minor.
    pub(crate) version: (u32, u32),
    /// Capability and suffix of `.target sm_90a`.
    pub(crate) target: (u32, Option<char>),
    pub(crate) variables: Vec<Variable<'a>>,
    pub(crate) functions: Vec<Function<'a>>,
    pub(crate) aliases: Vec<Alias<'a>>,
    /// Number and path of each `.file`.
    pub(crate) files: Vec<(u32, &'a str)>,
}

/// `.alias name, of;`
#[derive(Debug)]
pub(crate) struct Alias<'a> {
    pub(crate) line: u32,
    pub(crate) name: &'a str,
    pub(crate) of: &'a str,
}

/// The state space a variable is declared in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateSpace {
    Global,
    Const,
    Shared,
    Local,
    Param,
    Register,
}

/// A variable: a global, a shared or local array, a parameter.
#[derive(Debug)]
pub(crate) struct Variable<'a> {
    pub(crate) line: u32,
    pub(crate) home: StateSpace,
    pub(crate) name: &'a str,
    pub(crate) ty: Type,
    /// In bytes; `None` for an array without a length.
    pub(crate) bytes: Option<u64>,
    pub(crate) align: u32,
    pub(crate) external: bool,
    /// Lengths of the array, of which an initialiser fills the last ones row by row.
    pub(crate) rows: Vec<u64>,
    /// Values and their numbers among the elements.
    pub(crate) initial: Vec<(u64, Initial<'a>)>,
}

/// An element of an initialiser.
#[derive(Debug)]
pub(crate) enum Initial<'a> {
    /// Bytes of the element's type.
    Bits(u64),
    /// An address plus an offset, of which `mask` selects the bytes.
    Address { name: &'a str, offset: i64, mask: u64 },
}

/// A `.entry` or `.func`.
#[derive(Debug)]
pub(crate) struct Function<'a> {
    pub(crate) line: u32,
    pub(crate) entry: bool,
    /// `visible`, `extern` or `weak`.
    pub(crate) linkage: Option<&'a str>,
    pub(crate) name: &'a str,
    pub(crate) returns: Vec<Variable<'a>>,
    pub(crate) parameters: Vec<Variable<'a>>,
    /// `.maxntid`
    pub(crate) max_block: Option<[u32; 3]>,
    /// `.reqntid`
    pub(crate) required_block: Option<[u32; 3]>,
    pub(crate) body: Option<Vec<Statement<'a>>>,
}

/// `.reg .b32 %r<12>;` declares `%r0` to `%r11`; without a count, `name` itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers<'a> {
    pub(crate) line: u32,
    pub(crate) name: &'a str,
    pub(crate) ty: Type,
    /// Of a vector 2 or 4, else 1.
    pub(crate) lanes: u32,
    pub(crate) count: Option<u32>,
}

/// A statement of a body.
#[derive(Debug)]
pub(crate) enum Statement<'a> {
    Label {
        line: u32,
        name: &'a str,
    },
    Instruction(Instruction<'a>),
    Variable(Variable<'a>),
    Registers(Registers<'a>),
    Block(Vec<Statement<'a>>),
    /// `.loc file line column`
    Location {
        file: u32,
        line: u32,
    },
    BranchTargets {
        label: &'a str,
        targets: Vec<&'a str>,
    },
    CallPrototype {
        label: &'a str,
    },
    CallTargets,
}

/// One instruction.
#[derive(Debug)]
pub(crate) struct Instruction<'a> {
    pub(crate) line: u32,
    pub(crate) guard: Option<Guard<'a>>,
    pub(crate) opcode: &'a str,
    pub(crate) modifiers: Vec<&'a str>,
    pub(crate) operands: Vec<Operand<'a>>,
}

/// `@%p1` or `@!%p1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard<'a> {
    pub(crate) negated: bool,
    pub(crate) name: &'a str,
}

/// An operand as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand<'a> {
    /// A register, variable, label or function; special registers keep their member: `%tid.x`.
    Name(&'a str, i64),
    Integer(u64),
    /// `0f3F800000`
    Single(u32),
    /// `0d3FF0000000000000`, or a decimal with a point.
    Double(u64),
    /// `[base + offset]`; several in brackets come as `Unknown`.
    Address {
        base: Base<'a>,
        offset: i64,
    },
    /// `[base, {x, y}]`: a place in a tensor.
    Place {
        base: Base<'a>,
        coordinates: Vec<Operand<'a>>,
    },
    /// `{a, b}`
    Vector(Vec<Operand<'a>>),
    /// `(a, b)`
    Group(Vec<Operand<'a>>),
    /// `!%p1`
    Not(&'a str),
    /// `%p1|%p2`
    Pair(Box<Operand<'a>>, Box<Operand<'a>>),
    /// `_`
    Sink,
    /// Brackets with something else in them.
    Unknown,
}

/// What an address is counted from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Base<'a> {
    Name(&'a str),
    Absolute(u64),
}

impl Instruction<'_> {
    /// The mnemonic with its modifiers, for messages: `ld.global.b32`.
    pub(crate) fn mnemonic(&self) -> String {
        let mut text = self.opcode.to_string();
        for modifier in &self.modifiers {
            text.push('.');
            text.push_str(modifier);
        }
        text
    }
}
