//! Models of a launch on the CPU whose blocks several threads take.

use std::time::Duration;

use loom::{cell::UnsafeCell, sync::Arc, thread};

use crate::{gate::Gate, progress::Progress};

/// Longer than a model takes.
const LONG: Duration = Duration::from_secs(3600);

/// A launch whose blocks each write an element.
struct Launch {
    progress: Progress,
    elements: Vec<UnsafeCell<u32>>,
}

// SAFETY: loom checks that each element has one writer, before who reads.
unsafe impl Sync for Launch {}

impl Launch {
    /// Starts the threads of a launch.
    fn start(blocks: usize, threads: usize) -> Arc<Self> {
        let elements = (0..blocks).map(|_| UnsafeCell::new(0)).collect();
        let launch = Arc::new(Self { progress: Progress::new(blocks, threads), elements });
        for number in 0..threads {
            launch.progress.enter();
            let of_thread = Arc::clone(&launch);
            thread::spawn(move || {
                while let Some(block) = of_thread.progress.take(number) {
                    // SAFETY: a block is taken once.
                    of_thread.elements[block].with_mut(|element| unsafe { *element += 1 });
                }
                of_thread.progress.leave();
            });
        }
        launch
    }

    /// The elements, once all threads have left.
    fn elements(&self) -> Vec<u32> {
        // SAFETY: nobody writes any more.
        self.elements.iter().map(|element| element.with(|element| unsafe { *element })).collect()
    }
}

#[test]
fn each_block_runs_once_and_who_waits_sees_what_it_wrote() {
    loom::model(|| {
        let launch = Launch::start(2, 2);
        assert!(launch.progress.wait(LONG));
        assert_eq!(launch.elements(), [1, 1]);
        assert!(launch.progress.running().is_empty());
    });
}

#[test]
fn after_a_stop_the_thread_leaves_and_no_block_runs_twice() {
    loom::model(|| {
        let launch = Launch::start(2, 1);
        launch.progress.stop();
        assert!(launch.progress.running().iter().all(|block| *block < 2));
        assert!(launch.progress.wait(LONG));
        assert!(launch.elements().iter().all(|runs| *runs <= 1));
    });
}

#[test]
fn whoever_has_closed_a_gate_sees_all_that_was_done_inside_and_nobody_enters_later() {
    loom::model(|| {
        let work = Arc::new((Gate::new(), UnsafeCell::new(0), UnsafeCell::new(0)));
        let helpers: Vec<_> = (0..2)
            .map(|number| {
                let work = Arc::clone(&work);
                thread::spawn(move || {
                    let (gate, one, other) = &*work;
                    if gate.enter() {
                        let element = if number == 0 { one } else { other };
                        // SAFETY: each thread has one of its own, until it leaves.
                        element.with_mut(|element| unsafe { *element += 1 });
                        gate.leave();
                    }
                })
            })
            .collect();
        let (gate, one, other) = &*work;
        gate.close();
        if !gate.is_empty() {
            gate.wait();
        }
        // SAFETY: nobody is inside, and nobody enters; loom checks it.
        let elements = [one, other].map(|it| it.with_mut(|element| unsafe { *element }));
        assert!(elements.iter().all(|runs| *runs <= 1));
        for helper in helpers {
            helper.join().unwrap();
        }
    });
}
