//! The generated bindings, `OUT_DIR/kernels.rs`: the embedded binaries, a type for each struct in
//! a signature, and one launch wrapper for each kernel.

mod comments;
mod declarations;
pub(crate) mod embedded;
mod expr;
mod generic;
mod generics;
pub(crate) mod interface;
mod methods;
pub(crate) mod model;
mod names;
pub(crate) mod render;
mod rules;
mod set;
#[cfg(test)]
mod tests;
pub(crate) mod tuned;
mod type_names;
mod types;
mod variables;
