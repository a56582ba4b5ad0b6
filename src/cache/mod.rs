//! The module cache: the modules that are loaded, of all back ends.
//!
//! A module is keyed by the context it is loaded in and the fingerprint of its binary. Whoever
//! asks first loads it, everybody else waits for that; different modules load at the same time.
//! Who got a module holds it; one that nobody holds stays loaded, until there are more than the
//! capacity, and then the one unused for longest goes first.
//!
//! Where this differs from the cache that it learnt from ([Halide's]): contexts are told apart by
//! a number that is never used twice, not by an address; loading holds no lock of the table; a
//! hold is a value whose drop releases it, not a call that can be forgotten; and the table is
//! `std`'s, whose lookup is not what a `load` spends its time on, so there is nothing to gain from
//! probing by hand.
//!
//! [Halide's]: https://github.com/halide/Halide/blob/main/src/runtime/gpu_context_common.h

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use crate::{
    embedded::EmbeddedArtifact,
    error::Result,
    hal::{Context, ContextId, Module},
};

mod table;
#[cfg(test)]
mod tests;

pub use table::CacheStatistics;
use table::{Hold, Table};

/// Modules that stay loaded though nobody holds them, unless [`ModuleCache::set_capacity`] says
/// otherwise: modules of all contexts together.
const DEFAULT_CAPACITY: usize = 256;

/// A context, and the fingerprint of a binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ModuleKey {
    context: ContextId,
    fingerprint: &'static str,
}

/// The modules that are loaded in this process, in all contexts of all back ends.
///
/// Nobody has to touch it; it is there for programs that load and drop many kernels.
///
/// ```
/// let cache = kernelmill::module_cache();
/// cache.set_capacity(16);
/// cache.release_unused();
/// let statistics = cache.statistics();
/// assert_eq!(statistics.loaded, statistics.loads - statistics.unloads);
/// ```
pub struct ModuleCache {
    table: Table<ModuleKey, Arc<dyn Module>>,
}

/// A module in use.
pub(crate) struct ModuleHold(Hold<'static, ModuleKey, Arc<dyn Module>>);

/// The cache of this process.
#[must_use]
pub fn module_cache() -> &'static ModuleCache {
    static CACHE: LazyLock<ModuleCache> =
        LazyLock::new(|| ModuleCache { table: Table::new(DEFAULT_CAPACITY) });
    &CACHE
}

impl ModuleCache {
    /// Keeps at most `modules` modules loaded, save for those in use, which always stay.
    pub fn set_capacity(&self, modules: usize) {
        self.table.set_capacity(modules);
    }

    /// Unloads every module that is not in use.
    pub fn release_unused(&self) {
        self.table.release(|_| true, false);
    }

    /// What the cache holds, and what it did so far.
    #[must_use]
    pub fn statistics(&self) -> CacheStatistics {
        self.table.statistics()
    }

    /// The module of `artifact` in `context`, loaded now if it is not yet.
    pub(crate) fn hold(
        &'static self,
        context: &dyn Context,
        artifact: &'static EmbeddedArtifact,
    ) -> Result<ModuleHold> {
        let key = ModuleKey { context: context.id(), fingerprint: artifact.fingerprint };
        self.table.hold(key, || context.load(artifact)).map(ModuleHold)
    }

    /// Forgets a context that goes away: its modules are unloaded, those in use when they are
    /// released. The modules of all other contexts stay.
    #[allow(dead_code, reason = "for drivers, and a build may have none: the CPU's contexts stay")]
    pub(crate) fn release_context(&self, context: ContextId) {
        self.table.release(|key| key.context == context, true);
    }
}

impl ModuleHold {
    pub(crate) fn module(&self) -> &Arc<dyn Module> {
        self.0.module()
    }
}

impl fmt::Debug for ModuleHold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ModuleHold").field(self.0.key()).finish()
    }
}

impl fmt::Debug for ModuleCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ModuleCache").field(&self.statistics()).finish()
    }
}
