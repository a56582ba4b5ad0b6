//! Devices: profile, emulator and counted memory.

use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};

use super::attributes;
use super::profile::Profile;
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::config::Config;
use crate::emulator::Emulator;

/// A device and its memory.
pub(crate) struct Device {
    pub(crate) ordinal: usize,
    pub(crate) profile: Profile,
    /// Whether it has cooperative launches.
    cooperative: bool,
    pub(crate) emulator: Emulator,
    pub(crate) memory: u64,
    used: AtomicU64,
    pub(crate) default_pool: Handle,
    pub(crate) current_pool: Mutex<Handle>,
}

impl Device {
    pub(crate) fn new(
        ordinal: usize,
        profile: Profile,
        config: &Config,
        default_pool: Handle,
    ) -> Self {
        Self {
            ordinal,
            profile,
            cooperative: config.cooperative,
            emulator: Emulator::new(ordinal, &profile, config),
            memory: config.memory,
            used: AtomicU64::new(0),
            default_pool,
            current_pool: Mutex::new(default_pool),
        }
    }

    /// What the device calls itself.
    pub(crate) fn name(&self) -> String {
        format!("PTX emulator sm_{}", self.profile.name)
    }

    /// An identifier that differs between the devices of a process and is the same in the next.
    pub(crate) fn uuid(&self) -> [u8; 16] {
        let mut uuid = *b"kernelmill-ptx\0\0";
        uuid[14] = self.profile.name.as_bytes()[0];
        uuid[15] = self.ordinal as u8;
        uuid
    }

    /// The value of a device attribute; [`Error::CUDA_ERROR_INVALID_VALUE`] for numbers that are none.
    pub(crate) fn attribute(&self, attribute: i32) -> Result<i32> {
        if attribute == attributes::COOPERATIVE_LAUNCH && !self.cooperative {
            return Ok(0);
        }
        attributes::value(&self.profile, self.ordinal, attribute)
            .ok_or(Error::CUDA_ERROR_INVALID_VALUE)
    }

    /// Bytes that are not allocated.
    pub(crate) fn free_bytes(&self) -> u64 {
        self.memory.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Takes bytes from the device's memory, if there are as many.
    pub(crate) fn take_bytes(&self, bytes: u64) -> Result<()> {
        let take = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.memory);
        let taken = self.used.try_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.map(|_| ()).map_err(|_| Error::CUDA_ERROR_OUT_OF_MEMORY)
    }

    /// Gives bytes back.
    pub(crate) fn give_bytes(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}
