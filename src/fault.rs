//! Errors of launches that nobody was told of yet, for devices whose launches have run when they
//! return.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use crate::{Error, Result};

/// An error of a launch, until it is reported. The stream, the buffers of the launch and the
/// device share it; whoever is asked first reports it.
#[derive(Debug)]
pub(crate) struct Fault(Mutex<Option<Error>>);

/// Where a stream, a buffer or a device keeps a fault.
#[derive(Debug, Default)]
pub(crate) struct FaultSlot {
    set: AtomicBool,
    fault: Mutex<Option<Arc<Fault>>>,
}

impl Fault {
    pub(crate) fn new(error: Error) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(error))))
    }

    fn is_reported(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

impl FaultSlot {
    /// Keeps `fault`, unless one is kept that was not reported.
    #[cold]
    pub(crate) fn keep(&self, fault: &Arc<Fault>) {
        let mut kept = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_none_or(|kept| kept.is_reported()) {
            *kept = Some(Arc::clone(fault));
        }
        self.set.store(true, Ordering::Release);
    }

    /// Reports the fault that is kept, unless it was reported elsewhere, and forgets it.
    pub(crate) fn report(&self) -> Result<()> {
        if !self.set.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut kept = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        self.set.store(false, Ordering::Release);
        let Some(fault) = kept.take() else { return Ok(()) };
        let error = fault.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map_or(Ok(()), Err)
    }
}
