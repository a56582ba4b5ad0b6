//! The first stage of a build: the package, and its settings from every place that has some.

mod checks;
pub(crate) mod choices;
pub(crate) mod contract;
mod declared;
pub(crate) mod dumps;
pub(crate) mod kernel;
pub(crate) mod layer;
pub(crate) mod located;
pub(crate) mod native;
pub(crate) mod origin;
pub(crate) mod overrides;
pub(crate) mod package;
pub(crate) mod resolve;
pub(crate) mod resolved;
pub(crate) mod schema;
#[cfg(test)]
mod schema_tests;
pub(crate) mod sources;
pub(crate) mod thresholds;
pub(crate) mod toml_reader;
pub(crate) mod toml_text;
mod tool_limits;
mod unknown_target;
pub(crate) mod variables;
pub(crate) mod variants;
