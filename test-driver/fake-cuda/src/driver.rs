//! The state of the whole driver.

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, Ordering},
};

use crate::{
    config::Config,
    coverage,
    device::Device,
    error::{Error, Result},
    leak,
};

/// The version of the driver API that is answered, as `cuDriverGetVersion` gives it.
pub(crate) const VERSION: i32 = 12080;

/// The devices, after [`initialize`].
pub(crate) struct Driver {
    pub(crate) devices: Vec<Device>,
}

static DRIVER: OnceLock<Driver> = OnceLock::new();
static INITIALIZED: AtomicBool = AtomicBool::new(false);

/// The configuration, which is read once.
pub(crate) fn config() -> Result<&'static Config> {
    static CONFIG: OnceLock<std::result::Result<Config, String>> = OnceLock::new();
    let read = CONFIG.get_or_init(|| {
        Config::from_environment().inspect_err(|error| eprintln!("fake-cuda: {error}"))
    });
    read.as_ref().map_err(|_| Error::SystemNotReady)
}

/// Does what `cuInit` does.
pub(crate) fn initialize() -> Result<()> {
    let config = config()?;
    if config.devices.is_empty() {
        return Err(Error::NoDevice);
    }
    DRIVER.get_or_init(|| {
        leak::check_at_exit(config);
        coverage::write_at_exit(config);
        let devices = config.devices.iter().enumerate();
        let devices = devices.map(|(ordinal, profile)| Device::new(ordinal, *profile, config));
        Driver { devices: devices.collect() }
    });
    INITIALIZED.store(true, Ordering::Release);
    Ok(())
}

/// The driver, once it is initialized.
pub(crate) fn driver() -> Result<&'static Driver> {
    if !INITIALIZED.load(Ordering::Acquire) {
        return Err(Error::NotInitialized);
    }
    DRIVER.get().ok_or(Error::NotInitialized)
}

/// The device with this number.
pub(crate) fn device(ordinal: i32) -> Result<&'static Device> {
    let index = usize::try_from(ordinal).map_err(|_| Error::InvalidDevice)?;
    driver()?.devices.get(index).ok_or(Error::InvalidDevice)
}
