//! Versions of LLVM.

use std::fmt;

/// The version of an LLVM library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the parts of a version")]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl Version {
    /// The oldest version that the bindings fit.
    pub const OLDEST: Self = Self { major: 20, minor: 0, patch: 0 };
    /// The newest major version that kernelmill was tested with.
    pub const NEWEST_TESTED: u32 = 23;

    /// The version of the library that the trampolines call.
    #[must_use]
    pub fn opened() -> Self {
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        // SAFETY: the function writes three integers.
        unsafe {
            llvm_sys::core::LLVMGetVersion(&raw mut major, &raw mut minor, &raw mut patch);
        }
        Self { major, minor, patch }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}
