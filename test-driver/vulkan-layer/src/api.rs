//! The functions, under the names of `vulkan_core.h`.
//!
//! None of them has more than six parameters, and all of these are integers or addresses, which C passes in the same places
//! whatever their types are. So that each is declared with six words, and what a shorter one is given behind its own is
//! passed on and ignored.

#![allow(
    clippy::missing_safety_doc,
    non_snake_case,
    non_upper_case_globals,
    reason = "the names and the rules of use are those of the Vulkan specification"
)]

use std::{
    env,
    ffi::{CStr, c_char, c_void},
    mem, ptr,
    sync::{
        OnceLock,
        atomic::{AtomicPtr, Ordering},
    },
};

use libloading::Library;

use crate::state::state;

/// An address of a function; null: there is none.
type Address = *mut c_void;
/// A function that returns a code, and one that returns nothing.
type Code = unsafe extern "C" fn(usize, usize, usize, usize, usize, usize) -> i32;
type Nothing = unsafe extern "C" fn(usize, usize, usize, usize, usize, usize);
type Find = unsafe extern "C" fn(usize, *const c_char) -> Address;

/// Functions that return a code; those with a kind make an object of it.
macro_rules! codes {
    ($($name:ident $(makes $kind:literal)?;)*) => {
        $(unsafe extern "C" fn $name(
            a: usize, b: usize, c: usize, d: usize, e: usize, f: usize
        ) -> i32 {
            if let Some(code) = state().failure(stringify!($name)) {
                return code;
            }
            // SAFETY: the program was given this function in the place of one that was found, which has this type.
            let function: Code = unsafe { mem::transmute(real::$name.load(Ordering::Acquire)) };
            // SAFETY: as the caller promises.
            let code = unsafe { function(a, b, c, d, e, f) };
            $(if code == 0 {
                state().made($kind);
            })?
            code
        })*

        /// The function of the layer's with this name, and where the address of the real one is kept.
        fn code(name: &str) -> Option<(Address, &'static AtomicPtr<c_void>)> {
            match name {
                $(stringify!($name) => Some(($name as Code as Address, &real::$name)),)*
                _ => None,
            }
        }
    };
}

/// Functions that destroy an object of a kind, which is the argument with this number; a null handle is none.
macro_rules! ends {
    ($($name:ident of $kind:literal at $argument:literal;)*) => {
        $(unsafe extern "C" fn $name(
            a: usize, b: usize, c: usize, d: usize, e: usize, f: usize
        ) {
            if [a, b][$argument] != 0 {
                state().gone($kind);
            }
            // SAFETY: as above.
            let function: Nothing = unsafe { mem::transmute(real::$name.load(Ordering::Acquire)) };
            // SAFETY: as the caller promises.
            unsafe { function(a, b, c, d, e, f) };
        })*

        /// As [`code`].
        fn end(name: &str) -> Option<(Address, &'static AtomicPtr<c_void>)> {
            match name {
                $(stringify!($name) => Some(($name as Nothing as Address, &real::$name)),)*
                _ => None,
            }
        }
    };
}

/// Both kinds, each with a place for the address of the real one.
macro_rules! functions {
    (codes { $($code:ident $(makes $made:literal)?;)* } ends { $($end:ident of $gone:literal at $at:literal;)* }) => {
        mod real {
            use super::{AtomicPtr, c_void, ptr};

            $(pub(super) static $code: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());)*
            $(pub(super) static $end: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());)*
        }
        codes! { $($code $(makes $made)?;)* }
        ends! { $($end of $gone at $at;)* }
    };
}

functions! {
    codes {
        vkAllocateCommandBuffers;
        vkAllocateDescriptorSets;
        vkAllocateMemory makes "memory";
        vkBeginCommandBuffer;
        vkBindBufferMemory;
        vkCreateBuffer makes "buffers";
        vkCreateCommandPool makes "command pools";
        vkCreateComputePipelines makes "pipelines";
        vkCreateDescriptorPool makes "descriptor pools";
        vkCreateDescriptorSetLayout makes "descriptor set layouts";
        vkCreateDevice makes "devices";
        vkCreateFence makes "fences";
        vkCreateImage makes "images";
        vkCreateImageView makes "image views";
        vkCreatePipelineCache makes "pipeline caches";
        vkCreatePipelineLayout makes "pipeline layouts";
        vkCreateQueryPool makes "query pools";
        vkCreateSampler makes "samplers";
        vkCreateSemaphore makes "semaphores";
        vkCreateShaderModule makes "shader modules";
        vkDeviceWaitIdle;
        vkEndCommandBuffer;
        vkFlushMappedMemoryRanges;
        vkGetFenceStatus;
        vkGetSemaphoreCounterValue;
        vkGetSemaphoreCounterValueKHR;
        vkInvalidateMappedMemoryRanges;
        vkMapMemory;
        vkQueueSubmit;
        vkQueueWaitIdle;
        vkResetCommandPool;
        vkResetFences;
        vkWaitForFences;
        vkWaitSemaphores;
        vkWaitSemaphoresKHR;
    }
    ends {
        vkDestroyBuffer of "buffers" at 1;
        vkDestroyCommandPool of "command pools" at 1;
        vkDestroyDescriptorPool of "descriptor pools" at 1;
        vkDestroyDescriptorSetLayout of "descriptor set layouts" at 1;
        vkDestroyDevice of "devices" at 0;
        vkDestroyFence of "fences" at 1;
        vkDestroyImage of "images" at 1;
        vkDestroyImageView of "image views" at 1;
        vkDestroyPipeline of "pipelines" at 1;
        vkDestroyPipelineCache of "pipeline caches" at 1;
        vkDestroyPipelineLayout of "pipeline layouts" at 1;
        vkDestroyQueryPool of "query pools" at 1;
        vkDestroySampler of "samplers" at 1;
        vkDestroySemaphore of "semaphores" at 1;
        vkDestroyShaderModule of "shader modules" at 1;
        vkFreeMemory of "memory" at 1;
    }
}

/// The real library's `vkGetInstanceProcAddr`.
fn real_find() -> Find {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let path =
            env::var_os("VULKAN_LAYER_LIBRARY").expect("VULKAN_LAYER_LIBRARY names the library");
        // SAFETY: opening the library runs its initialisers, which have no preconditions.
        unsafe { Library::new(path) }.expect("the Vulkan loader is installed")
    });
    // SAFETY: this is its type.
    *unsafe { library.get::<Find>("vkGetInstanceProcAddr") }.expect("every loader has it")
}

/// The function that a program is given for one that was found.
fn instead(name: &CStr, found: Address) -> Address {
    let Some((own, real)) = name.to_str().ok().and_then(|name| code(name).or_else(|| end(name)))
    else {
        return found;
    };
    if found.is_null() {
        return found;
    }
    real.store(found, Ordering::Release);
    own
}

/// The real `vkGetDeviceProcAddr`.
static REAL_FIND_OF_DEVICE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" fn find_of_device(device: usize, name: *const c_char) -> Address {
    // SAFETY: who calls this was given it for the real one, which has this type.
    let real: Find = unsafe { mem::transmute(REAL_FIND_OF_DEVICE.load(Ordering::Acquire)) };
    // SAFETY: as the caller promises.
    unsafe { instead(CStr::from_ptr(name), real(device, name)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn vkGetInstanceProcAddr(instance: usize, name: *const c_char) -> Address {
    // SAFETY: as the caller promises.
    let (text, found) = unsafe { (CStr::from_ptr(name), real_find()(instance, name)) };
    match text.to_bytes() {
        b"vkGetInstanceProcAddr" => vkGetInstanceProcAddr as Find as Address,
        b"vkGetDeviceProcAddr" if !found.is_null() => {
            REAL_FIND_OF_DEVICE.store(found, Ordering::Release);
            find_of_device as Find as Address
        }
        _ => instead(text, found),
    }
}

/// How many objects of a kind there are, for example `buffers`.
///
/// # Safety
///
/// The text ends with a zero.
#[unsafe(no_mangle)]
unsafe extern "C" fn vulkan_layer_count(kind: *const c_char) -> i64 {
    // SAFETY: promised.
    let kind = unsafe { CStr::from_ptr(kind) };
    kind.to_str().map_or(0, |kind| state().count(kind))
}
