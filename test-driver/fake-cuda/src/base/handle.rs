//! Handles: numbers that C takes for pointers.
//!
//! A handle is never given out twice, so that one of an object that is gone, or of another kind,
//! is an error and not undefined behaviour.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::base::error::{Error, Result};

/// What C sees of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct Handle(pub(crate) usize);

impl Handle {
    pub(crate) const NULL: Self = Self(0);
}

impl<T> From<*mut T> for Handle {
    /// The handle behind one of the pointer types of `cuda.h`; it is never followed.
    fn from(pointer: *mut T) -> Self {
        Self(pointer as usize)
    }
}

/// The objects of one kind, by handle.
pub(crate) struct Registry<T> {
    /// Kept in the upper bits of every handle.
    kind: usize,
    next: AtomicUsize,
    objects: Mutex<BTreeMap<Handle, Arc<T>>>,
}

impl<T> Registry<T> {
    /// A registry whose handles differ from those of every other `kind`.
    pub(crate) const fn new(kind: usize) -> Self {
        Self { kind, next: AtomicUsize::new(1), objects: Mutex::new(BTreeMap::new()) }
    }

    /// Adds the object that `make` makes for a new handle.
    pub(crate) fn add(&self, make: impl FnOnce(Handle) -> T) -> Arc<T> {
        self.add_shared(|handle| Arc::new(make(handle)))
    }

    /// Adds the object that `make` makes for a new handle.
    pub(crate) fn add_shared(&self, make: impl FnOnce(Handle) -> Arc<T>) -> Arc<T> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let handle = Handle((self.kind << 40) | (number << 4));
        let object = make(handle);
        lock(&self.objects).insert(handle, Arc::clone(&object));
        object
    }

    /// The object; [`Error::CUDA_ERROR_INVALID_HANDLE`] where there is none.
    pub(crate) fn get(&self, handle: Handle) -> Result<Arc<T>> {
        lock(&self.objects).get(&handle).cloned().ok_or(Error::CUDA_ERROR_INVALID_HANDLE)
    }

    /// Takes the object out; [`Error::CUDA_ERROR_INVALID_HANDLE`] where there is none.
    pub(crate) fn remove(&self, handle: Handle) -> Result<Arc<T>> {
        lock(&self.objects).remove(&handle).ok_or(Error::CUDA_ERROR_INVALID_HANDLE)
    }

    /// All objects, oldest first.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        lock(&self.objects).values().cloned().collect()
    }

    /// Takes all objects out that are `wanted`.
    pub(crate) fn remove_all(&self, wanted: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let mut removed = Vec::new();
        lock(&self.objects).retain(|_, object| {
            let keep = !wanted(object);
            if !keep {
                removed.push(Arc::clone(object));
            }
            keep
        });
        removed
    }
}

/// Locks, also after a panic elsewhere: every panic is caught at the boundary to C.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_not_given_out_twice() {
        let registry = Registry::new(3);
        let mut handles = Vec::new();
        for _ in 0..4 {
            let mut handle = Handle::NULL;
            registry.add(|new| handle = new);
            registry.remove(handle).unwrap();
            assert_eq!(registry.get(handle).err(), Some(Error::CUDA_ERROR_INVALID_HANDLE));
            assert!(!handles.contains(&handle));
            handles.push(handle);
        }
    }

    #[test]
    fn kinds_do_not_mix() {
        let (streams, events) = (Registry::new(1), Registry::new(2));
        let mut handle = Handle::NULL;
        streams.add(|new| handle = new);
        events.add(|_| ());
        assert!(streams.get(handle).is_ok());
        assert!(events.get(handle).is_err());
    }
}
