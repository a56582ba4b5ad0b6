//! Code that a program has compiled when it runs, beside its description.
//!
//! Sets of kernels and their binaries are descriptions that live as long as the process, those of what was compiled at run
//! time among them: names, signatures and digests, of which callers keep references. Code is held by whoever needs it, and is
//! freed with the last of them. Guaranteed: while a module of a binary is held, or a kernel, or a launch of one is in flight,
//! so is its code.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use super::abi::Kernel as CpuKernel;

/// The code of a binary.
pub(crate) trait HeldCode: Send + Sync {
    /// The fingerprint of the binary.
    fn fingerprint(&self) -> &str;

    /// What a driver loads; empty where the code is a part of this process.
    fn image(&self) -> &[u8];

    /// The kernel of an entry, where it is a part of this process: it is there while this is.
    fn kernel(&self, entry: &str) -> Option<*const CpuKernel>;
}

/// Where the code of a kernel is that was compiled at run time for the CPU. Its description outlives the code, and finds it
/// again where it was compiled again.
pub(crate) struct LinkedKernel {
    entry: &'static str,
    code: Mutex<Option<Weak<dyn HeldCode>>>,
}

impl LinkedKernel {
    #[cfg_attr(not(feature = "jit-llvm"), allow(dead_code, reason = "LLVM alone links code"))]
    pub(crate) const fn new(entry: &'static str) -> Self {
        Self { entry, code: Mutex::new(None) }
    }

    /// Says where the code is from now on.
    #[cfg_attr(not(feature = "jit-llvm"), allow(dead_code, reason = "LLVM alone links code"))]
    pub(crate) fn is_in(&self, code: &Arc<dyn HeldCode>) {
        let mut place = self.code.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(Arc::downgrade(code));
    }

    /// The kernel, and what it is there with; `None` where nobody holds the code.
    pub(crate) fn find(&self) -> Option<(*const CpuKernel, Arc<dyn HeldCode>)> {
        let place = self.code.lock().unwrap_or_else(PoisonError::into_inner);
        let code = place.as_ref()?.upgrade()?;
        Some((code.kernel(self.entry)?, code))
    }
}

impl fmt::Debug for LinkedKernel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("LinkedKernel").field(&self.entry).finish()
    }
}
