//! Linearisation of divergent branches around warp collectives, as in
//! [partial control-flow linearisation](https://doi.org/10.1145/3192366.3192413), for the threads of a block.
//!
//! Needs: a simplified and canonical kernel, before its context is lowered. Guarantees: a kernel whose barriers
//! and warp collectives are proven uniform for the threads that are present, or a reason why not.
//!
//! A divergent branch that all present threads reach together, of whose two ways one comes to warp collectives
//! before they join, becomes a way that all go one after the other:
//!
//! ```text
//! if c { collectives }              if !c { absent = 1 }
//! rest                       =>     absence barrier      // who is absent does not go on
//!                                   collectives
//!                                   absence barrier      // who is absent with 1 is present again
//!                                   rest
//! ```
//!
//! The flags of exits say who is absent, and with which number ([`super::exit_flags`]). So what is uniform has to
//! be so for the present threads alone, whether the branch is uniform for warps or not. Where none is present, the
//! block goes on at the barrier at which an absence ends. Where both ways come to collectives, one follows the other. A
//! loop that threads leave in different iterations goes on for those that are present, and the others are absent
//! until all have left. No barrier is copied or moved.
//!
//! A collective whose mask names lanes that are absent, while other lanes of the warp are there, would wait for
//! them. It ends the launch as a deadlock does ([`super::deadlock`]), unless those lanes come to no collective or
//! barrier any more. A barrier of the block on such a way stays divergent.

mod absences;
mod build;
mod candidate;
mod check;
mod phis;

pub(super) use absences::{Absences, never_taken};
pub(super) use build::linearize;
pub(super) use candidate::{Candidate, View, branch, cycles};
pub(super) use check::{check, mark_lanes};

#[cfg(test)]
mod tests;
