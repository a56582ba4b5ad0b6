//! Teardown: the end of a context with everything that it has.

use std::sync::Arc;

use super::leak;
use crate::base::error::Result;
use crate::context::{CONTEXTS, Context, primary};
use crate::event::EVENTS;
use crate::memory;
use crate::module::MODULES;
use crate::stream::STREAMS;

/// Ends a context with everything that it has.
pub(crate) fn destroy(context: &Arc<Context>) {
    if CONTEXTS.remove(context.handle).is_err() {
        return;
    }
    context.drain();
    let mut left = leak::Left::new(context);
    for stream in STREAMS.remove_all(|stream| stream.context == context.handle) {
        stream.queue.close();
        left.streams += 1;
    }
    left.events += EVENTS.remove_all(|event| event.context == context.handle).len();
    left.modules += MODULES.remove_all(|module| module.owner == context.owner()).len();
    left.add_allocations(memory::release_context(context.handle));
    context.close_default_streams();
    if context.async_error().is_none() {
        leak::note(left);
    }
}

/// Counts a user of a device's primary context down, and destroys it with the last.
pub(crate) fn release_primary(ordinal: usize) -> Result<()> {
    if let Some(context) = primary::release(ordinal)? {
        destroy(&context);
    }
    Ok(())
}

/// Destroys what is in a device's primary context.
pub(crate) fn reset_primary(ordinal: usize) {
    if let Some(context) = primary::reset(ordinal) {
        destroy(&context);
    }
}
