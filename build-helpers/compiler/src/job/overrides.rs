//! Overrides: code of somebody else's in place of one stage of a kernel.

/// A file that stands for one stage of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The kernel's symbol in the signatures of the source.
    pub kernel: String,
    /// The file as people know it.
    pub file: String,
    /// What is in it.
    pub code: OverrideCode,
}

/// The stage that an [`Override`] stands for, with its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OverrideCode {
    /// LLVM's IR as the front end leaves it: text with the kernel's shim, `__kernelmill_entry_` and its symbol, as a
    /// dump of [`crate::CodeStage::FrontEnd`] has it.
    FrontEnd(String),
    /// The front end's result for another source. The kernel has another symbol in it.
    Lowered {
        /// The bitcode.
        modules: Vec<Vec<u8>>,
        /// The kernel's symbol there.
        symbol: String,
    },
    /// PTX with the kernel's entry. Other targets than NVIDIA's are compiled from the source.
    Ptx(String),
}
