//! Waits with threads of `std`: Miri and ThreadSanitizer run them.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Wake, Waker},
};

use super::*;

/// As long as it takes.
const LONG: Duration = Duration::from_secs(3600);

/// Sends a number when it is woken.
struct Sends(mpsc::Sender<u32>, u32);

impl Wake for Sends {
    fn wake(self: Arc<Self>) {
        // Some tests listen no longer.
        let _ = self.0.send(self.1);
    }
}

fn waker(sender: &mpsc::Sender<u32>, number: u32) -> Waker {
    Waker::from(Arc::new(Sends(sender.clone(), number)))
}

#[test]
fn the_waker_of_the_last_poll_is_woken_once() {
    let (sender, woken) = mpsc::channel();
    let [first, second] = [1, 2].map(|number| waker(&sender, number));
    drop(sender);
    let (open, gate) = mpsc::channel::<()>();
    let mut context = Context::from_waker(&first);
    let wait = Wait::begin(move || gate.recv().is_ok(), &context).unwrap();
    assert!(wait.poll(&context).is_pending());
    context = Context::from_waker(&second);
    assert!(wait.poll(&context).is_pending());
    open.send(()).unwrap();
    assert_eq!(woken.recv(), Ok(2));
    assert_eq!(wait.poll(&context), Poll::Ready(true));
    drop((first, second));
    assert!(woken.recv().is_err(), "no waker is kept, and none was woken again");
}

#[test]
fn a_wait_that_is_dropped_goes_on_and_wakes_nobody() {
    let (sender, woken) = mpsc::channel();
    let (open, gate) = mpsc::channel::<()>();
    let (done, end) = mpsc::channel();
    let waits = move || done.send(gate.recv().is_ok()).unwrap();
    drop(Wait::begin(waits, &Context::from_waker(&waker(&sender, 1))).unwrap());
    drop(sender);
    assert!(woken.recv().is_err(), "the waker is gone");
    open.send(()).unwrap();
    assert_eq!(end.recv(), Ok(true));
}

#[test]
fn a_panic_is_the_tasks() {
    let (sender, woken) = mpsc::channel();
    let waker = waker(&sender, 1);
    let context = Context::from_waker(&waker);
    let wait = Wait::<()>::begin(|| panic!("as the test wants it"), &context).unwrap();
    woken.recv().unwrap();
    let panic = panic::catch_unwind(AssertUnwindSafe(|| wait.poll(&context))).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"as the test wants it"));
}

#[test]
fn a_job_is_given_to_a_thread_that_has_none() {
    let pool = Pool::<fn()>::new();
    assert!(pool.offer(|| ()).is_err());
    pool.state.lock().unwrap().idle = 1;
    pool.offer(|| ()).unwrap();
    assert!(pool.offer(|| ()).is_err(), "the one thread has a job");
}

#[test]
fn threads_do_one_job_after_the_other_and_end_when_none_comes() {
    let (pool, done) = (Pool::<Job>::new(), AtomicUsize::new(0));
    let (sender, threads) = mpsc::channel();
    let job = || -> Job {
        let sender = sender.clone();
        Box::new(move || sender.send(thread::current().id()).unwrap())
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            pool.serve(job(), LONG);
            done.fetch_add(1, Ordering::Relaxed);
        });
        let wait_for_idle = || {
            while pool.state.lock().unwrap().idle == 0 {
                thread::yield_now();
            }
        };
        let first = threads.recv().unwrap();
        for _ in 0..3 {
            wait_for_idle();
            pool.offer(job()).map_err(drop).unwrap();
            assert_eq!(threads.recv(), Ok(first));
        }
        wait_for_idle();
        assert_eq!(done.load(Ordering::Relaxed), 0);
        // As if its time were over.
        let _state = pool.state.lock().unwrap();
        pool.changed.notify_all();
    });
    assert_eq!(done.into_inner(), 1);
    // And one whose time is over at once.
    pool.serve(job(), Duration::ZERO);
}
