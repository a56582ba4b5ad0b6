//! The stack of a thread of the host: what is left of it for a kernel, threads with a larger one, and what is
//! reported when a kernel's recursion has used it up.
//!
//! Compiled code compares its stack pointer with [`limit`] at the start of each function that can call itself. What
//! other functions take is known when they are compiled, and compared before blocks are run.

use std::{
    cell::Cell,
    io, panic,
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

use kernelmill_artifact::PanicKind;

use crate::embedded::abi::Block;

/// The lowest address of the calling thread's stack; 0 where the operating system does not say.
pub(super) fn limit() -> u64 {
    thread_local! {
        static LIMIT: Cell<Option<u64>> = const { Cell::new(None) };
    }
    let known = LIMIT.try_with(Cell::get).ok().flatten();
    known.unwrap_or_else(|| {
        let limit = system::limit().unwrap_or(0) as u64;
        // While the thread ends there is nothing to keep it in.
        let _ = LIMIT.try_with(|kept| kept.set(Some(limit)));
        limit
    })
}

/// Bytes beside the local variables of a kernel: for what the code generator puts on the stack, for functions of the C
/// library, and for this crate's own. Compiled code reckons with as much.
pub(super) const RESERVE: usize = 64 << 10;

/// The bytes of local variables that are reckoned with where recursion leaves them open: the most that the compiler
/// takes of one way of calls.
const OPEN: usize = 1 << 20;

/// The least stack of a thread that is made for a kernel: as much as Rust's threads have.
pub(super) const LEAST: usize = 2 << 20;

/// The stack that a kernel with so many bytes of local variables needs.
pub(super) fn needed(local_variables: Option<u32>) -> usize {
    local_variables.map_or(OPEN, |bytes| bytes as usize).saturating_add(RESERVE)
}

/// Whether the calling thread has so many bytes of stack left, as far as is known.
pub(super) fn has(bytes: usize) -> bool {
    let limit = limit();
    limit == 0 || here().saturating_sub(limit) >= bytes as u64
}

/// Bytes that std keeps beside the stack of a thread, for its handler of signals, and what else a thread begins with.
const BESIDE: usize = 256 << 10;

/// Whether there are addresses for so many threads with stacks of this many bytes. A thread that has a stack and not what std
/// keeps beside it ends the process.
pub(super) fn has_room(threads: usize, bytes: usize) -> bool {
    let bytes = bytes.saturating_add(BESIDE).saturating_mul(threads);
    let mut room = Vec::<u8>::new();
    let is_there = room.try_reserve_exact(bytes).is_ok();
    // It is asked for although nothing is written there.
    drop(std::hint::black_box(room));
    is_there
}

/// Runs `body` on a thread that has so many bytes of stack.
///
/// # Errors
///
/// What the operating system says where there cannot be one.
pub(super) fn with<T: Send>(bytes: usize, body: impl FnOnce() -> T + Send) -> io::Result<T> {
    let size = bytes.saturating_add(RESERVE).max(LEAST);
    if !has_room(1, size) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    thread::scope(|scope| {
        let name = "kernelmill-stack".to_owned();
        let ran = thread::Builder::new().name(name).stack_size(size).spawn_scoped(scope, body)?;
        Ok(ran.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
    })
}

/// An address in the frame of the caller, as compiled kernels see it: AddressSanitizer keeps variables elsewhere.
#[inline(always)]
fn here() -> u64 {
    let at: u64;
    // SAFETY: the register is only read.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    unsafe {
        std::arch::asm!("mov {}, rsp", out(reg) at, options(nomem, nostack, preserves_flags));
    }
    // SAFETY: the register is only read.
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    unsafe {
        std::arch::asm!("mov {}, sp", out(reg) at, options(nomem, nostack, preserves_flags));
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    {
        let local = 0u8;
        at = (&raw const local).addr() as u64;
    }
    at
}

/// Writes down the panic of a thread whose recursion is too deep, unless another thread has panicked.
///
/// # Safety
///
/// The block runs, and the text has so many bytes of UTF-8.
pub(super) unsafe extern "C" fn overflow(
    block: *mut Block,
    x: u32,
    y: u32,
    z: u32,
    text: *const u8,
    length: u64,
) {
    // SAFETY: promised; the block and its record outlive the launch, and kernels use the state as an atomic too.
    unsafe {
        let record = (*block).panic;
        let state = AtomicU32::from_ptr(&raw mut (*record).state);
        if state.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return;
        }
        // This thread has claimed the record, so nobody else writes it.
        (*record).kind = PanicKind::StackOverflow as u32;
        (*record).location = u32::MAX;
        (*record).block = (*block).index;
        (*record).thread = [x, y, z];
        let kept = (length as usize).min((*record).message.len());
        text.copy_to_nonoverlapping((&raw mut (*record).message).cast(), kept);
        (*record).message_len = kept as u32;
        state.store(2, Ordering::Release);
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use std::ffi::{c_int, c_void};

    /// A `pthread_attr_t`: more bytes than it has in any C library.
    #[repr(C, align(16))]
    struct Attributes([u8; 256]);

    // POSIX's functions, and one of both C libraries, which std links already.
    unsafe extern "C" {
        fn pthread_self() -> usize;
        fn pthread_getattr_np(thread: usize, attributes: *mut Attributes) -> c_int;
        fn pthread_attr_getstack(
            attributes: *const Attributes,
            low: *mut *mut c_void,
            bytes: *mut usize,
        ) -> c_int;
        fn pthread_attr_destroy(attributes: *mut Attributes) -> c_int;
    }

    pub(super) fn limit() -> Option<usize> {
        let mut attributes = Attributes([0; 256]);
        let (mut low, mut bytes) = (std::ptr::null_mut(), 0);
        // SAFETY: the attributes are those of this thread, written before they are read and given back once.
        unsafe {
            if pthread_getattr_np(pthread_self(), &raw mut attributes) != 0 {
                return None;
            }
            let found = pthread_attr_getstack(&raw const attributes, &raw mut low, &raw mut bytes);
            pthread_attr_destroy(&raw mut attributes);
            (found == 0).then_some(low.addr())
        }
    }
}

#[cfg(all(target_os = "macos", not(miri)))]
mod system {
    use std::ffi::c_void;

    // The system library's functions, which std links already.
    unsafe extern "C" {
        fn pthread_self() -> *mut c_void;
        fn pthread_get_stackaddr_np(thread: *mut c_void) -> *mut c_void;
        fn pthread_get_stacksize_np(thread: *mut c_void) -> usize;
    }

    pub(super) fn limit() -> Option<usize> {
        // SAFETY: they only read what is known of this thread.
        let (high, bytes) = unsafe {
            let thread = pthread_self();
            (pthread_get_stackaddr_np(thread), pthread_get_stacksize_np(thread))
        };
        high.addr().checked_sub(bytes)
    }
}

#[cfg(all(windows, not(miri)))]
mod system {
    // Of kernel32, which std links already.
    unsafe extern "system" {
        fn GetCurrentThreadStackLimits(low: *mut usize, high: *mut usize);
    }

    pub(super) fn limit() -> Option<usize> {
        let (mut low, mut high) = (0, 0);
        // SAFETY: both places are written.
        unsafe { GetCurrentThreadStackLimits(&raw mut low, &raw mut high) };
        Some(low)
    }
}

#[cfg(any(miri, not(any(target_os = "linux", target_os = "macos", windows))))]
mod system {
    pub(super) fn limit() -> Option<usize> {
        None
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::{has, here, limit, with};

    /// Of a thread with a stack of a known size, and the same each time.
    #[test]
    #[cfg(any(target_os = "linux", target_os = "macos", windows))]
    fn the_limit_is_that_of_the_thread() {
        let size = 3 << 20;
        let thread = std::thread::Builder::new().stack_size(size).spawn(move || {
            let here = here();
            let left = here - limit();
            assert!(left > (1 << 20) && left <= 4 << 20, "{left}");
            assert_eq!(limit(), here - left);
        });
        thread.unwrap().join().unwrap();
    }

    /// A thread with less than is asked for does not have it, and one that is made for it has.
    #[test]
    #[cfg(any(target_os = "linux", target_os = "macos", windows))]
    fn a_thread_is_made_with_the_stack_that_is_asked_for() {
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(|| {
            assert!(has(512 << 10) && !has(3 << 20));
            with(3 << 20, || has(3 << 20)).unwrap()
        });
        assert!(thread.unwrap().join().unwrap());
        assert!(with(usize::MAX, || ()).is_err());
    }
}
