//! The module cache: the modules that are loaded, of all back ends.
//!
//! A module is keyed by the context it is loaded in and the fingerprint of its binary. Whoever
//! asks first loads it, everybody else waits for that; different modules load at the same time.
//! Who got a module holds it; one that nobody holds stays loaded, until there are more than the
//! capacity, or more bytes than the budget, and then the one unused for longest goes first. Each thread
//! remembers the modules that it asked for last, and finds these without a lock ([`slot`] says why that is
//! right).
//!
//! Where this differs from the cache that it learnt from ([Halide's]): contexts are told apart by
//! a number that is never used twice, not by an address; loading holds no lock of the table; a
//! hold is a value whose drop releases it, not a call that can be forgotten; and the table is
//! `std`'s, whose lookup is not what a `load` spends its time on, so there is nothing to gain from
//! probing by hand.
//!
//! [Halide's]: https://github.com/halide/Halide/blob/main/src/runtime/gpu_context_common.h

use std::{
    cell::RefCell,
    fmt,
    sync::{Arc, LazyLock, Mutex, PoisonError, RwLock},
};

use crate::{
    embedded::{EmbeddedArtifact, HeldCode},
    error::Result,
    hal::{Context, ContextId, Module},
    trace,
};

mod loader;
mod remembered;
mod slot;
mod table;
#[cfg(test)]
mod tests;

pub use loader::{LoadRequest, Loader, LoaderResult};
use remembered::Remembered;
use slot::Visit;
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
/// cache.set_byte_budget(64 << 20);
/// cache.release_unused();
/// let statistics = cache.statistics();
/// assert_eq!(statistics.loaded, statistics.loads - statistics.unloads);
/// ```
pub struct ModuleCache {
    table: Table<ModuleKey, Arc<dyn Module>>,
    loader: RwLock<Option<Loader>>,
    /// Modules that were compiled at run time and had work in flight when their last use ended.
    released: Mutex<Vec<ModuleKey>>,
}

/// A module in use.
pub(crate) struct ModuleHold {
    hold: Hold<'static, ModuleKey, Arc<dyn Module>>,
    /// Dropped after the use has ended.
    compiled: Option<Compiled>,
}

/// What a module was made of that was compiled at run time. Where it was the last use, the module goes with it.
struct Compiled {
    code: Arc<dyn HeldCode>,
    key: ModuleKey,
}

impl Drop for Compiled {
    fn drop(&mut self) {
        module_cache().release(self.key);
    }
}

/// What a thread remembers of the modules that it asked for.
type Visits = Remembered<Arc<Visit<ModuleKey, Arc<dyn Module>>>>;

thread_local! {
    /// The modules that this thread has asked for last. They are not kept loaded by this.
    static REMEMBERED: RefCell<Visits> = const { RefCell::new(Remembered::new()) };
}

/// The cache of this process.
#[must_use]
pub fn module_cache() -> &'static ModuleCache {
    static CACHE: LazyLock<ModuleCache> = LazyLock::new(|| ModuleCache {
        table: Table::new(DEFAULT_CAPACITY, |module| module.is_busy()),
        loader: RwLock::new(None),
        released: Mutex::new(Vec::new()),
    });
    &CACHE
}

impl ModuleCache {
    /// Keeps at most `modules` modules loaded: 256 unless this is called.
    ///
    /// Modules in use always stay, and so do those with a launch in flight. Of the others the one that was
    /// used least recently goes first.
    pub fn set_capacity(&self, modules: usize) {
        self.table.set_capacity(modules);
    }

    /// Keeps modules loaded whose binaries have at most `bytes` bytes together: any number unless this is
    /// called. Modules go as [`ModuleCache::set_capacity`] says. What the driver needs for a module is not
    /// known, and not counted.
    ///
    /// A module that is larger than the budget is loaded all the same. As long as it is in use, or a launch of it is in
    /// flight, it stays and counts: of the other modules those that nobody uses go. It goes itself with the next
    /// load, change of a limit or end of a use after its last launch is done, or with
    /// [`ModuleCache::release_unused`], which waits for the launch.
    pub fn set_byte_budget(&self, bytes: u64) {
        self.table.set_byte_budget(bytes);
    }

    /// Unloads every module that is not in use, after its launches are done.
    pub fn release_unused(&self) {
        self.table.release_unused();
    }

    /// Forgets every module: whoever loads kernels from now on loads their modules again. Modules in use
    /// are unloaded when the last kernels of them are dropped.
    ///
    /// For programs that change their loader: modules that the last one loaded are not found any more.
    pub fn clear(&self) {
        self.table.forget(|_| true);
    }

    /// What the cache holds, and what it did so far.
    #[must_use]
    pub fn statistics(&self) -> CacheStatistics {
        self.table.statistics()
    }

    /// Asks `loader` before a module is loaded that is not in the cache; `None` asks nobody any more.
    ///
    /// The loader returns the binary to load in the place of the embedded one, or `None` to decline. Where
    /// it fails, whoever asked for the module gets [`Error::Loader`]; where it panics, they do. Either way no
    /// module is kept, and the next one who asks for it calls the loader again. It is called by several
    /// threads at the same time, for different modules, and must not itself load the module that it is asked for:
    /// it would wait for itself. Kernels for the processor are linked into the application, so that a
    /// loader can only decline or fail for them.
    ///
    /// [`Error::Loader`]: crate::Error::Loader
    ///
    /// # Safety
    ///
    /// A binary that the loader returns is whole, and of a kind that the device's driver takes: for CUDA a
    /// cubin, a fat binary or PTX. Its kernels have the names and parameters of those in
    /// [`LoadRequest::artifact`], and do with them what those do.
    ///
    /// ```
    /// use std::sync::Arc;
    /// # fn kept(_: &str) -> Option<Vec<u8>> { None }
    /// let cache = kernelmill::module_cache();
    /// // SAFETY: what was kept under a fingerprint is the cubin that a driver made of that binary.
    /// unsafe { cache.set_loader(Some(Arc::new(|request| Ok(kept(request.artifact().fingerprint))))) };
    /// // What is loaded already stays, unless it is forgotten:
    /// cache.clear();
    /// # unsafe { cache.set_loader(None) };
    /// ```
    pub unsafe fn set_loader(&self, loader: Option<Loader>) {
        *self.loader.write().unwrap_or_else(PoisonError::into_inner) = loader;
    }

    /// The module of `artifact` in `context`, loaded now if it is not yet.
    pub(crate) fn hold(
        &'static self,
        context: &dyn Context,
        artifact: &'static EmbeddedArtifact,
    ) -> Result<ModuleHold> {
        self.hold_code(context, artifact, None)
    }

    /// The same, of a binary with this code if it was compiled at run time.
    pub(crate) fn hold_code(
        &'static self,
        context: &dyn Context,
        artifact: &'static EmbeddedArtifact,
        code: Option<&Arc<dyn HeldCode>>,
    ) -> Result<ModuleHold> {
        let key = ModuleKey { context: context.id(), fingerprint: artifact.fingerprint };
        let compiled = || code.map(|code| Compiled { code: Arc::clone(code), key });
        if let Some(hold) = self.remembered(key) {
            return Ok(ModuleHold { hold, compiled: compiled() });
        }
        let load = || {
            let _span = trace::span(|| {
                let arguments = vec![
                    ("target", artifact.target.to_owned()),
                    ("device", context.name().to_owned()),
                    ("fingerprint", artifact.fingerprint.to_owned()),
                ];
                trace::About { category: "load", name: artifact.source.into(), arguments }
            });
            let loader = self.loader.read().unwrap_or_else(PoisonError::into_inner).clone();
            // SAFETY: promised to `set_loader`.
            unsafe {
                LoadRequest::new(context, artifact, code.map(|it| &**it)).load(loader.as_ref())
            }
        };
        let hold = self.table.hold(key, load)?;
        let visit = Arc::clone(hold.visit());
        let remember = |all: &RefCell<Visits>| {
            let is_it = |visit: &Arc<Visit<_, _>>| *visit.key() == key;
            all.try_borrow_mut().map(|mut all| all.replace(key.number(), visit, is_it))
        };
        // While the thread ends there is nothing to remember.
        drop(REMEMBERED.try_with(remember));
        Ok(ModuleHold { hold, compiled: compiled() })
    }

    /// A module that the calling thread has asked for before.
    fn remembered(
        &'static self,
        key: ModuleKey,
    ) -> Option<Hold<'static, ModuleKey, Arc<dyn Module>>> {
        let find = |all: &RefCell<Visits>| {
            let all = all.try_borrow().ok()?;
            let visit = all.find(key.number(), |visit| *visit.key() == key)?;
            self.table.again(visit)
        };
        REMEMBERED.try_with(find).ok().flatten()
    }

    /// Unloads a module that was compiled at run time, if nobody uses it any more. One with work in flight is left for the
    /// next call: nobody is kept waiting for that.
    fn release(&self, key: ModuleKey) {
        let mut released = self.released.lock().unwrap_or_else(PoisonError::into_inner);
        let mut keys = std::mem::take(&mut *released);
        drop(released);
        keys.retain(|other| *other != key);
        keys.push(key);
        let busy = self.table.release_idle(keys);
        self.released.lock().unwrap_or_else(PoisonError::into_inner).extend(busy);
    }

    /// Forgets a context that goes away: its modules are unloaded, those in use when they are
    /// released. The modules of all other contexts stay.
    pub(crate) fn release_context(&self, context: ContextId) {
        self.table.forget(|key| key.context == context);
    }
}

impl ModuleKey {
    /// What a thread finds the module by.
    fn number(&self) -> u64 {
        self.context.number().wrapping_add(self.fingerprint.as_ptr().addr() as u64)
    }
}

impl ModuleHold {
    pub(crate) fn module(&self) -> &Arc<dyn Module> {
        self.hold.module()
    }

    /// What it was made of, if it was compiled at run time.
    pub(crate) fn code(&self) -> Option<&dyn HeldCode> {
        self.compiled.as_ref().map(|it| &*it.code)
    }
}

impl fmt::Debug for ModuleHold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ModuleHold").field(self.hold.key()).finish()
    }
}

impl fmt::Debug for ModuleCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ModuleCache").field(&self.statistics()).finish()
    }
}
