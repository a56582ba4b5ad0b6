//! Linking: a kernel's module gets what it calls and no more, that is panics, mathematical functions,
//! and the functions of the device crate and of the standard library.

mod c_library;
mod clash;
mod ending;
mod grid;
mod heap;
pub(crate) mod host_instructions;
mod inline;
mod library;
mod linker;
mod math;
mod merge;
mod messages;
mod panics;
mod print;
pub(crate) mod ptx_instructions;
mod reflect;
mod vendor;

pub(crate) use c_library::{known, provides};
pub(crate) use clash::{declarations, redefinitions};
pub(crate) use grid::{grid_operations, inline_grid_barriers};
pub(crate) use inline::{finish_panics, inline_panicking};
pub(crate) use library::Libraries;
pub(crate) use linker::{Sources, libraries, shared_instances};
pub(crate) use messages::Messages;
pub(crate) use print::printing;
pub(crate) use reflect::reflect;
pub(crate) use vendor::load as vendor_math;
