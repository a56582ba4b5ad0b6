//! Reports of the CPU's passes, as data: which pass ran, on what, and what it changed.
//!
//! The order of the passes is that of the reports. They serialise with the names below in kebab-case.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use crate::strategy::{
    EarlyExitRefusal, JoinRefusal, LinearizationRefusal, Lowering, ScalarReason, is_none,
};

/// What a pass of the CPU back end did to a kernel, or to the module of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PassReport {
    /// The pass.
    pub pass: Pass,
    /// The kernel as it is called in the source; `None` for a pass on the whole module.
    pub kernel: Option<String>,
    /// Whether it ran, and whether it changed anything.
    pub outcome: PassOutcome,
    /// What it found or did, where there is anything to say.
    pub fact: Option<PassFact>,
}

/// Whether a pass ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PassOutcome {
    /// It does not apply, so it did not run.
    Skipped,
    /// It ran and changed nothing.
    Unchanged,
    /// It changed the code.
    Changed,
}

impl PassOutcome {
    /// The outcome of a pass that ran.
    pub(crate) fn of(has_changed: bool) -> Self {
        if has_changed { Self::Changed } else { Self::Unchanged }
    }
}

/// A pass of the CPU back end, in the order of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pass {
    /// Shared arrays become offsets in the memory of a block.
    SharedMemory,
    /// Functions that use the thread's context are marked to be inlined.
    Inlining,
    /// LLVM's passes before regions are formed.
    Simplification,
    /// Remainders become what their quotients leave, so that coordinates of one number cancel out.
    Quotients,
    /// Atomic operations of a thread on one address become one.
    MergedAtomics,
    /// Copies of integers that are wider than a register become copies of words.
    WideIntegers,
    /// Control flow gets the form that the analyses read.
    Canonicalization,
    /// Selects between a value and an undefined one become the value.
    UndefinedSelects,
    /// Shifts that are sign extensions become such.
    SignExtensions,
    /// Early exits before barriers and warp collectives become exit barriers.
    EarlyExits,
    /// Divergent branches around warp collectives are linearised: threads that go another way are absent.
    Linearization,
    /// The lowering is chosen, from what is proven of barriers.
    LoweringChoice,
    /// Operations on the thread's context become values.
    ContextLowering,
    /// Fills and copies of private arrays become accesses to their elements.
    PrivateCopies,
    /// Grid-stride loops are interchanged with the loop over threads.
    LoopInterchange,
    /// The code is specialised on the block size.
    Specialization,
    /// The code is split at its barriers.
    RegionFormation,
    /// Regions are vectorised.
    Vectorization,
    /// Blocks whose threads take one iteration of their grid-stride loops get code without these loops.
    SingleIterations,
    /// Blocks whose rows have as many threads as most have get code of their own.
    UsualRows,
    /// Vectors of several rows of a block are run at once.
    UnrollAndJam,
    /// Values that are computed from quotients and remainders by a uniform number are held as a first lane and a step.
    AffineValues,
    /// Bodies that compute little are built for four vectors at once too.
    LongVectors,
    /// The code becomes a coroutine.
    CoroutineLowering,
    /// Whether neighbouring blocks that are narrow may be run as one larger block.
    JoinedBlocks,
    /// Outlined functions find the context in a thread-local variable.
    OutlinedFunctions,
    /// Divisors that would end the program become 1.
    Divisors,
    /// Shifts by as many bits as a number has give what they give on NVIDIA's devices.
    ShiftAmounts,
    /// Every function gets source lines of its own.
    SourceLines,
    /// LLVM's verifier.
    Verification,
    /// Shared memory of specialised code is promoted to registers.
    Promotion,
    /// LLVM splits coroutines.
    CoroutineSplitting,
    /// Functions probe their stack frames.
    StackProbes,
}

/// What a pass found or did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum PassFact {
    /// The bytes of shared memory.
    SharedBytes {
        /// How many a block has.
        bytes: u64,
    },
    /// How many things were changed: functions, selects, loops, as the pass says.
    Count {
        /// How many.
        count: u64,
    },
    /// The size of the code.
    Instructions {
        /// LLVM instructions before the pass.
        before: u64,
        /// LLVM instructions after it.
        after: u64,
    },
    /// Early exits are left as they are.
    EarlyExitsKept {
        /// Why.
        because: EarlyExitRefusal,
    },
    /// Divergent branches are left as they are.
    BranchesKept {
        /// Why.
        because: LinearizationRefusal,
    },
    /// The chosen lowering.
    Chosen {
        /// What the kernel's code becomes.
        lowering: Lowering,
    },
    /// The block size that the code is specialised on.
    Block {
        /// Along each axis.
        size: [u32; 3],
    },
    /// The vector widths of the code.
    Widths {
        /// In threads, one for each processor level.
        widths: Vec<u32>,
        /// Those of blocks with so few threads along x, where there is code of their own; else 0.
        #[serde(default, skip_serializing_if = "is_none")]
        narrow: u32,
    },
    /// The rows of a block that are run at once.
    Rows {
        /// How many.
        rows: u32,
    },
    /// The threads of the longest vectors.
    VectorThreads {
        /// How many.
        threads: u32,
    },
    /// The length of the rows that code is made for.
    RowThreads {
        /// In threads.
        threads: u32,
    },
    /// The axis along which neighbouring blocks that are narrow may be run as one larger block.
    Joined {
        /// 0 for x, 1 for y.
        axis: u32,
    },
    /// Every block is run by itself.
    NotJoined {
        /// Why.
        because: JoinRefusal,
    },
    /// The code stays scalar.
    Scalar {
        /// Why.
        because: ScalarReason,
    },
}

impl Display for PassReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:20} {:9}", self.pass.to_string(), self.outcome.to_string())?;
        match &self.fact {
            Some(fact) => write!(formatter, "  {fact}"),
            None => Ok(()),
        }
    }
}

impl Display for Pass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::SharedMemory => "shared memory",
            Self::Inlining => "inlining",
            Self::Simplification => "simplification",
            Self::Quotients => "quotients",
            Self::MergedAtomics => "merged atomics",
            Self::WideIntegers => "wide integers",
            Self::Canonicalization => "canonicalization",
            Self::UndefinedSelects => "undefined selects",
            Self::SignExtensions => "sign extensions",
            Self::EarlyExits => "early exits",
            Self::Linearization => "linearization",
            Self::LoweringChoice => "choice of lowering",
            Self::ContextLowering => "context lowering",
            Self::PrivateCopies => "private copies",
            Self::LoopInterchange => "loop interchange",
            Self::Specialization => "specialization",
            Self::RegionFormation => "region formation",
            Self::Vectorization => "vectorization",
            Self::SingleIterations => "single iterations",
            Self::UsualRows => "usual rows",
            Self::UnrollAndJam => "unroll-and-jam",
            Self::AffineValues => "affine values",
            Self::LongVectors => "long vectors",
            Self::CoroutineLowering => "coroutine lowering",
            Self::JoinedBlocks => "joined blocks",
            Self::OutlinedFunctions => "outlined functions",
            Self::Divisors => "divisors",
            Self::ShiftAmounts => "shift amounts",
            Self::SourceLines => "source lines",
            Self::Verification => "verification",
            Self::Promotion => "promotion",
            Self::CoroutineSplitting => "coroutine splitting",
            Self::StackProbes => "stack probes",
        })
    }
}

impl Display for PassOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Skipped => "skipped",
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
        })
    }
}

impl Display for PassFact {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SharedBytes { bytes } => write!(formatter, "{bytes} bytes of a block"),
            Self::Count { count } => write!(formatter, "{count}"),
            Self::Instructions { before, after } => {
                write!(formatter, "{before} -> {after} instructions")
            }
            Self::EarlyExitsKept { because } => write!(formatter, "kept: {because}"),
            Self::BranchesKept { because } => write!(formatter, "kept: {because}"),
            Self::Chosen { lowering } => write!(formatter, "{lowering}"),
            Self::Block { size: [x, y, z] } => write!(formatter, "blocks of {x} x {y} x {z}"),
            Self::Widths { widths, narrow: 0 } => write!(formatter, "vector widths {widths:?}"),
            Self::Widths { widths, narrow } => {
                write!(formatter, "vector widths {widths:?}, {narrow} in narrow blocks")
            }
            Self::Rows { rows } => write!(formatter, "{rows} rows"),
            Self::RowThreads { threads } => write!(formatter, "rows of {threads} threads"),
            Self::VectorThreads { threads } => write!(formatter, "{threads} threads at once"),
            Self::Joined { axis } => {
                write!(formatter, "narrow blocks along {}", if *axis == 0 { "x" } else { "y" })
            }
            Self::NotJoined { because } => write!(formatter, "none: {because}"),
            Self::Scalar { because } => write!(formatter, "scalar: {because}"),
        }
    }
}
