//! Prototypes of functions: what all declarations of one have in common.

use crate::ptx::{self, Type};

/// What the declarations of a function have in common.
pub(crate) struct Prototype {
    pub(super) linkage: Option<String>,
    /// The types and alignments of results and parameters.
    pub(super) types: Vec<(Type, u32)>,
}

impl Prototype {
    pub(super) fn of(function: &ptx::Function<'_>) -> Self {
        let all = function.returns.iter().chain(&function.parameters);
        Self {
            linkage: function.linkage.map(str::to_owned),
            types: all.map(|variable| (variable.ty, variable.align)).collect(),
        }
    }

    /// Whether a later declaration may stand beside this one: a definition may leave out the linkage, unless that
    /// is `.extern`.
    pub(super) fn goes_with(&self, later: &ptx::Function<'_>) -> bool {
        let own = self.linkage.as_deref();
        let is_left_out = later.linkage.is_none() && later.body.is_some() && own != Some("extern");
        let same_types = Self::of(later).types == self.types;
        later.entry || same_types && (own == later.linkage || is_left_out)
    }
}
