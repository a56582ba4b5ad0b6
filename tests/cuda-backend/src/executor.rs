//! An executor of one task, and a waker that counts.

use std::{
    future::IntoFuture,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Context, Poll, Wake, Waker},
};

/// Runs a future on this thread, which sleeps until it is woken.
pub fn block_on<F: IntoFuture>(future: F) -> F::Output {
    struct Woken(mpsc::Sender<()>);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            // Nobody waits any more where the future was ready before.
            let _ = self.0.send(());
        }
    }
    let (sender, woken) = mpsc::channel();
    let waker = Waker::from(Arc::new(Woken(sender)));
    let mut future = pin!(future.into_future());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        woken.recv().expect("the waker is there");
    }
}

/// How often a waker was woken.
#[derive(Debug, Default)]
pub struct Wakes(AtomicUsize);

impl Wakes {
    /// The number.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
