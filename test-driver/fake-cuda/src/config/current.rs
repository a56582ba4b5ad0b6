//! The configuration of the process.

use std::sync::OnceLock;

use super::environment::Config;
use crate::base::error::{Error, Result};

/// The configuration, which is read once.
pub(crate) fn config() -> Result<&'static Config> {
    static CONFIG: OnceLock<std::result::Result<Config, String>> = OnceLock::new();
    let read = CONFIG.get_or_init(|| {
        Config::from_environment().inspect_err(|error| eprintln!("fake-cuda: {error}"))
    });
    read.as_ref().map_err(|_| Error::CUDA_ERROR_SYSTEM_NOT_READY)
}
