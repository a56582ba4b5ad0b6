//! Values that every layer uses and that know nothing of compiling: bytes for a store, values made
//! once, demangled symbols, resource limits of processes, and the reserved names of the device crate's interface.

pub(crate) mod bytes;
pub(crate) mod cpp_names;
pub(crate) mod demangle;
#[cfg(test)]
pub(crate) mod loaded;
pub(crate) mod mangle;
pub(crate) mod names;
pub(crate) mod once;
pub(crate) mod resource_limits;
pub(crate) mod standard;
