//! The device heap, for `Box`, `Vec` and the rest of `alloc`.
//!
//! The compiler redirects the allocator of `alloc` to these functions where the target has `malloc` and
//! `free`, and reports an error elsewhere. A thread that panics does not free its memory.

unsafe extern "C" {
    unsafe fn malloc(bytes: usize) -> *mut u8;
    unsafe fn free(memory: *mut u8);
}

/// The alignment of what `malloc` gives, in bytes, on every target that has it.
const GIVEN: usize = 16;

/// Allocates `size` bytes at a multiple of `align`, a power of two; null if that fails.
#[unsafe(no_mangle)]
extern "C" fn __kernelmill_alloc(size: usize, align: usize) -> *mut u8 {
    if align <= GIVEN {
        // SAFETY: any size may be asked for.
        return unsafe { malloc(size) };
    }
    // The address that `malloc` gave lies before the memory.
    // SAFETY: any size may be asked for; what is written lies in what was given.
    unsafe {
        let given = malloc(size.wrapping_add(align));
        if given.is_null() {
            return given;
        }
        let padding = align - (given as usize & (align - 1));
        let memory = given.add(padding);
        memory.cast::<*mut u8>().sub(1).write(given);
        memory
    }
}

/// As [`__kernelmill_alloc`], with all bytes zero.
#[unsafe(no_mangle)]
extern "C" fn __kernelmill_alloc_zeroed(size: usize, align: usize) -> *mut u8 {
    let memory = __kernelmill_alloc(size, align);
    if !memory.is_null() {
        // SAFETY: it has that many bytes.
        unsafe { memory.write_bytes(0, size) };
    }
    memory
}

/// Frees memory.
///
/// # Safety
///
/// It is from [`__kernelmill_alloc`], with the same alignment, and not given back before.
#[unsafe(no_mangle)]
unsafe extern "C" fn __kernelmill_dealloc(memory: *mut u8, _size: usize, align: usize) {
    // SAFETY: promised.
    unsafe {
        let given = if align <= GIVEN { memory } else { *memory.cast::<*mut u8>().sub(1) };
        free(given);
    }
}

/// Reallocates memory: copies its contents to memory of another size, and frees it. If that fails the
/// result is null, and the memory is kept.
///
/// # Safety
///
/// As for [`__kernelmill_dealloc`], and it has `size` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn __kernelmill_realloc(
    memory: *mut u8,
    size: usize,
    align: usize,
    new_size: usize,
) -> *mut u8 {
    let new = __kernelmill_alloc(new_size, align);
    if !new.is_null() {
        let kept = if size < new_size { size } else { new_size };
        // SAFETY: both have that many bytes and are apart; the rest is promised.
        unsafe {
            core::ptr::copy_nonoverlapping(memory, new, kept);
            __kernelmill_dealloc(memory, size, align);
        }
    }
    new
}
