//! Functions of C's library that are there on every target.

use super::math;

/// The functions of C's library for memory that are there on every target.
const MEMORY: [&str; 7] = ["memcpy", "memmove", "memset", "memcmp", "bcmp", "malloc", "free"];

/// Whether a function of C's library that a module calls is there on every target.
pub(crate) fn provides(name: &str) -> bool {
    MEMORY.contains(&name) || math::provides(name)
}

/// The names of the functions of C's library that are there on every target.
pub(crate) fn known() -> impl Iterator<Item = String> {
    MEMORY.iter().map(|name| (*name).to_owned()).chain(math::known())
}
