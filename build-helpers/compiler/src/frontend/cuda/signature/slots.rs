//! Kernels as the text of PTX describes them, without debug information.

use kernelmill_artifact::LaunchLimits;

/// A kernel with the bytes of its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntrySlots {
    /// Its name in compiled code.
    pub(crate) symbol: String,
    /// Size and alignment of each parameter in bytes.
    pub(crate) parameters: Vec<(u64, u64)>,
    /// What it says of its launches.
    pub(crate) limits: LaunchLimits,
}
