//! Builds under faults: killed at random moments, on damaged stores and full disks, several at once,
//! beside a second user of the machine, and of sources that are nearly right.
//!
//! What has to hold after each fault: the next build gives byte for byte what an undisturbed build of the same
//! sources gives, or it ends with an error that says what to do; every entry of the store is whole.
//!
//! Each case has a seed, which is printed where it fails. `FAULTS_SEED` says with which to begin, and
//! `FAULTS_CASES` how many to try: one alone repeats a case, a kill at the same part of the time that a build takes.
//! `cargo xtask soak` tries many.
//!
//! A build is one run of a build script, started as Cargo starts it, in a process group with the compilers
//! that it runs. Cargo itself is killed in `tests/end-to-end`. What is done to a process follows "crash testing" of
//! file systems and databases ([SQLite](https://www.sqlite.org/testing.html#crash_testing)).

mod cases;
mod fixture;
mod folders;
mod mutants;

pub use cases::{count, for_seeds};
pub use fixture::{Built, Fixture, Outputs, References, VARIANTS};
pub use folders::{copy, entries, files, kind, remove};
pub use mutants::{Language, Mutants};
