//! The driver: the devices, once `cuInit` has made them.

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, Ordering},
};

use crate::base::error::{Error, Result};
use crate::device::Device;

/// The version of the driver API that is answered where nothing else is asked for, as `cuDriverGetVersion` gives it: the
/// release whose PTX the emulator reads.
pub(crate) const VERSION: i32 = 13050;

/// The devices, after [`initialize`].
pub(crate) struct Driver {
    pub(crate) devices: Vec<Device>,
}

static DRIVER: OnceLock<Driver> = OnceLock::new();
static INITIALIZED: AtomicBool = AtomicBool::new(false);

/// Initializes the driver with the devices that `make` makes, the first time.
pub(crate) fn initialize(make: impl FnOnce() -> Vec<Device>) {
    DRIVER.get_or_init(|| Driver { devices: make() });
    INITIALIZED.store(true, Ordering::Release);
}

/// The driver, once it is initialized.
pub(crate) fn driver() -> Result<&'static Driver> {
    if !INITIALIZED.load(Ordering::Acquire) {
        return Err(Error::CUDA_ERROR_NOT_INITIALIZED);
    }
    DRIVER.get().ok_or(Error::CUDA_ERROR_NOT_INITIALIZED)
}

/// The device with this number.
pub(crate) fn device(ordinal: i32) -> Result<&'static Device> {
    let index = usize::try_from(ordinal).map_err(|_| Error::CUDA_ERROR_INVALID_DEVICE)?;
    driver()?.devices.get(index).ok_or(Error::CUDA_ERROR_INVALID_DEVICE)
}

/// The device of an object that exists.
pub(crate) fn device_of(ordinal: usize) -> &'static Device {
    let driver = driver().expect("there are objects only after `cuInit`");
    &driver.devices[ordinal]
}
