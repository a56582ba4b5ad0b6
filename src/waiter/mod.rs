//! Waits for what only blocking calls of a driver wait for, without blocking a task of an executor.
//!
//! A wait that a task begins is handed to a thread of an elastic [`pool`], as the blocking pools of executors do it;
//! the thread sleeps in the driver, and wakes the task by its [`completion`]. Needs no executor.
//!
//! Guaranteed: a wait owns what it uses, so that it goes on when the task forgets it.

mod completion;
mod pool;
#[cfg(test)]
mod tests;

use std::{
    io,
    panic::{self, AssertUnwindSafe},
    sync::{Arc, LazyLock},
    task::{Context, Poll},
    thread,
    time::Duration,
};

use self::{completion::Completion, pool::Pool};

/// How long a thread without a wait stays.
const IDLE: Duration = Duration::from_secs(5);

type Job = Box<dyn FnOnce() + Send>;

/// The threads of the process.
static POOL: LazyLock<Pool<Job>> = LazyLock::new(Pool::new);

/// A wait on another thread, for its result. Dropping it tells nobody, and the wait goes on.
pub(crate) struct Wait<T> {
    completion: Arc<Completion<thread::Result<T>>>,
}

impl<T: Send + 'static> Wait<T> {
    /// Lets a thread call `wait`, and then wake the task.
    ///
    /// # Errors
    ///
    /// Where there is no thread to be had. `wait` is dropped then.
    pub(crate) fn begin(
        wait: impl FnOnce() -> T + Send + 'static,
        context: &Context<'_>,
    ) -> io::Result<Self> {
        let completion = Arc::new(Completion::new(context.waker().clone()));
        let of_thread = Arc::clone(&completion);
        let caught = move || panic::catch_unwind(AssertUnwindSafe(wait));
        submit(Box::new(move || of_thread.complete(caught())))?;
        Ok(Self { completion })
    }

    /// The result, or the panic of what waited; otherwise the task of `context` is woken when it is there, and no
    /// other.
    pub(crate) fn poll(&self, context: &Context<'_>) -> Poll<T> {
        let result = self.completion.poll(context.waker());
        result.map(|result| result.unwrap_or_else(|panic| panic::resume_unwind(panic)))
    }
}

impl<T> Drop for Wait<T> {
    fn drop(&mut self) {
        self.completion.forget();
    }
}

/// Gives a job to a thread, a new one where none is idle.
fn submit(job: Job) -> io::Result<()> {
    let Err(job) = POOL.offer(job) else { return Ok(()) };
    let thread = thread::Builder::new().name("kernelmill-wait".to_owned());
    thread.spawn(|| POOL.serve(job, IDLE)).map(drop)
}
