//! The third stage of a build: the units to compile, who compiles each, and whether that is possible.

pub(crate) mod device_libraries;
pub(crate) mod host;
pub(crate) mod host_code;
pub(crate) mod targets;
pub(crate) mod units;
pub(crate) mod variants;
