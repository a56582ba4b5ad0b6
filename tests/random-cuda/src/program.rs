//! A kernel as a tree. Every variable is there from the start, so that each statement can be left
//! out and what remains still compiles.

use crate::operators::{Binary, Unary};

/// Numbers in the array that a kernel reads.
pub const INPUTS: usize = 97;
/// Counters of each atomic operation.
pub(crate) const BINS: usize = 8;
/// The most fields of the structure that a thread has in memory.
pub(crate) const FIELDS: usize = 4;
/// Elements of a thread's own array.
pub(crate) const ELEMENTS: u32 = 4;
/// Integer variables; the first ones have the same value in every thread of a block.
pub(crate) const INTS: usize = 6;
pub(crate) const UNIFORM_INTS: usize = 2;
/// Real variables.
pub(crate) const REALS: usize = 4;

/// A kernel with the functions it calls.
#[derive(Clone, Debug)]
pub struct Program {
    /// The kernel's name.
    pub name: String,
    /// Threads of a block.
    pub block: [u32; 2],
    /// Fields of the structure that a thread has in memory.
    pub(crate) fields: usize,
    /// Functions; each calls those before it only. Their first variables are their arguments.
    pub(crate) functions: Vec<Function>,
    pub(crate) body: Vec<Statement>,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) is_inline: bool,
    pub(crate) body: Vec<Statement>,
    pub(crate) result: Int,
}

/// What a thread knows of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Thread,
    /// The thread's index along x, and along y.
    Column,
    Row,
    Lane,
    Warp,
    Block,
    Index,
    /// The kernel's parameter.
    Count,
}

/// An integer of 32 bits.
#[derive(Clone, Debug)]
pub(crate) enum Int {
    Constant(u32),
    Variable(usize),
    /// The counter of a loop around it.
    Counter(usize),
    /// The mask of an election around it.
    Elected(usize),
    Place(Place),
    Input(Box<Int>),
    Element(Box<Int>),
    /// The quotient of a number by one that all threads share and no compiler knows, or the remainder.
    Coordinate {
        of: Box<Int>,
        /// The divisor is at most this.
        most: u32,
        is_rest: bool,
    },
    Unary(&'static Unary<u32>, Box<Int>),
    Binary(&'static Binary<u32>, Box<Int>, Box<Int>),
    Select(Box<Test>, Box<Int>, Box<Int>),
    Call(usize, Box<Int>, Box<Int>),
    FromReal(&'static Unary<f32, u32>, Box<Real>),
}

/// A real number in single precision.
#[derive(Clone, Debug)]
pub(crate) enum Real {
    Constant(f32),
    Variable(usize),
    FromInt(&'static Unary<u32, f32>, Box<Int>),
    Unary(&'static Unary<f32>, Box<Real>),
    Binary(&'static Binary<f32>, Box<Real>, Box<Real>),
    Select(Box<Test>, Box<Real>, Box<Real>),
}

#[derive(Clone, Debug)]
pub(crate) enum Test {
    Constant(bool),
    Int(&'static Binary<u32, bool>, Int, Int),
    Real(&'static Binary<f32, bool>, Real, Real),
    And(Box<Test>, Box<Test>),
    Or(Box<Test>, Box<Test>),
}

/// Lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    All,
    Low,
    High,
    Elected(usize),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum WarpOperation {
    /// With the lane whose number differs by these bits.
    Xor(u32),
    /// From a lane by its number.
    Index,
    /// From the first of the elected lanes.
    First,
    /// From a lane so many further down, in parts of so many lanes.
    Up(u32, u32),
    Down(u32, u32),
    Ballot,
    Any,
    All,
    Match,
    Sum,
    Greatest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    For,
    While,
    DoWhile,
}

#[derive(Clone, Debug)]
pub(crate) enum Statement {
    Set(usize, Int),
    SetReal(usize, Real),
    SetElement(Int, Int),
    If(Test, Vec<Statement>, Vec<Statement>),
    /// Goes round while the test holds, at most so many times.
    Loop {
        id: usize,
        form: Form,
        most: u32,
        test: Test,
        body: Vec<Statement>,
    },
    /// Leaves the loop of this number.
    Break(Test, usize),
    /// Goes on with the next round of the loop of this number.
    Continue(Test, usize),
    /// Ends the thread, or the function with a value.
    Return(Test, Int),
    /// Cases, and whether each goes on with the next one.
    Switch(Int, Vec<(Vec<Statement>, bool)>),
    SyncThreads,
    SyncWarp(Lanes),
    /// Puts a value into shared memory and takes another thread's.
    Exchange {
        to: usize,
        value: Int,
        from: Int,
    },
    /// Counts in shared memory, and reads a counter.
    Tally {
        to: usize,
        atomic: usize,
        index: Int,
        value: Int,
        from: Int,
    },
    Warp {
        to: usize,
        operation: WarpOperation,
        value: Int,
        lane: Int,
        lanes: Lanes,
    },
    /// A real number from the lane whose number differs by these bits.
    ShuffleReal {
        to: usize,
        value: Real,
        bits: u32,
    },
    /// The threads of a warp for which the test holds go on together.
    Elect {
        id: usize,
        test: Test,
        body: Vec<Statement>,
    },
    /// The lower and the upper half of each warp go different ways.
    Halves(Vec<Statement>, Vec<Statement>),
    /// In global memory, for all blocks.
    Atomic {
        atomic: usize,
        index: Int,
        value: Int,
    },
    /// In the first field of the thread's own structure, with what was there before.
    Own {
        to: usize,
        atomic: usize,
        value: Int,
    },
    /// The same in each round of a loop, and nobody learns what was there before.
    OwnLoop {
        id: usize,
        most: u32,
        atomic: usize,
        value: Int,
    },
    /// Reads two fields of the thread's own structure, writes to some, and reads the two again.
    Fields {
        to: usize,
        read: [usize; 2],
        writes: Vec<(usize, Int)>,
        /// Writes through an index that is the thread's own, which no compiler knows.
        through: bool,
    },
}

impl Statement {
    /// The lists of statements in it.
    pub(crate) fn bodies(&self) -> Vec<&Vec<Self>> {
        match self {
            Self::If(_, yes, no) | Self::Halves(yes, no) => vec![yes, no],
            Self::Loop { body, .. } | Self::Elect { body, .. } => vec![body],
            Self::Switch(_, cases) => cases.iter().map(|(body, _)| body).collect(),
            _ => Vec::new(),
        }
    }

    /// The same, to change them.
    pub(crate) fn bodies_mut(&mut self) -> Vec<&mut Vec<Self>> {
        match self {
            Self::If(_, yes, no) | Self::Halves(yes, no) => vec![yes, no],
            Self::Loop { body, .. } | Self::Elect { body, .. } => vec![body],
            Self::Switch(_, cases) => cases.iter_mut().map(|(body, _)| body).collect(),
            _ => Vec::new(),
        }
    }
}

impl Program {
    /// Whether threads use shared memory.
    pub(crate) fn has_shared(&self) -> bool {
        fn has(body: &[Statement]) -> bool {
            let is_use =
                |it: &Statement| matches!(it, Statement::Exchange { .. } | Statement::Tally { .. });
            body.iter().any(|it| is_use(it) || it.bodies().into_iter().any(|inner| has(inner)))
        }
        has(&self.body)
    }

    /// Threads of a block.
    #[must_use]
    pub fn threads(&self) -> usize {
        (self.block[0] * self.block[1]) as usize
    }
}
