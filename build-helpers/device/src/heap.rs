//! The heap, for `Box`, `Vec` and whatever else of `alloc` a kernel uses.
//!
//! The compiler sends the allocator of `alloc` here where the target has `malloc` and `free`, and
//! refuses it elsewhere. What a thread has not freed when it panics is not given back.

unsafe extern "C" {
    unsafe fn malloc(bytes: usize) -> *mut u8;
    unsafe fn free(memory: *mut u8);
}

/// The alignment of what `malloc` gives, in bytes, on every target that has it.
const GIVEN: usize = 16;

/// Memory of `size` bytes at a multiple of `align`, a power of two; null where there is none.
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

/// As [`__kernelmill_alloc`], with zeros in it.
#[unsafe(no_mangle)]
extern "C" fn __kernelmill_alloc_zeroed(size: usize, align: usize) -> *mut u8 {
    let memory = __kernelmill_alloc(size, align);
    if !memory.is_null() {
        // SAFETY: it has that many bytes.
        unsafe { memory.write_bytes(0, size) };
    }
    memory
}

/// Gives memory back.
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

/// Memory of another size with what is in this one, which is given back; null, and this one kept,
/// where there is none.
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
