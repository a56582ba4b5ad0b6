//! Emission of vector code: whole-function vectorisation of a region, after
//! [Karrenberg and Hack](https://doi.org/10.1109/CGO.2011.5764682).
//!
//! Needs: a plan of the scalar code, and the layout of context arrays. Guarantees: the function of a
//! region does for a vector of threads what the scalar code does for each of them.

mod addresses;
mod affine;
mod arithmetic;
mod assumptions;
mod checks;
pub(super) mod code;
mod coordinates;
mod divergence;
mod division;
mod emitter;
mod exits;
pub(super) mod function;
mod instructions;
mod interleaved;
mod interleaved_stores;
mod memory;
mod panics;
mod ranges;
mod reciprocal;
mod reductions;
mod reloads;
mod rematerialization;
mod rows;
mod scalarization;
mod speculation;
mod spills;
mod uniform_flow;
mod values;
mod versioning;
