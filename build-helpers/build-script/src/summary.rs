//! The summary of a build.

use std::fmt;

/// What a build did.
///
/// Both numbers count pairs of a source and a target. Its text is the last line that
/// `KERNELMILL_LOG=summary` prints. Everything else of a build is in its [manifest](crate::manifest).
///
/// ```
/// let summary = kernelmill_build::Summary::default();
/// assert_eq!(summary.to_string(), "kernelmill: compiled 0 cached 0");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Pairs that were compiled.
    pub compiled: usize,
    /// Pairs that were in the store.
    pub cached: usize,
    /// The kernels, by name, in the order of their sources.
    pub kernels: Vec<String>,
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "kernelmill: compiled {} cached {}", self.compiled, self.cached)
    }
}
