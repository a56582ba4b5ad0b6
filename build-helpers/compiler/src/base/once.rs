//! A value that is made when it is first asked for, which may fail.

use std::sync::{Mutex, OnceLock, PoisonError};

/// A value that is made once: whoever asks while it is being made waits for it.
#[derive(Debug)]
pub(crate) struct Once<T> {
    cell: OnceLock<T>,
    making: Mutex<()>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self { cell: OnceLock::new(), making: Mutex::new(()) }
    }
}

impl<T> Once<T> {
    /// The value; after a failure the next one who asks makes it.
    pub(crate) fn get_or_make<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        if let Some(value) = self.cell.get() {
            return Ok(value);
        }
        // The lock guards nothing but the making.
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = self.cell.get() {
            return Ok(value);
        }
        let value = make()?;
        Ok(self.cell.get_or_init(|| value))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicU32, Ordering},
        thread,
        time::Duration,
    };

    use super::*;

    #[test]
    fn one_of_many_threads_makes_it_and_a_failure_is_not_kept() {
        let (once, made) = (Once::default(), AtomicU32::new(0));
        let failed = once.get_or_make(|| Err("no"));
        assert!(failed.is_err());
        let make = || {
            thread::sleep(Duration::from_millis(5));
            Ok::<_, &str>(made.fetch_add(1, Ordering::SeqCst))
        };
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(*once.get_or_make(make).unwrap(), 0));
            }
        });
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }
}
