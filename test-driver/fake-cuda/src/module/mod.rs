//! Modules, functions, launches and occupancy.

pub(crate) mod launch;
#[expect(clippy::module_inception, reason = "the module itself, beside what is done with it")]
mod module;
pub(crate) mod occupancy;

pub(crate) use module::{
    FUNCTIONS, Function, MODULES, Module, Refusal, kernel, refuse_binary, threads,
};
