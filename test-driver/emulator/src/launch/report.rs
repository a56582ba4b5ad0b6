//! The report of a launch: instruction count, coverage and printed text.

use super::coverage::Coverage;

/// What a launch has done, to its end or until its [fault](crate::Fault).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Instructions run, all threads together.
    pub instructions: u64,
    /// How often each instruction of the kernel and the functions it can reach ran.
    pub coverage: Coverage,
    /// What the kernel printed, by the number of the block.
    pub printed: String,
}
