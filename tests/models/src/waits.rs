//! Models of waits on other threads: the pool of their threads, and the completions by which tasks are woken.

use std::{
    sync::{
        Arc as StdArc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Poll, Wake, Waker},
    time::Duration,
};

use loom::{
    sync::{Arc, Condvar, Mutex},
    thread,
};

use crate::{completion::Completion, pool::Pool};

/// As long as it takes: threads end when a model tells them that the time is over.
const LONG: Duration = Duration::from_secs(3600);

type Job = Box<dyn FnOnce() + Send>;

/// A pool, and its threads.
struct Threads {
    pool: Arc<Pool<Job>>,
    created: Vec<thread::JoinHandle<()>>,
    /// How many jobs are done, and how many threads have ended. `std`'s numbers: they are no part of the model.
    done: StdArc<AtomicUsize>,
    ended: StdArc<AtomicUsize>,
}

impl Threads {
    fn new() -> Self {
        let pool = Arc::new(Pool::new());
        Self { pool, created: Vec::new(), done: StdArc::default(), ended: StdArc::default() }
    }

    /// Gives the pool a job, and a thread for it where none is idle.
    fn submit(&mut self) {
        let done = StdArc::clone(&self.done);
        let job: Job = Box::new(move || {
            done.fetch_add(1, Ordering::Relaxed);
        });
        let Err(job) = self.pool.offer(job) else { return };
        let (pool, ended) = (Arc::clone(&self.pool), StdArc::clone(&self.ended));
        self.created.push(thread::spawn(move || {
            pool.serve(job, LONG);
            ended.fetch_add(1, Ordering::Relaxed);
        }));
    }

    /// Waits for so many jobs, then lets the time of all threads be over, and waits for them.
    fn end(self, jobs: usize) {
        while self.ended.load(Ordering::Relaxed) < self.created.len() {
            if self.done.load(Ordering::Relaxed) == jobs {
                expire(&self.pool);
            }
            thread::yield_now();
        }
        self.created.into_iter().for_each(|thread| thread.join().expect("no panic"));
        assert_eq!(self.done.load(Ordering::Relaxed), jobs);
        assert_eq!(self.pool.state.lock().unwrap().idle, 0);
    }
}

/// Runs a model with at most two preemptions: whoever waits for the end asks in a loop, which has more orders than
/// can be run.
fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(check);
}

/// Lets the time of the threads that are idle be over.
fn expire(pool: &Pool<Job>) {
    let _state = pool.state.lock().unwrap();
    pool.changed.notify_all();
}

#[test]
fn every_job_is_done_and_idle_threads_take_them() {
    model(|| {
        let mut threads = Threads::new();
        threads.submit();
        threads.submit();
        threads.end(2);
    });
}

#[test]
fn a_job_is_done_though_the_time_of_its_thread_is_over() {
    model(|| {
        let mut threads = Threads::new();
        threads.submit();
        let pool = Arc::clone(&threads.pool);
        let timer = thread::spawn(move || expire(&pool));
        threads.submit();
        timer.join().expect("no panic");
        threads.end(2);
    });
}

/// A task's place to sleep.
#[derive(Default)]
struct Bed {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Bed {
    fn sleep(&self) {
        let mut woken = self.woken.lock().unwrap();
        while !*woken {
            woken = self.changed.wait(woken).unwrap();
        }
        *woken = false;
    }
}

impl Wake for Bed {
    fn wake(self: StdArc<Self>) {
        *self.woken.lock().unwrap() = true;
        self.changed.notify_one();
    }
}

#[test]
fn a_task_that_sleeps_is_woken_and_has_the_value() {
    loom::model(|| {
        let (first, bed) = (StdArc::<Bed>::default(), StdArc::<Bed>::default());
        let completion = Arc::new(Completion::new(Waker::from(first)));
        let of_thread = Arc::clone(&completion);
        let thread = thread::spawn(move || of_thread.complete(Box::new(7)));
        // Another waker than the first: it is the one that counts.
        let waker = Waker::from(StdArc::clone(&bed));
        let value = loop {
            match completion.poll(&waker) {
                Poll::Ready(value) => break value,
                Poll::Pending => bed.sleep(),
            }
        };
        assert_eq!(*value, 7);
        thread.join().expect("no panic");
    });
}

#[test]
fn a_completion_can_be_forgotten_at_any_time() {
    loom::model(|| {
        let bed = StdArc::<Bed>::default();
        let completion = Arc::new(Completion::new(Waker::from(StdArc::clone(&bed))));
        let of_thread = Arc::clone(&completion);
        let thread = thread::spawn(move || of_thread.complete(Box::new(7)));
        completion.forget();
        drop(completion);
        thread.join().expect("no panic");
        assert_eq!(StdArc::strong_count(&bed), 1, "nobody keeps the waker");
    });
}
