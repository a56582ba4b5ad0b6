//! What objects from bitcode for the CPU call of this process, besides what the system's libraries export: memory of each
//! thread, mathematics, which a program need not have linked, and arithmetic of the compiler's own library.

use std::{cell::UnsafeCell, ffi::c_void};

use kernelmill_artifact::{CPU_THREAD_MEMORY, CPU_THREAD_MEMORY_BYTES};
use kernelmill_llvm::jit::Provided;

/// What a thread of the host knows of the kernel's thread that it runs, for functions that are outlined or recurse.
#[repr(align(64))]
struct ThreadMemory(UnsafeCell<[u8; CPU_THREAD_MEMORY_BYTES]>);

const _: () = assert!(align_of::<ThreadMemory>() == CPU_THREAD_MEMORY_BYTES);

thread_local! {
    static MEMORY: ThreadMemory =
        const { ThreadMemory(UnsafeCell::new([0; CPU_THREAD_MEMORY_BYTES])) };
}

/// The memory of the thread that calls it. All objects share it: what they keep there is of one block, and a thread runs a
/// block to its end, or to where it gives the block back, before another.
extern "C" fn thread_memory() -> *mut u8 {
    MEMORY.with(|memory| memory.0.get().cast())
}

/// Declares functions by their names alone, for their addresses.
macro_rules! addresses {
    ($($name:ident)*) => {{
        mod functions {
            unsafe extern "C" {
                $(pub(super) fn $name();)*
            }
        }
        [$((stringify!($name), functions::$name as unsafe extern "C" fn() as *const c_void)),*]
    }};
}

/// The symbols with their addresses.
pub(super) fn provided() -> Vec<Provided<'static>> {
    let functions = addresses! {
        fma fmaf fmod fmodf floor floorf ceil ceilf trunc truncf rint rintf round roundf nearbyint nearbyintf
        fmin fminf fmax fmaxf
        __udivti3 __umodti3 __divti3 __modti3
        __floattisf __floattidf __floatuntisf __floatuntidf __fixsfti __fixdfti __fixunssfti __fixunsdfti
    };
    let memory = thread_memory as extern "C" fn() -> *mut u8 as *const c_void;
    functions.into_iter().chain([(CPU_THREAD_MEMORY, memory)]).collect()
}
