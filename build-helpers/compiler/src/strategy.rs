//! Lowering strategies of kernels on the CPU, as data.
//!
//! A GPU kernel is written for one thread of a block. On the CPU one core runs all threads of a block,
//! and the lowering strategy says how: as a loop over the threads, as several such loops with the
//! barriers between them (the parallel regions of [pocl](https://arxiv.org/abs/1611.07083)), or as
//! coroutines. The loops are vectorised where that is proven correct ([Karrenberg and
//! Hack](https://doi.org/10.1109/CGO.2011.5764682)).
//!
//! The CPU back end makes a [`Strategy`] for each kernel. It serialises as JSON with the names below in
//! kebab-case. English is in `Display` alone.

mod joining;

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

pub use joining::JoinRefusal;

/// How the CPU runs the threads of a kernel's blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Strategy {
    /// What the kernel's code becomes.
    pub lowering: Lowering,
    /// The vector widths in threads, one for each processor level with vectorised code.
    /// Empty where the code is scalar.
    pub widths: Vec<u32>,
    /// Whether the vectors of blocks that are high enough consist of neighbours along y: these access memory in rows,
    /// those along x do not. Blocks that are neighbours along y run one after the other then.
    #[serde(default, skip_serializing_if = "is_false")]
    pub along_y: bool,
    /// Whether blocks that are narrow along x, with fewer threads than a vector has, may have vectors of neighbours along
    /// y: there is code for both, and the size of a block decides where it runs.
    #[serde(default, skip_serializing_if = "is_false")]
    pub narrow_along_y: bool,
    /// The threads of the shorter vectors along x that blocks with so few threads along x have, where there is code of
    /// their own for them; else 0. Those with no more than one of `widths` have vectors of that width.
    #[serde(default, skip_serializing_if = "is_none")]
    pub narrow_width: u32,
    /// Why the code is scalar. `None` where it is vectorised. For coroutines, which are always scalar,
    /// it is `Some` only where the vectoriser failed on the source.
    pub scalar: Option<ScalarReason>,
    /// The block size that the code is specialised on.
    pub block: Option<[u32; 3]>,
    /// The grid-stride loops that were interchanged with the loop over threads.
    pub interchanged_loops: u32,
    /// The rows of a block whose vectors are run at once, where they agree on the conditions that depend on the row; 0
    /// where each row is run by itself.
    #[serde(default, skip_serializing_if = "is_none")]
    pub jammed_rows: u32,
}

/// What a kernel's code becomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Lowering {
    /// A loop over the threads of a block, in which no thread waits for another.
    ThreadLoop,
    /// One such loop for each region between barriers and warp collectives, all of which are uniform.
    BarrierRegions {
        /// The barriers in the kernel's code.
        barriers: u32,
        /// The warp collectives in the kernel's code: shuffles, votes and barriers of warps.
        warp_collectives: u32,
        /// The places at which threads exit before others reach a barrier or warp collective. From there on code
        /// runs for the threads that are left.
        #[serde(default, skip_serializing_if = "is_none")]
        early_exits: u32,
        /// The places at which threads that were absent, since they went another way past warp collectives, are
        /// present again.
        #[serde(default, skip_serializing_if = "is_none")]
        joins: u32,
    },
    /// A coroutine for each thread, suspended where the thread waits.
    Coroutine(CoroutineReason),
}

/// Why a kernel with barriers or warp collectives is lowered to coroutines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum CoroutineReason {
    /// The mask of a warp collective is not the constant of all lanes.
    PartialMask,
    /// Blocks wait for each other, so that all of them are suspended at once.
    GridBarrier,
    /// An outlined function can end its thread.
    ExitInOutlinedFunction,
    /// Control flow has edges of exceptions or computed targets.
    UnstructuredControlFlow,
    /// Stack memory is allocated in the middle of the kernel, or its size is not constant.
    DynamicStackMemory,
    /// Values of LLVM's token type are used.
    Tokens,
    /// A thread can exit before others reach a barrier.
    ThreadExit,
    /// Barriers are under divergent control flow.
    DivergentBarriers {
        /// How many of them.
        divergent: u32,
        /// The barriers of the kernel.
        total: u32,
    },
    /// Warp collectives are under divergent control flow.
    DivergentWarpCollectives {
        /// How many of them.
        divergent: u32,
        /// The warp collectives of the kernel.
        total: u32,
    },
    /// The kernel has too many barriers and warp collectives: regions between them take time to compile that grows with the
    /// square of their number.
    TooManyWaits {
        /// How many.
        waits: u32,
        /// The limit.
        limit: u32,
    },
    /// Vectorisation and barrier regions are off.
    VectorizationOff,
}

/// Why early exits of a kernel are not turned into a mask, so that it stays a coroutine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum EarlyExitRefusal {
    /// No divergent branch that all threads reach together leads to the end of the kernel without barriers or
    /// warp collectives on the way.
    NoExit,
    /// Barriers or warp collectives are divergent for the threads that have not exited too.
    StillDivergent {
        /// The exits that were found.
        exits: u64,
    },
    /// The kernel has too many exits.
    TooManyExits {
        /// The limit.
        limit: u64,
    },
    /// The code between an exit and the end of the kernel is too long to be copied.
    LongPath {
        /// Its LLVM instructions.
        instructions: u64,
        /// The limit.
        limit: u64,
    },
}

impl Display for EarlyExitRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoExit => formatter.write_str("no early exit is in uniform control flow"),
            Self::StillDivergent { exits } => {
                let noun = if *exits == 1 { "exit" } else { "exits" };
                write!(formatter, "control flow stays divergent without {exits} early {noun}")
            }
            Self::TooManyExits { limit } => {
                write!(formatter, "there are more than {limit} early exits")
            }
            Self::LongPath { instructions, limit } => write!(
                formatter,
                "after an early exit there are {instructions} instructions, more than {limit}"
            ),
        }
    }
}

/// Why divergent branches around warp collectives are not linearised, so that a kernel stays a coroutine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum LinearizationRefusal {
    /// All present threads come together to no divergent branch with warp collectives on one of its ways.
    NoBranch,
    /// A barrier of the block is under a divergent branch.
    BarrierUnderBranch,
    /// A loop with volatile or atomic accesses, or with fences, may wait for absent threads.
    WaitsForMemory,
    /// The condition of the branch differs between the lanes of a warp, and a collective names all of them.
    SplitsWarps,
    /// The ways of the branch share code, do not join in one place, or have values of unsupported types.
    Irregular,
    /// There are too many branches.
    TooManyBranches,
}

impl Display for LinearizationRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoBranch => {
                "no divergent branch around warp collectives is in uniform control flow"
            }
            Self::BarrierUnderBranch => "a barrier of the block is under a divergent branch",
            Self::WaitsForMemory => "a loop under a divergent branch may wait for other threads",
            Self::SplitsWarps => {
                "lanes of a warp diverge before a warp collective whose mask names all of them"
            }
            Self::Irregular => "the paths of a divergent branch are irregular",
            Self::TooManyBranches => "there are too many divergent branches",
        })
    }
}

/// Why the code of a kernel is scalar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum ScalarReason {
    /// Vectorisation is off.
    VectorizationOff,
    /// The vectoriser failed on a kernel of the source, which is a fault of the compiler.
    VectorizationFailed {
        /// The symbol of that kernel.
        kernel: String,
        /// What LLVM says, or the step that failed.
        message: String,
    },
    /// An outlined function can end its thread.
    ExitInOutlinedFunction,
    /// The kernel is too long: vector code takes several times as long to compile.
    KernelTooLong {
        /// Its LLVM instructions.
        instructions: u64,
        /// The limit.
        limit: u64,
    },
    /// The kernels of the source are too long together.
    SourceTooLong {
        /// Their LLVM instructions.
        instructions: u64,
        /// The limit.
        limit: u64,
    },
    /// Threads leave a loop in different iterations in which they access memory in no order: vectors would take longer.
    IrregularLoop,
    /// Control flow has edges of exceptions or computed targets.
    UnstructuredControlFlow,
    /// Stack memory is allocated in the middle of the kernel, or its size is not constant.
    DynamicStackMemory,
    /// A switch was not lowered to branches.
    Switch,
    /// Values of LLVM's token type are used.
    Tokens,
    /// An outlined function that uses the thread's context is called.
    OutlinedCall,
    /// A value has a type that is no element of vectors.
    UnsupportedType,
    /// A value that is live across a barrier has a type that is no element of vectors.
    UnsupportedTypeAcrossBarrier,
    /// A loop that threads leave in different iterations has atomic operations: a lane could wait for
    /// another lane.
    AtomicsInDivergentLoop,
    /// Control flow enters a loop in the middle.
    IrreducibleLoop,
    /// Threads leave an inner cycle, in different iterations, to another loop with the same header.
    SharedLoopHeader,
    /// A value of a divergent loop is used outside of the loop other than by a phi.
    LoopValueWithoutPhi,
    /// A divergent branch leads out of its loop.
    DivergentBranchLeavesLoop,
    /// The paths of a divergent branch do not reconverge.
    NoReconvergence,
    /// The paths of a divergent branch reconverge only outside of their loop.
    ReconvergenceOutsideLoop,
    /// Control flow enters the divergent part of the code in the middle.
    SideEntry,
    /// A thread ends in the divergent part of the code.
    DivergentExit,
    /// Both successors of a branch panic.
    PanicOnBothPaths,
    /// Stack memory is allocated on the path to a panic.
    StackMemoryInPanic,
    /// The threads of a vector would have too much stack memory together.
    LargeStackMemory {
        /// The bytes of one thread.
        bytes: u64,
        /// The limit for all threads of a vector.
        limit: u64,
    },
    /// A condition that was speculated to be uniform is evaluated where threads have diverged.
    SpeculationInDivergentCode,
    /// A block has no terminator.
    UnterminatedBlock,
    /// Control flow leaves the part of the code that is built.
    EdgeOutOfRegion,
}

impl Display for Strategy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.lowering)?;
        if !self.widths.is_empty() {
            let widths: Vec<_> = self.widths.iter().map(u32::to_string).collect();
            let noun = if widths.len() == 1 { "width" } else { "widths" };
            write!(formatter, ", vector {noun} {}", widths.join(", "))?;
            if self.along_y {
                formatter.write_str(" along y")?;
            }
            if self.narrow_along_y {
                formatter.write_str(", along y in narrow blocks")?;
            }
            if self.narrow_width > 0 {
                write!(formatter, ", width {} in narrow blocks", self.narrow_width)?;
            }
        }
        if let Some(block) = self.block {
            formatter.write_str(", specialised on blocks of ")?;
            let last = block.iter().rposition(|size| *size != 1).unwrap_or(0);
            let sizes: Vec<_> = block[..=last].iter().map(u32::to_string).collect();
            formatter.write_str(&sizes.join(" x "))?;
        }
        match self.interchanged_loops {
            0 => {}
            1 => formatter.write_str(", 1 interchanged loop")?,
            count => write!(formatter, ", {count} interchanged loops")?,
        }
        if self.jammed_rows > 0 {
            write!(formatter, ", {} jammed rows", self.jammed_rows)?;
        }
        match &self.scalar {
            Some(reason) => write!(formatter, ", scalar: {reason}"),
            None => Ok(()),
        }
    }
}

impl Display for Lowering {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThreadLoop => formatter.write_str("thread loop: no barriers"),
            Self::BarrierRegions { barriers, warp_collectives, early_exits, joins } => {
                formatter.write_str("barrier regions: ")?;
                let counts = [
                    counted(*barriers, "uniform barrier"),
                    counted(*warp_collectives, "uniform warp collective"),
                ];
                let counts: Vec<_> = counts.into_iter().flatten().collect();
                formatter.write_str(&counts.join(" and "))?;
                let more =
                    [counted(*early_exits, "early exit"), counted(*joins, "linearised branch")];
                more.into_iter().flatten().try_for_each(|it| write!(formatter, ", {it}"))
            }
            Self::Coroutine(reason) => write!(formatter, "coroutine: {reason}"),
        }
    }
}

/// Whether there is nothing to say.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives it by reference")]
pub(crate) fn is_none(count: &u32) -> bool {
    *count == 0
}

/// Whether there is nothing to say.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives it by reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A number with its noun; `None` for 0.
fn counted(count: u32, noun: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {noun}")),
        _ => Some(format!("{count} {noun}{}", if noun.ends_with("ch") { "es" } else { "s" })),
    }
}

impl Display for CoroutineReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let divergent = |formatter: &mut fmt::Formatter<'_>, noun, (some, all): (u32, u32)| {
            let (plural, verb) =
                (if all == 1 { "" } else { "s" }, if some == 1 { "is" } else { "are" });
            write!(formatter, "{some} of {all} {noun}{plural} {verb} under divergent control flow")
        };
        formatter.write_str(match self {
            Self::PartialMask => "the mask of a warp collective may be partial",
            Self::GridBarrier => "its blocks synchronise with each other",
            Self::ExitInOutlinedFunction => "an outlined function can end its thread",
            Self::UnstructuredControlFlow => "control flow is unstructured",
            Self::DynamicStackMemory => "the size of stack memory is not constant",
            Self::Tokens => "tokens are used",
            Self::ThreadExit => "a thread can exit before others reach a barrier",
            Self::VectorizationOff => "barrier regions are off",
            Self::TooManyWaits { waits, limit } => {
                return write!(
                    formatter,
                    "there are {waits} barriers and warp collectives, more than {limit}"
                );
            }
            Self::DivergentBarriers { divergent: some, total } => {
                return divergent(formatter, "barrier", (*some, *total));
            }
            Self::DivergentWarpCollectives { divergent: some, total } => {
                return divergent(formatter, "warp collective", (*some, *total));
            }
        })
    }
}

impl Display for ScalarReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::VectorizationOff => "vectorisation is off",
            Self::VectorizationFailed { kernel, message } => {
                return write!(
                    formatter,
                    "the vectoriser failed on kernel `{kernel}`, please report it: {message}"
                );
            }
            Self::KernelTooLong { instructions, limit } => {
                return write!(
                    formatter,
                    "the kernel has {instructions} instructions, more than {limit}"
                );
            }
            Self::SourceTooLong { instructions, limit } => {
                return write!(
                    formatter,
                    "the kernels of its source have {instructions} instructions, more than {limit}"
                );
            }
            Self::ExitInOutlinedFunction => "an outlined function can end its thread",
            Self::UnstructuredControlFlow => "control flow is unstructured",
            Self::DynamicStackMemory => "the size of stack memory is not constant",
            Self::IrregularLoop => {
                "threads leave a loop in different iterations and access memory in no order, so that vectors would take \
                 longer"
            }
            Self::Switch => "a switch was not lowered to branches",
            Self::Tokens => "tokens are used",
            Self::OutlinedCall => "an outlined function is called",
            Self::UnsupportedType => "a value has a type that vectors cannot have",
            Self::UnsupportedTypeAcrossBarrier => {
                "a value of a type that vectors cannot have is live across a barrier"
            }
            Self::AtomicsInDivergentLoop => "a divergent loop has atomic operations",
            Self::IrreducibleLoop => "control flow enters a loop in the middle",
            Self::SharedLoopHeader => "a divergent cycle shares its header with another loop",
            Self::LoopValueWithoutPhi => {
                "a value of a divergent loop is used outside without a phi"
            }
            Self::DivergentBranchLeavesLoop => "a divergent branch leads out of its loop",
            Self::NoReconvergence => "the paths of a divergent branch do not reconverge",
            Self::ReconvergenceOutsideLoop => {
                "the paths of a divergent branch reconverge only outside of their loop"
            }
            Self::SideEntry => "control flow enters divergent code in the middle",
            Self::DivergentExit => "a thread ends in divergent code",
            Self::PanicOnBothPaths => "both successors of a branch panic",
            Self::StackMemoryInPanic => "stack memory is allocated on the path to a panic",
            Self::LargeStackMemory { bytes, limit } => {
                return write!(
                    formatter,
                    "a thread has {bytes} bytes of stack memory, and all threads of a vector together can have \
                     {limit}"
                );
            }
            Self::SpeculationInDivergentCode => {
                "a condition that was speculated to be uniform is in divergent code"
            }
            Self::UnterminatedBlock => "a block has no terminator",
            Self::EdgeOutOfRegion => "control flow leaves the region that is built",
        })
    }
}

#[cfg(test)]
mod tests;
