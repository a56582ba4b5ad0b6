//! The launches of an image: the streams that they were put on, to ask whether they are done.
//!
//! A launch on the same stream as the one before it costs two loads. Guaranteed: what is found to be done is
//! done, save on streams that are gone and on default streams of threads, which nobody can ask. Unloading waits
//! for the context, so that this decides only what is unloaded first.

use std::sync::{
    Arc, Mutex, PoisonError, Weak,
    atomic::{AtomicPtr, Ordering},
};

use super::calls::ContextCalls;

pub(in crate::backend) struct Launches<C: ContextCalls> {
    /// The stream of the last launch, only to be compared: it is among `streams`, so that no other stream has
    /// its address.
    last: AtomicPtr<C::Stream>,
    streams: Mutex<Vec<Weak<C::Stream>>>,
}

impl<C: ContextCalls> Default for Launches<C> {
    fn default() -> Self {
        Self { last: AtomicPtr::default(), streams: Mutex::default() }
    }
}

impl<C: ContextCalls> Launches<C> {
    #[inline]
    pub(in crate::backend) fn note(&self, stream: &Arc<C::Stream>) {
        if self.last.load(Ordering::Relaxed).cast_const() != Arc::as_ptr(stream) {
            self.note_another(stream);
        }
    }

    #[cold]
    fn note_another(&self, stream: &Arc<C::Stream>) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if !streams.iter().any(|known| known.as_ptr() == Arc::as_ptr(stream)) {
            // `last` is not changed before the next line: it may be of a stream that is gone, and is kept.
            let last = self.last.load(Ordering::Relaxed).cast_const();
            streams.retain(|known| known.strong_count() > 0 || known.as_ptr() == last);
            streams.push(Arc::downgrade(stream));
        }
        self.last.store(Arc::as_ptr(stream).cast_mut(), Ordering::Relaxed);
    }

    /// Whether a stream has work, of whatever module. The context is current.
    pub(in crate::backend) fn are_in_flight(&self) -> bool {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.iter().filter_map(Weak::upgrade).any(|stream| C::has_work(&stream))
    }
}
