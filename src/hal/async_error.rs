//! Asynchronous errors: errors of launches that nobody was told of yet.
//!
//! For back ends whose launches have run when they return. The stream, the buffers and the context of
//! a launch share its error; whoever is asked first reports it, and it is reported once. Memory that a
//! launch may use for ever is lost, and says so each time.

use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use crate::error::{Error, LaunchTimeout, Result};

/// An error of a launch, until it is reported.
#[derive(Debug)]
pub(crate) struct AsyncError {
    error: Mutex<Option<Error>>,
    /// Where the launch still runs: its memory is lost.
    timeout: Option<LaunchTimeout>,
}

/// Where a stream, a buffer or a context keeps an asynchronous error.
#[derive(Debug, Default)]
pub(crate) struct ErrorSlot {
    set: AtomicBool,
    error: Mutex<Option<Arc<AsyncError>>>,
    /// For memory: a launch that may use it for ever.
    lost: OnceLock<LaunchTimeout>,
}

impl AsyncError {
    pub(crate) fn new(error: Error) -> Arc<Self> {
        Arc::new(Self { error: Mutex::new(Some(error)), timeout: None })
    }

    /// The error of a launch that still runs.
    pub(crate) fn still_running(timeout: LaunchTimeout) -> Arc<Self> {
        let error = Mutex::new(Some(timeout.clone().into()));
        Arc::new(Self { error, timeout: Some(timeout) })
    }

    fn is_reported(&self) -> bool {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

impl ErrorSlot {
    /// Keeps `error`, unless one is kept that was not reported.
    #[cold]
    pub(crate) fn keep(&self, error: &Arc<AsyncError>) {
        if let Some(timeout) = &error.timeout {
            // Of several launches the first one is named.
            let _ = self.lost.set(timeout.clone());
        }
        let mut kept = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_none_or(|kept| kept.is_reported()) {
            *kept = Some(Arc::clone(error));
        }
        self.set.store(true, Ordering::Release);
    }

    /// Reports the error that is kept, unless it was reported elsewhere, and forgets it.
    #[inline]
    pub(crate) fn report(&self) -> Result<()> {
        if self.set.load(Ordering::Acquire) { self.report_kept() } else { Ok(()) }
    }

    #[cold]
    fn report_kept(&self) -> Result<()> {
        let mut kept = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        self.set.store(false, Ordering::Release);
        let Some(kept) = kept.take() else { return Ok(()) };
        let error = kept.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map_or(Ok(()), Err)
    }

    /// For memory: whether a launch may use it for ever.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// For memory, before it is used: the error of a launch that may use it for ever.
    pub(crate) fn check(&self) -> Result<()> {
        match self.lost.get() {
            None => Ok(()),
            Some(timeout) => {
                // Whoever is told here need not be told again.
                self.report()?;
                Err(timeout.clone().into())
            }
        }
    }
}
