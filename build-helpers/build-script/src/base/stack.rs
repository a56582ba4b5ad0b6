//! Threads with a stack of their own: what the first thread has is whatever the process was started with
//! (`RLIMIT_STACK`), and the parser of Rust is recursive.

use std::{io, thread};

/// The stack of a build, and of each thread that helps it. LLVM's passes are recursive, and compilers run them on the
/// 8 MiB that a process usually has. The system gives out as much of it as is used.
pub(crate) const OF_BUILD: usize = 32 << 20;

/// Runs work on a thread with this much stack, and waits for it.
///
/// # Errors
///
/// Where the system has no thread, or no memory for the stack.
pub(crate) fn with_stack<R: Send>(bytes: usize, work: impl FnOnce() -> R + Send) -> io::Result<R> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(bytes).spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
