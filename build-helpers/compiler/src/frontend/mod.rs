//! Front ends: from a kernel source to bitcode.

pub mod cuda;
pub mod rust;
