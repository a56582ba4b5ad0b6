//! Analysis of the scalar code before any vector code is emitted.
//!
//! Guarantees: what is emitted after a plan was made and [`legality::check`] passed is correct, or the emission
//! says why it cannot be.

pub(super) mod affine;
pub(super) mod comparison;
pub(super) mod coordinates;
pub(super) mod direction;
pub(super) mod legality;
pub(super) mod plan;
pub(super) mod private_arrays;
pub(super) mod profitability;
pub(super) mod speculation;
