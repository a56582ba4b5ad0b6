//! Devices, contexts and their counts.

mod support;

use std::{ptr, thread};

use cudarc::driver::{
    CudaContext, result,
    sys::{self, CUdevice_attribute_enum as Attribute, CUresult},
};
use support::{child, clean_child, code};

#[test]
fn devices_are_those_asked_for() {
    let variables = [("FAKE_CUDA_DEVICES", "3"), ("FAKE_CUDA_ARCH", "75,90a")];
    clean_child("devices_are_those_asked_for", &variables, || {
        assert_eq!(CudaContext::device_count().unwrap(), 3);
        let contexts: Vec<_> = (0..3).map(|ordinal| CudaContext::new(ordinal).unwrap()).collect();
        let capability = |index: usize| contexts[index].compute_capability().unwrap();
        assert_eq!([capability(0), capability(1), capability(2)], [(7, 5), (9, 0), (9, 0)]);
        assert_eq!(contexts[0].name().unwrap(), "PTX emulator sm_75");
        assert_ne!(contexts[1].uuid().unwrap().bytes, contexts[2].uuid().unwrap().bytes);
        let attribute = |which| contexts[1].attribute(which).unwrap();
        assert_eq!(attribute(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
        assert_eq!(attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z), 64);
        assert_eq!(code(CudaContext::new(3)), CUresult::CUDA_ERROR_INVALID_DEVICE);
    });
}

#[test]
fn no_devices_are_an_error() {
    child("no_devices_are_an_error", &[("FAKE_CUDA_DEVICES", "0")], || {
        assert_eq!(code(CudaContext::new(0)), CUresult::CUDA_ERROR_NO_DEVICE);
    })
    .expect_success();
}

#[test]
fn wrong_variables_are_named() {
    let outcome = child("wrong_variables_are_named", &[("FAKE_CUDA_ARCH", "12")], || {
        assert_eq!(code(result::init()), CUresult::CUDA_ERROR_SYSTEM_NOT_READY);
    });
    outcome.expect_success();
    assert!(outcome.stderr.contains("FAKE_CUDA_ARCH=12"), "{}", outcome.stderr);
}

#[test]
fn nothing_works_before_init() {
    child("nothing_works_before_init", &[], || {
        assert_eq!(code(result::device::get(0)), CUresult::CUDA_ERROR_NOT_INITIALIZED);
        assert_eq!(code(result::ctx::synchronize()), CUresult::CUDA_ERROR_NOT_INITIALIZED);
        result::init().unwrap();
        assert_eq!(code(result::ctx::synchronize()), CUresult::CUDA_ERROR_INVALID_CONTEXT);
    })
    .expect_success();
}

fn active(device: i32) -> bool {
    let (mut flags, mut active) = (0, -1);
    // SAFETY: both are places for what the function gives.
    let state = unsafe { sys::cuDevicePrimaryCtxGetState(device, &mut flags, &mut active) };
    state.result().unwrap();
    active == 1
}

#[test]
fn primary_contexts_are_counted() {
    clean_child("primary_contexts_are_counted", &[], || {
        result::init().unwrap();
        let device = result::device::get(0).unwrap();
        assert!(!active(device));
        // SAFETY: the device is one.
        unsafe {
            let first = result::primary_ctx::retain(device).unwrap();
            assert_eq!(result::primary_ctx::retain(device).unwrap(), first);
            result::primary_ctx::release(device).unwrap();
            assert!(active(device));
            result::ctx::set_current(first).unwrap();
            result::ctx::synchronize().unwrap();
            result::primary_ctx::release(device).unwrap();
            assert!(!active(device));
            let late = code(result::ctx::synchronize());
            assert_eq!(late, CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
            let again = code(result::primary_ctx::release(device));
            assert_eq!(again, CUresult::CUDA_ERROR_INVALID_CONTEXT);
        }
    });
}

#[test]
fn each_thread_has_a_stack_of_contexts() {
    clean_child("each_thread_has_a_stack_of_contexts", &[("FAKE_CUDA_DEVICES", "2")], || {
        let first = CudaContext::new(0).unwrap();
        let second = CudaContext::new(1).unwrap();
        let current = || result::ctx::get_current().unwrap();
        assert_eq!(current(), Some(second.cu_ctx()));
        // SAFETY: the contexts exist, and `popped` is a place for a handle.
        unsafe {
            sys::cuCtxPushCurrent_v2(first.cu_ctx()).result().unwrap();
            assert_eq!(current(), Some(first.cu_ctx()));
            let mut popped = ptr::null_mut();
            sys::cuCtxPopCurrent_v2(&mut popped).result().unwrap();
            assert_eq!(popped, first.cu_ctx());
        }
        assert_eq!(current(), Some(second.cu_ctx()));
        thread::spawn(|| assert_eq!(result::ctx::get_current().unwrap(), None)).join().unwrap();
    });
}

#[test]
fn contexts_of_a_device_are_apart() {
    clean_child("contexts_of_a_device_are_apart", &[], || {
        let primary = CudaContext::new(0).unwrap();
        let other = CudaContext::new_non_primary(0, 0).unwrap();
        assert_ne!(primary.cu_ctx(), other.cu_ctx());
        let stream = other.new_stream().unwrap();
        let event = primary.new_event(None).unwrap();
        // SAFETY: both exist; that they are of two contexts is what is tested.
        let recorded = unsafe { result::event::record(event.cu_event(), stream.cu_stream()) };
        assert_eq!(code(recorded), CUresult::CUDA_ERROR_INVALID_HANDLE);
    });
}

#[test]
fn functions_are_found_by_name() {
    clean_child("functions_are_found_by_name", &[], || {
        let find = |name: &std::ffi::CStr| {
            let mut found = ptr::null_mut();
            // SAFETY: the name ends with a zero, and `found` is a place for an address.
            let result = unsafe {
                let status = ptr::null_mut();
                sys::cuGetProcAddress_v2(name.as_ptr(), &mut found, 12080, 0, status).result()
            };
            (code(result), found.is_null())
        };
        assert_eq!(find(c"cuMemAlloc"), (CUresult::CUDA_SUCCESS, false));
        assert_eq!(find(c"cuLaunchKernelEx"), (CUresult::CUDA_SUCCESS, false));
        assert_eq!(find(c"cuNoSuchThing"), (CUresult::CUDA_ERROR_NOT_FOUND, true));
    });
}
