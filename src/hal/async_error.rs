//! Asynchronous errors: errors of launches that nobody was told of yet.
//!
//! For back ends whose launches have run when they return. The stream, the buffers and the context of
//! a launch share its error; whoever is asked first reports it, and it is reported once.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use crate::error::{Error, Result};

/// An error of a launch, until it is reported.
#[derive(Debug)]
pub(crate) struct AsyncError(Mutex<Option<Error>>);

/// Where a stream, a buffer or a context keeps an asynchronous error.
#[derive(Debug, Default)]
pub(crate) struct ErrorSlot {
    set: AtomicBool,
    error: Mutex<Option<Arc<AsyncError>>>,
}

impl AsyncError {
    pub(crate) fn new(error: Error) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(error))))
    }

    fn is_reported(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

impl ErrorSlot {
    /// Keeps `error`, unless one is kept that was not reported.
    #[cold]
    pub(crate) fn keep(&self, error: &Arc<AsyncError>) {
        let mut kept = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_none_or(|kept| kept.is_reported()) {
            *kept = Some(Arc::clone(error));
        }
        self.set.store(true, Ordering::Release);
    }

    /// Reports the error that is kept, unless it was reported elsewhere, and forgets it.
    pub(crate) fn report(&self) -> Result<()> {
        if !self.set.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut kept = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        self.set.store(false, Ordering::Release);
        let Some(kept) = kept.take() else { return Ok(()) };
        let error = kept.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map_or(Ok(()), Err)
    }
}
