//! Primary contexts: one for each device, counted by its users.
//!
//! CUDA Driver API, "Primary Context Management".

use std::sync::{Arc, Mutex};

use super::context::Context;
use crate::base::error::{Error, Result};
use crate::base::handle::lock;
use crate::config::MAX_DEVICES;

/// The primary context of a device.
struct Primary {
    count: u64,
    flags: u32,
    context: Option<Arc<Context>>,
}

/// By the ordinals of the devices.
static PRIMARIES: [Mutex<Primary>; MAX_DEVICES] =
    [const { Mutex::new(Primary { count: 0, flags: 0, context: None }) }; MAX_DEVICES];

/// Counts a user up, and makes the context if there is none.
pub(crate) fn retain(ordinal: usize) -> Arc<Context> {
    let mut primary = lock(&PRIMARIES[ordinal]);
    primary.count += 1;
    let flags = primary.flags;
    let make = || Context::create(ordinal, flags, true);
    Arc::clone(primary.context.get_or_insert_with(make))
}

/// Counts a user down; gives the context that is to be destroyed with the last.
pub(crate) fn release(ordinal: usize) -> Result<Option<Arc<Context>>> {
    let mut primary = lock(&PRIMARIES[ordinal]);
    primary.count = primary.count.checked_sub(1).ok_or(Error::CUDA_ERROR_INVALID_CONTEXT)?;
    Ok(if primary.count > 0 { None } else { primary.context.take() })
}

/// Gives the context that is to be destroyed. Its users stay counted; the next one that retains it
/// gets a new context.
pub(crate) fn reset(ordinal: usize) -> Option<Arc<Context>> {
    lock(&PRIMARIES[ordinal]).context.take()
}

/// How many users there are.
pub(crate) fn users(ordinal: usize) -> u64 {
    lock(&PRIMARIES[ordinal]).count
}

/// The flags, and whether there is a context.
pub(crate) fn state(ordinal: usize) -> (u32, bool) {
    let primary = lock(&PRIMARIES[ordinal]);
    (primary.flags, primary.context.is_some())
}

/// Sets the flags, of the context too if there is one.
pub(crate) fn set_flags(ordinal: usize, flags: u32) {
    let mut primary = lock(&PRIMARIES[ordinal]);
    primary.flags = flags;
    if let Some(context) = &primary.context {
        context.flags.store(flags, std::sync::atomic::Ordering::Relaxed);
    }
}
