//! The numbers of address spaces until the text is written; those of OpenCL come with that.

pub(in crate::target) const GLOBAL: u32 = 1;
pub(in crate::target) const SHARED: u32 = 3;
pub(in crate::target) const PRIVATE: u32 = 5;
