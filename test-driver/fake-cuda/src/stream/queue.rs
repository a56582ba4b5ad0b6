//! Queues of work, each with a thread that does it in order.
//!
//! An eager queue does its work as soon as it can. A lazy one does it when somebody waits for it, and
//! no more of it than that: work of another stream that is ordered behind nothing comes before.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
};

use crate::base::error::{Error, Result};
use crate::base::handle::lock;
use crate::config::{Streams, config};

/// Something to do.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// Work that is done in order by a thread of its own. The thread starts with the first work.
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    /// How many tasks were ever queued, and how many of these are done.
    queued: u64,
    done: u64,
    /// How many tasks are to be done now, at most.
    wanted: u64,
    running: bool,
    closed: bool,
}

struct Task {
    after: Vec<Point>,
    job: Job,
}

/// A moment in a queue: all that was queued before it.
#[derive(Clone)]
pub(crate) struct Point {
    queue: Arc<Queue>,
    number: u64,
}

impl Queue {
    /// A queue that does its work when the configuration says.
    pub(crate) fn new() -> Arc<Self> {
        Self::with(config().map_or(Streams::Eager, |config| config.streams))
    }

    fn with(streams: Streams) -> Arc<Self> {
        let wanted = match streams {
            Streams::Eager => u64::MAX,
            Streams::Lazy => 0,
        };
        let state = Mutex::new(State { wanted, ..State::default() });
        Arc::new(Self { state, changed: Condvar::new() })
    }

    /// Queues a job that starts when `after` is reached, and gives the moment when it is done;
    /// [`Error::CUDA_ERROR_OPERATING_SYSTEM`] where there is no thread to do it.
    pub(crate) fn push(self: &Arc<Self>, after: Vec<Point>, job: Job) -> Result<Point> {
        let mut state = lock(&self.state);
        let after = after.into_iter().filter(|point| !Arc::ptr_eq(&point.queue, self)).collect();
        if !state.running {
            let queue = Arc::clone(self);
            let started = thread::Builder::new().spawn(move || queue.work());
            started.map_err(|_| Error::CUDA_ERROR_OPERATING_SYSTEM)?;
            state.running = true;
        }
        state.tasks.push_back(Task { after, job });
        state.queued += 1;
        self.changed.notify_all();
        Ok(Point { queue: Arc::clone(self), number: state.queued })
    }

    /// The moment when all is done that is queued now.
    pub(crate) fn now(self: &Arc<Self>) -> Point {
        Point { queue: Arc::clone(self), number: lock(&self.state).queued }
    }

    /// Lets the thread end when it has done what is queued.
    pub(crate) fn close(&self) {
        lock(&self.state).closed = true;
        self.changed.notify_all();
    }

    fn work(&self) {
        while let Some(task) = self.next() {
            task.after.iter().for_each(Point::wait);
            (task.job)();
            lock(&self.state).done += 1;
            self.changed.notify_all();
        }
    }

    /// The next task, as soon as there is one; `None` when the queue is closed and empty.
    fn next(&self) -> Option<Task> {
        let mut state = lock(&self.state);
        loop {
            let first = state.queued - state.tasks.len() as u64 + 1;
            if first <= state.wanted
                && let Some(task) = state.tasks.pop_front()
            {
                return Some(task);
            }
            if state.closed && state.tasks.is_empty() {
                state.running = false;
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Point {
    /// Waits until all before this moment is done.
    pub(crate) fn wait(&self) {
        let mut state = lock(&self.queue.state);
        self.want(&mut state);
        while state.done < self.number {
            state = self.queue.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether all before this moment is done.
    pub(crate) fn is_reached(&self) -> bool {
        lock(&self.queue.state).done >= self.number
    }

    /// As [`Point::is_reached`], for a program that asks until it is.
    pub(crate) fn query(&self) -> bool {
        let mut state = lock(&self.queue.state);
        self.want(&mut state);
        state.done >= self.number
    }

    fn want(&self, state: &mut State) {
        if state.wanted < self.number {
            state.wanted = self.number;
            self.queue.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn jobs_run_in_order_on_another_thread() {
        let (queue, (sender, receiver)) = (Queue::new(), mpsc::channel());
        for number in 0..10 {
            let sender = sender.clone();
            let job = move || sender.send((number, thread::current().id())).unwrap();
            queue.push(Vec::new(), Box::new(job)).unwrap();
        }
        queue.now().wait();
        let ran: Vec<_> = receiver.try_iter().collect();
        assert!(ran.iter().map(|(number, _)| *number).eq(0..10));
        assert!(ran.iter().all(|(_, id)| *id != thread::current().id()));
        queue.close();
    }

    #[test]
    fn a_job_waits_for_another_queue() {
        let (first, second) = (Queue::new(), Queue::new());
        let (open, gate) = mpsc::channel::<()>();
        let blocked = first.push(Vec::new(), Box::new(move || gate.recv().unwrap())).unwrap();
        let after = second.push(vec![blocked.clone()], Box::new(|| ())).unwrap();
        assert!(!blocked.is_reached() && !after.is_reached());
        open.send(()).unwrap();
        after.wait();
        assert!(blocked.is_reached());
        first.close();
        second.close();
    }

    #[test]
    fn a_lazy_queue_does_what_is_waited_for_and_no_more() {
        let (first, second) = (Queue::with(Streams::Lazy), Queue::with(Streams::Lazy));
        let (sender, receiver) = mpsc::channel();
        let send = |number: u32| -> Job {
            let sender = sender.clone();
            Box::new(move || sender.send(number).unwrap())
        };
        let needed = first.push(Vec::new(), send(0)).unwrap();
        let last = first.push(Vec::new(), send(1)).unwrap();
        second.push(vec![needed], send(2)).unwrap().wait();
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [0, 2]);
        while !last.query() {
            thread::yield_now();
        }
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1]);
        first.close();
        second.close();
    }
}
