//! Gates: places where the work of a stream waits until a test lets it go on.

use std::{
    ffi::c_void,
    ptr,
    sync::{Condvar, Mutex, PoisonError},
};

use cudarc::driver::{CudaStream, result::stream};

/// What the driver's thread and the test share: whether the gate is open.
type Shared = (Mutex<bool>, Condvar);

/// A gate on a stream. Opened when it is dropped.
#[derive(Debug)]
pub struct Gate {
    open: &'static Shared,
}

impl Gate {
    /// Makes a stream wait here.
    ///
    /// # Panics
    ///
    /// Where the driver refuses.
    #[must_use]
    pub fn on(stream: &CudaStream) -> Self {
        unsafe extern "C" fn wait(gate: *mut c_void) {
            // SAFETY: the gate is there for ever.
            let (open, changed) = unsafe { &*gate.cast::<Shared>() };
            let open = open.lock().unwrap_or_else(PoisonError::into_inner);
            drop(changed.wait_while(open, |open| !*open));
        }
        // As long as the process, which is a test: the driver's thread may look at it at any time.
        let open: &'static Shared = Box::leak(Box::default());
        stream.context().bind_to_thread().expect("a context");
        let data = ptr::from_ref(open).cast_mut().cast();
        // SAFETY: the function can be called with this at any time.
        let queued = unsafe { stream::launch_host_function(stream.cu_stream(), wait, data) };
        queued.expect("a function of the host");
        Self { open }
    }

    /// Lets the stream go on.
    pub fn open(&self) {
        *self.open.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.open.1.notify_all();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}
