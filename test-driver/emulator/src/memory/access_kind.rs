//! Kinds of memory accesses: read, write or read-modify-write, weak or strong, with release or not.
//!
//! PTX ISA, "Memory Consistency Model".

/// How an access takes part in the memory model, in a word of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AccessKind(pub(crate) u32);

impl AccessKind {
    pub(crate) const READ: AccessKind = AccessKind(0);
    pub(crate) const WRITE: AccessKind = AccessKind(1);
    /// A read-modify-write.
    pub(crate) const ATOMIC: AccessKind = AccessKind(Self::WRITES | Self::STRONG | Self::READS_TOO);
    pub(crate) const WRITES: u32 = 1;
    /// `.volatile`, `.relaxed` or stronger: does not race with others of its kind.
    pub(crate) const STRONG: u32 = 2;
    /// `.release`: orders what came before, like a fence.
    pub(crate) const RELEASE: u32 = 4;
    pub(crate) const READS_TOO: u32 = 8;
    /// Nothing uses what is read: compilers load more than they need where that is one access.
    pub(crate) const UNUSED: u32 = 16;

    pub(crate) fn writes(self) -> bool {
        self.0 & Self::WRITES != 0
    }

    pub(crate) fn is_used(self) -> bool {
        self.0 & Self::UNUSED == 0
    }

    pub(crate) fn is_strong(self) -> bool {
        self.0 & Self::STRONG != 0
    }

    pub(crate) fn releases(self) -> bool {
        self.0 & Self::RELEASE != 0
    }

    pub(crate) fn reads(self) -> bool {
        !self.writes() || self.0 & Self::READS_TOO != 0
    }
}
