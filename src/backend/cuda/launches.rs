//! The launches of an image: the streams that they were put on, to ask whether they are done.
//!
//! A launch on the same stream as the one before it costs two loads. Guaranteed: what is found to be done is
//! done, save on streams that are gone and on default streams of threads, which nobody can ask. Unloading waits
//! for the context, so that this decides only what is unloaded first.

use std::sync::{
    Arc, Mutex, PoisonError, Weak,
    atomic::{AtomicPtr, Ordering},
};

use cudarc::driver::{CudaStream, sys};

use super::capture::refuse_capture;

#[derive(Default)]
pub(super) struct Launches {
    /// The stream of the last launch, only to be compared: it is among `streams`, so that no other stream has
    /// its address.
    last: AtomicPtr<CudaStream>,
    streams: Mutex<Vec<Weak<CudaStream>>>,
}

impl Launches {
    pub(super) fn note(&self, stream: &Arc<CudaStream>) {
        let address = Arc::as_ptr(stream).cast_mut();
        if self.last.load(Ordering::Relaxed) == address {
            return;
        }
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if !streams.iter().any(|known| known.as_ptr() == Arc::as_ptr(stream)) {
            // `last` is not changed before the next line: it may be of a stream that is gone, and is kept.
            let last = self.last.load(Ordering::Relaxed).cast_const();
            streams.retain(|known| known.strong_count() > 0 || known.as_ptr() == last);
            streams.push(Arc::downgrade(stream));
        }
        self.last.store(address, Ordering::Relaxed);
    }

    /// Whether a stream has work, of whatever module. The context is current.
    pub(super) fn are_in_flight(&self) -> bool {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.iter().filter_map(Weak::upgrade).any(|stream| has_work(&stream))
    }
}

/// Whether a stream has work, or is captured: to ask such a stream would end its capture.
fn has_work(stream: &CudaStream) -> bool {
    if refuse_capture(stream, "the unloading of a module").is_err() {
        return true;
    }
    // SAFETY: the stream is there.
    let status = unsafe { sys::cuStreamQuery(stream.cu_stream()) };
    status == sys::CUresult::CUDA_ERROR_NOT_READY
}
