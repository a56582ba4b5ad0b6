//! Sets of kernels of which some were compiled when the program runs.

use std::{fmt, sync::Arc};

use crate::embedded::{HeldCode, KernelSet};

/// A set of kernels, with the code of those that were compiled at run time.
#[derive(Clone)]
pub struct CompiledSet {
    pub(crate) set: &'static KernelSet,
    pub(crate) code: Vec<Arc<dyn HeldCode>>,
}

impl From<&'static KernelSet> for CompiledSet {
    fn from(set: &'static KernelSet) -> Self {
        Self { set, code: Vec::new() }
    }
}

impl fmt::Debug for CompiledSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("CompiledSet").field(self.set).finish_non_exhaustive()
    }
}
