//! Parallel jobs, on as many threads as Cargo's jobserver has tokens for.

use super::stack;
use jobserver::{Acquired, Client};
use std::{
    cmp::Reverse,
    io,
    num::NonZero,
    sync::{Mutex, OnceLock, PoisonError, mpsc},
    thread::{self, Scope},
};

/// Cargo's jobserver, opened once and never closed: the process has its file descriptors only
/// once.
fn client() -> Option<&'static Client> {
    static CLIENT: OnceLock<Option<Client>> = OnceLock::new();
    // SAFETY: the descriptors named in the environment are those Cargo gave this process for that
    // purpose; they are taken once, here, and stay open.
    CLIENT.get_or_init(|| unsafe { Client::from_env() }).as_ref()
}

/// Runs a task for each item and gives the results in the items' order.
///
/// The calling thread works with the token that the process has by being there; every other
/// thread waits for one from the jobserver, and gives it back at the end. Without a jobserver
/// there are as many threads as processors.
pub(crate) fn run<T: Sync, R: Send>(items: &[T], task: impl Fn(&T) -> R + Sync) -> Vec<R> {
    run_under(client(), items, task)
}

/// Runs a task for each item, always that of the greatest weight next: a long one that starts last
/// is what a build waits for. Weights are asked for again each time, as tasks may find them out. The
/// results are in the items' order.
pub(crate) fn run_heaviest_first<T: Sync, R: Send>(
    items: &[T],
    weight: impl Fn(&T) -> u64 + Sync,
    task: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    run_heaviest_under(client(), items, weight, task)
}

fn run_heaviest_under<T: Sync, R: Send>(
    client: Option<&Client>,
    items: &[T],
    weight: impl Fn(&T) -> u64 + Sync,
    task: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let waiting = Mutex::new((0..items.len()).collect::<Vec<_>>());
    let heaviest = || {
        let mut waiting = lock(&waiting);
        // Of equals the first, so that what a single thread does is in the items' order.
        let place =
            (0..waiting.len()).max_by_key(|it| (weight(&items[waiting[*it]]), Reverse(*it)));
        place.map(|place| waiting.remove(place))
    };
    // As many takers as items: each takes whatever is heaviest by then.
    let mut results =
        run_under(client, items, |_| heaviest().map(|index| (index, task(&items[index]))));
    results.sort_by_key(|result| result.as_ref().map(|(index, _)| *index));
    results.into_iter().flatten().map(|(_, result)| result).collect()
}

fn run_under<T: Sync, R: Send>(
    client: Option<&Client>,
    items: &[T],
    task: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let helpers = items.len().min(processors).saturating_sub(1);
    let queue = Mutex::new(items.iter().enumerate());
    let results = Mutex::new(Vec::with_capacity(items.len()));
    // A function of its own, as what a loop's condition locks stays locked until the round ends.
    let next = || lock(&queue).next();
    let work = || {
        while let Some((index, item)) = next() {
            let result = task(item);
            lock(&results).push((index, result));
        }
    };
    match client.filter(|_| helpers > 0) {
        Some(client) => with_tokens(client, helpers, &work),
        None => thread::scope(|scope| {
            // Where there are no more threads, those that there are do everything.
            let _ = (0..helpers).try_for_each(|_| spawn(scope, &work));
            work();
        }),
    }
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Works on this thread, and on one more for each token that the jobserver has to give, up to
/// `helpers`.
fn with_tokens(client: &Client, helpers: usize, work: &(impl Fn() + Sync)) {
    let (sender, receiver) = mpsc::channel();
    let receiver = Mutex::new(receiver);
    let token_sender = sender.clone();
    let tokens = client.clone().into_helper_thread(move |token| {
        // Nobody listens any more once all the work is done.
        let _ = token_sender.send(token.ok());
    });
    let with_token = || {
        let token = lock(&receiver).recv();
        if let Ok(Some(_token)) = token {
            work();
        }
    };
    thread::scope(|scope| {
        let _end = EndWaiting { sender, helpers };
        for _ in 0..helpers {
            if spawn(scope, &with_token).is_err() {
                break;
            }
            if let Ok(tokens) = &tokens {
                tokens.request_token();
            }
        }
        work();
    });
}

/// Starts a thread of a build.
fn spawn<'s>(scope: &'s Scope<'s, '_>, work: &'s (impl Fn() + Sync + ?Sized)) -> io::Result<()> {
    thread::Builder::new().stack_size(stack::OF_BUILD).spawn_scoped(scope, work).map(drop)
}

/// Lets the threads that still wait for a token end, also when this thread panics.
struct EndWaiting {
    sender: mpsc::Sender<Option<Acquired>>,
    helpers: usize,
}

impl Drop for EndWaiting {
    fn drop(&mut self) {
        for _ in 0..self.helpers {
            let _ = self.sender.send(None);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        let results = run(&items, |item| {
            thread::sleep(Duration::from_micros(100 - item));
            item * 2
        });
        assert_eq!(results, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(run(&[] as &[u8], |_| ()).is_empty());
        let results = run_heaviest_first(&items, |item| *item, |item| item + 1);
        assert_eq!(results, (1..101).collect::<Vec<_>>());
    }

    #[test]
    fn weights_that_a_task_finds_out_count_from_then_on() {
        let (found, order) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let weight = |item: &usize| match item {
            0 => 10,
            1 => 5,
            _ => found.load(Ordering::SeqCst) as u64,
        };
        // No tokens: one thread, whose order is certain.
        let client = Client::new(1).unwrap();
        let taken = client.acquire().unwrap();
        let results = run_heaviest_under(Some(&client), &[2, 1, 0], weight, |item| {
            if *item == 0 {
                found.store(7, Ordering::SeqCst);
            }
            order.lock().unwrap().push(*item);
            *item
        });
        drop(taken);
        assert_eq!(results, [2, 1, 0]);
        assert_eq!(*order.lock().unwrap(), [0, 2, 1]);
    }

    #[test]
    fn as_many_threads_work_as_there_are_tokens_and_every_token_is_given_back() {
        for tokens in [0, 1, 2] {
            let client = Client::new(2).unwrap();
            let taken: Vec<_> = (tokens..2).map(|_| client.acquire().unwrap()).collect();
            let (working, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let results = run_under(Some(&client), &[1; 20], |item| {
                most.fetch_max(working.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(10));
                working.fetch_sub(1, Ordering::SeqCst);
                *item
            });
            assert_eq!(results.len(), 20);
            let expected = tokens.min(thread::available_parallelism().unwrap().get() - 1) + 1;
            assert_eq!(most.load(Ordering::SeqCst), expected);
            drop(taken);
            let _all = [client.acquire().unwrap(), client.acquire().unwrap()];
        }
    }
}
