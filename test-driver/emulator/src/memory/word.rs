//! Words: what one memory access reads or writes whole, without tearing.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// A word that one memory access reads or writes whole.
pub(crate) trait Word: Copy {
    /// Length in bytes.
    const BYTES: u32;
    fn of(register: u64) -> Self;
    fn register(self) -> u64;
    /// Reads the start of `bytes`, which must be long enough.
    fn read(bytes: &[u8]) -> Self;
    /// Writes the start of `bytes`, which must be long enough.
    fn write(self, bytes: &mut [u8]);
    /// Reads without tearing.
    ///
    /// # Safety
    /// `pointer` is valid for reads and writes of this word and aligned to it.
    unsafe fn load(pointer: *mut u8) -> Self;
    /// Writes without tearing.
    ///
    /// # Safety
    /// As for [`Word::load`].
    unsafe fn store(self, pointer: *mut u8);
    /// Replaces the word by `change` of it, as one step; gives the word before.
    ///
    /// # Safety
    /// As for [`Word::load`].
    unsafe fn update(pointer: *mut u8, change: &mut dyn FnMut(u64) -> u64) -> u64;
}

macro_rules! words {
    ($($word:ident, $atomic:ident;)*) => {$(
        impl Word for $word {
            const BYTES: u32 = size_of::<$word>() as u32;
            #[inline(always)]
            fn of(register: u64) -> Self { register as $word }
            #[inline(always)]
            fn register(self) -> u64 { u64::from(self) }
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                let mut array = [0; size_of::<$word>()];
                array.copy_from_slice(&bytes[..size_of::<$word>()]);
                $word::from_le_bytes(array)
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes[..size_of::<$word>()].copy_from_slice(&self.to_le_bytes());
            }
            #[inline(always)]
            unsafe fn load(pointer: *mut u8) -> Self {
                // SAFETY: the caller says that the pointer is valid and aligned.
                unsafe { $atomic::from_ptr(pointer.cast()) }.load(Ordering::Relaxed)
            }
            #[inline(always)]
            unsafe fn store(self, pointer: *mut u8) {
                // SAFETY: the caller says that the pointer is valid and aligned.
                unsafe { $atomic::from_ptr(pointer.cast()) }.store(self, Ordering::Relaxed);
            }
            unsafe fn update(pointer: *mut u8, change: &mut dyn FnMut(u64) -> u64) -> u64 {
                // SAFETY: the caller says that the pointer is valid and aligned.
                let atomic = unsafe { $atomic::from_ptr(pointer.cast()) };
                let mut old = atomic.load(Ordering::SeqCst);
                loop {
                    let new = change(u64::from(old)) as $word;
                    match atomic.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst) {
                        Ok(_) => return u64::from(old),
                        Err(found) => old = found,
                    }
                }
            }
        }
    )*};
}

words! {
    u8, AtomicU8;
    u16, AtomicU16;
    u32, AtomicU32;
    u64, AtomicU64;
}
