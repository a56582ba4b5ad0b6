//! Task queues: a thread that runs tasks one after the other, in the order in which they come.
//!
//! The thread ends when its queue is dropped and empty; nobody waits for it then.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

/// What a queue runs. It does not panic.
pub(super) type Task = Box<dyn FnOnce() + Send>;

/// A queue; its thread runs as long as this lives, or it has tasks.
pub(super) struct Queue(Arc<State>);

/// What is on a queue, to wait for. It keeps no queue open.
///
/// Not a weak reference: who finds that the queue is gone has waited for nothing, so that the last tasks would
/// not happen before what comes then.
#[derive(Clone)]
pub(super) struct Waiter(Arc<State>);

#[derive(Default)]
struct State {
    tasks: Mutex<Tasks>,
    changed: Condvar,
}

#[derive(Default)]
struct Tasks {
    waiting: VecDeque<Task>,
    is_running: bool,
    is_closed: bool,
}

impl Queue {
    /// A queue with a thread of its own.
    pub(super) fn start() -> io::Result<Self> {
        let state = Arc::new(State::default());
        let of_thread = Arc::clone(&state);
        let builder = thread::Builder::new().name("kernelmill-stream".to_owned());
        builder.spawn(move || of_thread.run())?;
        Ok(Self(state))
    }

    /// Adds a task behind all others.
    pub(super) fn push(&self, task: Task) {
        self.0.lock().waiting.push_back(task);
        self.0.changed.notify_all();
    }

    /// Waits until every task is done that was added before.
    pub(super) fn wait(&self) {
        self.0.wait();
    }

    /// Whether a task is not done.
    pub(super) fn has_work(&self) -> bool {
        self.0.lock().has_work()
    }

    pub(super) fn waiter(&self) -> Waiter {
        Waiter(Arc::clone(&self.0))
    }
}

impl Waiter {
    /// Waits for the tasks of a queue, also one that is dropped.
    pub(super) fn wait(&self) {
        self.0.wait();
    }

    /// Whether the queue is dropped and every task is done, which then happened before this.
    pub(super) fn is_over(&self) -> bool {
        let tasks = self.0.lock();
        tasks.is_closed && !tasks.has_work()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.changed.notify_all();
    }
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sleep<'a>(&self, tasks: MutexGuard<'a, Tasks>) -> MutexGuard<'a, Tasks> {
        self.changed.wait(tasks).unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread of the queue.
    fn run(&self) {
        let mut tasks = self.lock();
        loop {
            if let Some(task) = tasks.waiting.pop_front() {
                tasks.is_running = true;
                drop(tasks);
                task();
                tasks = self.lock();
                tasks.is_running = false;
                self.changed.notify_all();
            } else if tasks.is_closed {
                return;
            } else {
                tasks = self.sleep(tasks);
            }
        }
    }

    fn wait(&self) {
        let mut tasks = self.lock();
        while tasks.has_work() {
            tasks = self.sleep(tasks);
        }
    }
}

impl Tasks {
    fn has_work(&self) -> bool {
        self.is_running || !self.waiting.is_empty()
    }
}
