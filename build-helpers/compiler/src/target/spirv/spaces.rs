//! The numbers of address spaces until the text is written; those of OpenCL come with that.

pub(super) const GLOBAL: u32 = 1;
pub(super) const SHARED: u32 = 3;
pub(super) const PRIVATE: u32 = 5;
