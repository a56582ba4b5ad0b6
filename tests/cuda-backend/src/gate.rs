//! Gates: places where the work of a stream waits until a test lets it go on.
//!
//! On the fake driver the stream waits in a function of the host. A real one may have one thread for those of all
//! streams, so there the device itself waits, for a number in the host's memory.

use std::{
    ffi::c_void,
    mem, ptr,
    sync::{
        Arc, Condvar, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
};

use cudarc::driver::{
    CudaContext, CudaStream,
    result::{self, stream},
    sys,
};

use crate::child::is_driver_real;

/// What the driver's thread and the test share: whether the gate is open.
type Shared = (Mutex<bool>, Condvar);

/// The most gates of a process on a real driver.
const MOST: usize = 1024;

/// A gate on a stream. Opened when it is dropped.
#[derive(Debug)]
pub struct Gate(Lock);

/// What keeps it closed.
#[derive(Debug)]
enum Lock {
    Host(&'static Shared),
    Device(&'static AtomicU32),
}

impl Gate {
    /// Makes a stream wait here.
    ///
    /// # Panics
    ///
    /// Where the driver refuses.
    #[must_use]
    pub fn on(stream: &CudaStream) -> Self {
        stream.context().bind_to_thread().expect("a context");
        Self(if is_driver_real() { Lock::on_device(stream) } else { Lock::on_host(stream) })
    }

    /// Lets the stream go on.
    pub fn open(&self) {
        match &self.0 {
            Lock::Host((open, changed)) => {
                *open.lock().unwrap_or_else(PoisonError::into_inner) = true;
                changed.notify_all();
            }
            Lock::Device(open) => open.store(1, Ordering::SeqCst),
        }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}

impl Lock {
    fn on_host(stream: &CudaStream) -> Self {
        unsafe extern "C" fn wait(gate: *mut c_void) {
            // SAFETY: the gate is there for ever.
            let (open, changed) = unsafe { &*gate.cast::<Shared>() };
            let open = open.lock().unwrap_or_else(PoisonError::into_inner);
            drop(changed.wait_while(open, |open| !*open));
        }
        // As long as the process, which is a test: the driver's thread may look at it at any time.
        let open: &'static Shared = Box::leak(Box::default());
        let data = ptr::from_ref(open).cast_mut().cast();
        // SAFETY: the function can be called with this at any time.
        let queued = unsafe { stream::launch_host_function(stream.cu_stream(), wait, data) };
        queued.expect("a function of the host");
        Self::Host(open)
    }

    fn on_device(stream: &CudaStream) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let open = &numbers(stream.context())[NEXT.fetch_add(1, Ordering::Relaxed)];
        let address = ptr::from_ref(open).expose_provenance() as u64;
        let flags = sys::CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ as u32;
        // SAFETY: the number is there for ever, and the device has the host's address of it.
        let queued = unsafe { sys::cuStreamWaitValue32_v2(stream.cu_stream(), address, 1, flags) };
        queued.result().expect("a wait for a number");
        Self::Device(open)
    }
}

/// Numbers in memory of the host that devices see, all of them zero at first.
fn numbers(context: &Arc<CudaContext>) -> &'static [AtomicU32; MOST] {
    static NUMBERS: OnceLock<&'static [AtomicU32; MOST]> = OnceLock::new();
    NUMBERS.get_or_init(|| {
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        let bytes = size_of::<[AtomicU32; MOST]>();
        // It has the memory, and may be opened after all that the test knows of it is dropped.
        mem::forget(Arc::clone(context));
        // SAFETY: a number of bytes that is not 0, and the context is current; nobody has seen the memory, which is
        // zeroed, as large as the array, and never freed.
        unsafe {
            let memory = result::malloc_host(bytes, flags).expect("memory of the host");
            memory.cast::<u8>().write_bytes(0, bytes);
            &*memory.cast()
        }
    })
}
