//! The third stage: what has to be compiled, by whom, and whether that is possible.

pub(crate) mod device_libraries;
pub(crate) mod host_code;
pub(crate) mod units;
