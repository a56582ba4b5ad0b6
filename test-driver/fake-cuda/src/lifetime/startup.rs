//! Startup: what `cuInit` does.

use super::{fork::note_forks, leak};
use crate::base::error::{Error, Result};
use crate::config::config;
use crate::coverage;
use crate::device::Device;
use crate::driver;
use crate::memory::pool;

/// Reads the configuration and makes the devices; does nothing more the next time.
pub(crate) fn initialize() -> Result<()> {
    let config = config()?;
    if config.devices.is_empty() {
        return Err(Error::CUDA_ERROR_NO_DEVICE);
    }
    driver::initialize(|| {
        note_forks();
        leak::check_at_exit(config);
        coverage::write_at_exit(config);
        let devices = config.devices.iter().enumerate();
        let device = |(ordinal, profile): (usize, &_)| {
            Device::new(ordinal, *profile, config, pool::add_default(ordinal))
        };
        devices.map(device).collect()
    });
    Ok(())
}
