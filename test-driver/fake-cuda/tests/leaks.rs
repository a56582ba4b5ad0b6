//! Leaks, and failures that are asked for.

mod support;

use std::mem;

use cudarc::driver::{CudaContext, result, sys::CUresult};
use support::{BASIC, child, clean_child, code, load};

const CHECK: (&str, &str) = ("FAKE_CUDA_LEAK_CHECK", "1");

/// The code of processes that leak.
const LEAKS: Option<i32> = Some(97);

#[test]
fn everything_that_leaks_is_named() {
    let outcome = child("everything_that_leaks_is_named", &[CHECK], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        mem::forget(stream.alloc_zeros::<u32>(25).unwrap());
        mem::forget(context.new_event(None).unwrap());
        mem::forget(load(&context, BASIC));
        mem::forget(stream);
    });
    assert_eq!(outcome.code, LEAKS, "{}", outcome.stderr);
    for text in ["100 bytes of memory of a pool", "1 module", "1 stream", "3 events"] {
        assert!(outcome.stderr.contains(text), "{text}: {}", outcome.stderr);
    }
    assert!(outcome.stderr.contains("the primary context of device 0, retained once"));
}

#[test]
fn what_only_a_context_frees_leaks() {
    let outcome = child("what_only_a_context_frees_leaks", &[CHECK], || {
        let context = CudaContext::new(0).unwrap();
        // SAFETY: nobody uses the memory.
        unsafe { result::malloc_sync(64).unwrap() };
        drop(context);
    });
    assert_eq!(outcome.code, LEAKS, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("64 bytes of device memory"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("freed only with the primary context of device 0"));
}

#[test]
fn leaks_are_found_only_if_asked_for() {
    child("leaks_are_found_only_if_asked_for", &[], || mem::forget(CudaContext::new(0).unwrap()))
        .expect_success();
}

#[test]
fn the_third_allocation_fails() {
    let fail = [("FAKE_CUDA_FAIL", "cuMemAllocAsync at call 3")];
    clean_child("the_third_allocation_fails", &fail, || {
        let stream = CudaContext::new(0).unwrap().default_stream();
        let kept: Vec<_> = (0..2).map(|_| stream.alloc_zeros::<u8>(16).unwrap()).collect();
        let third = code(stream.alloc_zeros::<u8>(16));
        assert_eq!(third, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        stream.alloc_zeros::<u8>(16).unwrap();
        drop(kept);
    });
}

#[test]
fn failures_have_the_error_asked_for() {
    let fail = "cuStreamSynchronize at call 1 with CUDA_ERROR_ECC_UNCORRECTABLE; cuInit at call 2";
    clean_child("failures_have_the_error_asked_for", &[("FAKE_CUDA_FAIL", fail)], || {
        let stream = CudaContext::new(0).unwrap().default_stream();
        assert_eq!(code(stream.synchronize()), CUresult::CUDA_ERROR_ECC_UNCORRECTABLE);
        stream.synchronize().unwrap();
        assert_eq!(code(CudaContext::new(0)), CUresult::CUDA_ERROR_UNKNOWN);
    });
}

#[test]
fn memory_is_as_much_as_asked_for() {
    clean_child("memory_is_as_much_as_asked_for", &[("FAKE_CUDA_MEMORY", "4096")], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.default_stream();
        let first = stream.alloc_zeros::<u8>(4000).unwrap();
        assert_eq!(context.mem_get_info().unwrap(), (96, 4096));
        assert_eq!(code(stream.alloc_zeros::<u8>(97)), CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        drop(first);
        // What the stream has still to free is waited for.
        stream.alloc_zeros::<u8>(4096).unwrap();
    });
}
