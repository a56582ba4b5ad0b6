//! What instructions compute, as functions from register contents to register contents.
//!
//! A register holds its value zero-extended to 64 bits. Every function here takes the low bits that
//! its type has and gives back a zero-extended result.

pub(crate) mod approximate;
pub(crate) mod bits;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod exact;
mod flags;
pub(crate) mod float;
pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod packed;

pub(crate) use flags::Flags;
