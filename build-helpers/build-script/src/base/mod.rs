//! The bottom layer: what every stage of a build uses. Nothing in it knows a stage.

pub(crate) mod cargo;
pub(crate) mod code_text;
pub(crate) mod encoding;
pub(crate) mod environment;
pub(crate) mod error;
pub(crate) mod faults;
pub(crate) mod files;
pub(crate) mod glob;
pub(crate) mod jobs;
pub(crate) mod naming;
pub(crate) mod paths;
mod progress;
pub(crate) mod quantities;
pub(crate) mod report;
pub(crate) mod stack;
pub(crate) mod trace;
