//! Devices.

mod attributes;
mod profile;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

pub(crate) use profile::Profile;

use crate::{
    config::Config,
    context::Context,
    error::{Error, Result},
    handle::{Handle, lock},
    machine::Machine,
    memory::pool,
};

/// A device, its memory and its primary context.
pub(crate) struct Device {
    pub(crate) ordinal: usize,
    pub(crate) profile: Profile,
    pub(crate) machine: Machine,
    pub(crate) memory: u64,
    used: AtomicU64,
    pub(crate) primary: Mutex<Primary>,
    pub(crate) default_pool: Handle,
    pub(crate) current_pool: Mutex<Handle>,
}

/// The primary context of a device.
#[derive(Default)]
pub(crate) struct Primary {
    pub(crate) count: u64,
    pub(crate) flags: u32,
    pub(crate) context: Option<Arc<Context>>,
}

impl Device {
    pub(crate) fn new(ordinal: usize, profile: Profile, config: &Config) -> Self {
        let default_pool = pool::add_default(ordinal);
        Self {
            ordinal,
            profile,
            machine: Machine::new(ordinal, &profile, config),
            memory: config.memory,
            used: AtomicU64::new(0),
            primary: Mutex::default(),
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

    /// The value of a device attribute; [`Error::InvalidValue`] for numbers that are none.
    pub(crate) fn attribute(&self, attribute: i32) -> Result<i32> {
        attributes::value(&self.profile, self.ordinal, attribute).ok_or(Error::InvalidValue)
    }

    /// Bytes that are not allocated.
    pub(crate) fn free_bytes(&self) -> u64 {
        self.memory.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Takes bytes from the device's memory, if there are as many.
    pub(crate) fn take_bytes(&self, bytes: u64) -> Result<()> {
        let take = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.memory);
        #[allow(deprecated, reason = "its successor `try_update` is in Rust 1.95 and later only")]
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.map(|_| ()).map_err(|_| Error::OutOfMemory)
    }

    /// Gives bytes back.
    pub(crate) fn give_bytes(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Counts a user of the primary context up, and makes it if there is none.
    pub(crate) fn retain_primary(&self) -> Arc<Context> {
        let mut primary = lock(&self.primary);
        primary.count += 1;
        let flags = primary.flags;
        let make = || Context::create(self.ordinal, flags, true);
        Arc::clone(primary.context.get_or_insert_with(make))
    }

    /// Counts a user of the primary context down, and destroys it with the last.
    pub(crate) fn release_primary(&self) -> Result<()> {
        let mut primary = lock(&self.primary);
        primary.count = primary.count.checked_sub(1).ok_or(Error::InvalidContext)?;
        if primary.count > 0 {
            return Ok(());
        }
        let context = primary.context.take();
        drop(primary);
        if let Some(context) = context {
            context.destroy();
        }
        Ok(())
    }

    /// Destroys what is in the primary context. Its users stay counted; the next one that retains
    /// it gets a new context.
    pub(crate) fn reset_primary(&self) {
        let context = lock(&self.primary).context.take();
        if let Some(context) = context {
            context.destroy();
        }
    }
}
