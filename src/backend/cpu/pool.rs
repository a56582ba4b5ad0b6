//! The thread pool of launches: rayon's global one, and whether it can be used.
//!
//! rayon panics where its pool cannot be started, and waits for ever for threads that a forked process does
//! not have. So the pool is started here, and a launch asks before it shares its blocks.

use std::{error::Error as _, num::NonZero, process, sync::OnceLock, thread};

use super::stack;
use crate::{
    error::{Error, Result},
    properties::Backend,
};

/// The process that has started the pool, or why it has no threads.
static STARTED: OnceLock<std::result::Result<u32, String>> = OnceLock::new();

/// The number of threads that a launch is shared among.
///
/// # Errors
///
/// As [`check`], but for a process that was forked.
pub(super) fn threads() -> Result<usize> {
    if !is_in_pool() {
        start()?;
    }
    Ok(rayon::current_num_threads())
}

/// Whether this thread is of a pool already, which then runs the launch.
pub(super) fn is_in_pool() -> bool {
    rayon::current_thread_index().is_some()
}

/// Starts the pool, unless it is there.
///
/// # Errors
///
/// [`Error::Unavailable`] where no threads can be had. rayon starts its pool once, so it stays so.
fn start() -> Result<u32> {
    match STARTED.get_or_init(start_global) {
        Ok(process) => Ok(*process),
        Err(reason) => Err(unavailable(format!(
            "the thread pool cannot be started ({reason}); use `Device::cpu_sequential`, which needs no threads"
        ))),
    }
}

/// Checks that blocks can be shared among the threads of the pool.
///
/// # Errors
///
/// [`Error::Unavailable`] where there are no threads, also in a process that was forked from one that has
/// them.
pub(super) fn check() -> Result<()> {
    if is_in_pool() || start()? == process::id() {
        return Ok(());
    }
    Err(unavailable(
        "the process was forked after the thread pool was started, and has none of its threads; fork \
         before the first launch, or use `Device::cpu_sequential`"
            .to_owned(),
    ))
}

fn start_global() -> std::result::Result<u32, String> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    if !stack::has_room(threads, stack::LEAST) {
        return Err(format!("there is no memory for the stacks of its {threads} threads"));
    }
    match rayon::ThreadPoolBuilder::new().build_global() {
        Ok(()) => Ok(process::id()),
        Err(error) => match error.source() {
            // The program has started it.
            None => Ok(process::id()),
            Some(source) => Err(source.to_string()),
        },
    }
}

fn unavailable(reason: String) -> Error {
    Error::Unavailable { backend: Backend::Cpu, reason }
}
