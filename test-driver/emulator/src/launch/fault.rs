//! What goes wrong in a kernel, and where.

use super::report::Report;
use super::space::Space;
use std::{fmt, sync::Arc};

/// The other side of a race: the access that came first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Block of the thread that made the access.
    pub block: [u32; 3],
    /// Thread that made the access.
    pub thread: [u32; 3],
    /// PTX line of the access, from 1.
    pub line: u32,
    /// Whether it wrote.
    pub write: bool,
}

/// The allocation nearest to an address that lies outside all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// First device address of the allocation.
    pub base: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// What a thread did wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access outside every allocation, or outside the shared or local memory there is.
    OutOfBounds {
        /// Space named by the instruction.
        space: Space,
        /// Address of the access.
        address: u64,
        /// Length of the access in bytes.
        bytes: u32,
        /// Whether it was a store.
        write: bool,
        /// The allocation that was probably meant.
        nearest: Option<Nearest>,
    },
    /// An access to an allocation that has been freed.
    UseAfterFree {
        /// Address of the access.
        address: u64,
        /// Length of the access in bytes.
        bytes: u32,
        /// The allocation that was freed.
        allocation: Nearest,
    },
    /// An address that is not a multiple of the access's length.
    Misaligned {
        /// Space named by the instruction.
        space: Space,
        /// Address of the access.
        address: u64,
        /// Alignment wanted, in bytes.
        bytes: u32,
    },
    /// A store to memory that cannot be written: constants and kernel arguments.
    ReadOnly {
        /// Address of the store.
        address: u64,
    },
    /// A read of shared memory that no thread of the block has written.
    UninitializedShared {
        /// Offset in the block's shared memory.
        address: u64,
        /// Length of the access in bytes.
        bytes: u32,
    },
    /// A use of a register that was never written: in a branch, an address, a store that others see. To
    /// copy it or to compute with it is no fault, what comes of that is undefined as well.
    UninitializedRegister {
        /// The register's name in the PTX.
        register: String,
    },
    /// A use of what `shfl.sync` gave from a lane that takes no part: it has ended or is not in the mask.
    UndefinedShuffle {
        /// The register that the shuffle wrote, by its name in the PTX.
        register: String,
    },
    /// A use of a result that the function which was called has not written, or has written from something
    /// undefined.
    UninitializedResult {
        /// The variable or register of the caller that the result went to, by its name in the PTX.
        variable: String,
    },
    /// No thread of the block can go on. Threads that read the word of their own last atomic operation in a loop, as at a
    /// barrier of the grid, cannot either where no other block of the launch can: all wait, or have yet to begin.
    Deadlock {
        /// Who waits for what.
        waiting: String,
    },
    /// Threads of one warp wait at different `bar.sync` instructions of the same barrier.
    DivergentBarrier {
        /// Number of the barrier.
        barrier: u32,
        /// PTX lines of two of the instructions.
        lines: [u32; 2],
    },
    /// Lanes named in the mask of a `.sync` operation never arrive, or the caller is not in it.
    MissingLanes {
        /// The mask given.
        mask: u32,
        /// The lanes of it that are missing.
        missing: u32,
    },
    /// The launch took more instructions than [`Options::step_budget`](crate::Options) allows.
    StepBudget {
        /// The budget, in instructions.
        budget: u64,
    },
    /// A loop that never ends: a thread came back to the same instruction with the same registers, and nothing
    /// that it did in between reads or writes anything else. Found for loops of up to 512 instructions.
    EndlessLoop {
        /// The instructions of the loop.
        instructions: u64,
    },
    /// Two threads accessed the same bytes, one of them writing, with nothing that orders them.
    Race {
        /// Global or shared.
        space: Space,
        /// Address of the access.
        address: u64,
        /// Whether the later access wrote.
        write: bool,
        /// The earlier access.
        other: Access,
    },
    /// A `trap` instruction.
    Trap,
    /// A `brkpt` instruction; no debugger is attached.
    Breakpoint,
    /// `assert` of CUDA C++ failed.
    Assertion {
        /// The expression.
        expression: String,
        /// File of the assertion.
        file: String,
        /// Line in that file.
        line: u32,
    },
    /// An instruction that the emulator lacks, or a call of a function that has no body.
    Unsupported {
        /// The instruction's mnemonic or the function's name.
        what: String,
    },
    /// `brx.idx` with an index past its list of targets.
    BranchIndex {
        /// The index.
        index: u32,
        /// Number of targets.
        targets: u32,
    },
    /// An indirect call of something that is not a function, or is one with other parameters.
    CallTarget {
        /// The address called.
        address: u64,
    },
    /// Calls nested so deep that the thread's stack is used up.
    StackOverflow {
        /// Depth reached, in calls.
        depth: u32,
    },
    /// An operand that the operation does not allow, such as an empty member mask.
    InvalidOperand {
        /// What is wrong with it.
        reason: String,
    },
    /// The launch itself is wrong: no such kernel, wrong arguments, too many threads.
    Launch {
        /// What is wrong with it.
        reason: String,
    },
}

/// A fault with its place in the PTX, in the source and in the grid.
///
/// ```
/// use ptx_emulator::{Device, Launch, Module, Options, Properties};
/// let module = Module::parse(
///     ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n\ttrap;\n}\n",
/// )
/// .unwrap();
/// let device = Device::new(Properties::default());
/// let loaded = device.load(&module).unwrap();
/// let fault = device.launch(&loaded, "k", &Launch::default(), &Options::default()).unwrap_err();
/// assert_eq!(
///     fault.to_string(),
///     "trap instruction, in k at PTX line 6, block (0, 0, 0), thread (0, 0, 0)"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// Line of the PTX text, from 1; 0 for faults of the launch itself.
    pub ptx_line: u32,
    /// File and line of the source, where the PTX has `.loc` directives.
    pub source: Option<(Arc<str>, u32)>,
    /// Function whose instruction faulted.
    pub function: String,
    /// Index of the block.
    pub block: [u32; 3],
    /// Index of the thread in its block.
    pub thread: [u32; 3],
    /// What the launch had done by then: the instructions that ran, the faulting one among them,
    /// and what was printed.
    pub report: Box<Report>,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfBounds { .. } | Self::UseAfterFree { .. } | Self::Misaligned { .. } => {
                self.address_message(f)
            }
            Self::ReadOnly { address } => write!(f, "store to read-only memory at {address:#x}"),
            Self::UninitializedShared { address, bytes } => {
                write!(
                    f,
                    "read of {bytes} bytes of shared memory at {address:#x} that no thread has written"
                )
            }
            Self::UninitializedRegister { register } => {
                write!(f, "register {register} is used but was never written")
            }
            Self::UndefinedShuffle { register } => write!(
                f,
                "use of `{register}`, which shfl.sync read from a lane that does not take part: its value is undefined"
            ),
            Self::UninitializedResult { variable } => {
                write!(f, "use of `{variable}`, a result that the called function did not write")
            }
            Self::Deadlock { waiting } => write!(f, "deadlock: {waiting}"),
            Self::DivergentBarrier { barrier, lines } => write!(
                f,
                "threads of one warp wait for barrier {barrier} at different instructions, PTX lines {} and {}",
                lines[0], lines[1]
            ),
            Self::MissingLanes { mask, missing } => {
                write!(f, "lanes {missing:#x} of the member mask {mask:#x} do not take part")
            }
            Self::StepBudget { budget } => {
                write!(
                    f,
                    "the launch took more than its budget of {budget} instructions: a loop may not end here, or the \
                     budget is too small"
                )
            }
            Self::EndlessLoop { instructions } => {
                write!(f, "endless loop: {instructions} instructions change no register")
            }
            Self::Race { space, address, write, other } => {
                write_race(f, *space, *address, *write, other)
            }
            _ => self.other_message(f),
        }
    }
}

impl FaultKind {
    fn address_message(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfBounds { space, address, bytes, write, nearest } => {
                let verb = if *write { "store" } else { "load" };
                write!(f, "{space} {verb} of {bytes} bytes out of bounds at {address:#x}")?;
                nearest.map_or(Ok(()), |nearest| write_distance(f, *address, nearest))
            }
            Self::UseAfterFree { address, bytes, allocation } => write!(
                f,
                "access of {bytes} bytes at {address:#x}, in an allocation of {} bytes that was freed",
                allocation.bytes
            ),
            Self::Misaligned { space, address, bytes } => {
                write!(f, "misaligned {space} address {address:#x}, must be a multiple of {bytes}")
            }
            _ => Ok(()),
        }
    }

    fn other_message(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trap => f.write_str("trap instruction"),
            Self::Breakpoint => f.write_str("brkpt instruction"),
            Self::Assertion { expression, file, line } => {
                write!(f, "assertion `{expression}` failed at {file}:{line}")
            }
            Self::Unsupported { what } => write!(f, "`{what}` is not supported"),
            Self::BranchIndex { index, targets } => {
                write!(f, "brx.idx: the index {index} is out of bounds of its {targets} targets")
            }
            Self::CallTarget { address } => {
                write!(
                    f,
                    "indirect call of {address:#x}, which is not a function with the parameters and results of the \
                     call"
                )
            }
            Self::StackOverflow { depth } => write!(f, "stack overflow at call depth {depth}"),
            Self::InvalidOperand { reason } => write!(f, "invalid operand: {reason}"),
            Self::Launch { reason } => write!(f, "invalid launch: {reason}"),
            _ => Ok(()),
        }
    }
}

fn write_distance(f: &mut fmt::Formatter<'_>, address: u64, nearest: Nearest) -> fmt::Result {
    let end = nearest.base + nearest.bytes;
    let of = nearest.bytes;
    if address < nearest.base {
        write!(f, ", {} bytes before an allocation of {of} bytes", nearest.base - address)
    } else if address >= end {
        write!(f, ", {} bytes past the end of an allocation of {of} bytes", address - end)
    } else {
        write!(f, ", which crosses the end of an allocation of {of} bytes")
    }
}

fn write_race(
    f: &mut fmt::Formatter<'_>,
    space: Space,
    address: u64,
    write: bool,
    other: &Access,
) -> fmt::Result {
    let verb = |write| if write { "write" } else { "read" };
    let ([bx, by, bz], [tx, ty, tz]) = (other.block, other.thread);
    write!(
        f,
        "race: {} of {space} address {address:#x} is not ordered after the {} at PTX line {} by block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})",
        verb(write),
        verb(other.write),
        other.line,
    )
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if self.ptx_line == 0 {
            return Ok(());
        }
        write!(f, ", in {} at PTX line {}", self.function, self.ptx_line)?;
        if let Some((file, line)) = &self.source {
            write!(f, " ({file}:{line})")?;
        }
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        write!(f, ", block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})")
    }
}

impl std::error::Error for Fault {}
