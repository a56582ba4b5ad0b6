//! Plugins: passes of somebody else's that run where a kernel asks for them.
//!
//! A kernel asks by calling a *marker*, a function that is declared and nowhere defined. A plugin
//! names its marker and the stages of the pipeline at which it works; it is called there if the
//! marker is in the module, and must have replaced every call of it by the end. A module without the
//! marker is compiled as if the plugin were not there.
//!
//! A plugin that checks code, or counts what it does, wants no mark: its [`Scope`] is everything.
//!
//! `docs/src/guide/plugins.md` has an example.

mod api;
mod failure;
pub mod ir;
mod kernels;
mod registry;
mod rule;
mod rules;

pub use crate::{base::demangle::source_name, diagnostic::PluginFault, job::State};
pub(crate) use api::Site;
pub use api::{Plugin, Scope, Stage, Task};
pub use failure::Failure;
pub use kernelmill_artifact::{Access, Scalar, ValueType};
pub use kernels::{Buffer, Kernel, Length, SharedArray};
pub(crate) use registry::Plugins;
pub use rule::Rule;
