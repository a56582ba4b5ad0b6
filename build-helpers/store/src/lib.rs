//! The store of kernelmill: results by key, on disk, one store for all packages of a user. Builds keep compiled kernels in
//! it, and the run time what is compiled at run time.
//!
//! Needs a folder that is the user's alone. Guaranteed: an entry is whole, its own, or absent; a store that cannot be
//! written only makes work that is done again.

mod entries;
pub mod files;
mod key;
mod location;
mod size;
mod trust;

pub use entries::{FORMAT_VERSION, Store, WriteError, is_abandoned};
pub use key::{KeyBuilder, digest};
pub use location::{StoreError, Variables, limit, user_folder, versions};
pub use size::bytes;
pub use trust::{can_execute, who_else_can_change};
