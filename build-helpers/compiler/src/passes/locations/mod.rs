//! Source locations of panics: one table of them, and the calls on the way to each.

mod backtraces;
mod location;
mod numbers;
mod table;

pub(crate) use backtraces::Backtraces;
pub(crate) use table::collect;
