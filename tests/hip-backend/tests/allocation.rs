//! Memory of the device: allocated and freed in the order of the default stream, where the library and the device can.
//! Streams do no work before something waits for it, so a wait that is missing is seen, and one that is too much.

use std::fs;

use hip_backend::{Kernels, clean_child, is_child, register_own, run_child};
use kernelmill::{Device, Launch, Result};
use test_support::{driver::fake_hip, temporary_folder};

const LEN: usize = 8;
const LAZY: (&str, &str) = ("FAKE_HIP_STREAMS", "lazy");
const WITHOUT_POOLS: (&str, &str) = ("FAKE_HIP_POOLS", "0");

/// Frees memory that a launch uses; the error is that of the release.
fn free_while_it_is_used() -> Result<()> {
    register_own();
    let device = Device::hip(0)?;
    let kernels = Kernels::load(&device)?;
    let x = device.zeros::<f32>(LEN)?;
    let mut y = device.zeros::<f32>(LEN)?;
    kernels.saxpy(&device.new_stream()?, Launch::linear(LEN), 2.0, &x, &mut y)?;
    drop(y);
    device.zeros::<f32>(LEN).map(drop)
}

#[test]
fn memory_is_freed_without_a_wait() {
    let no_wait = "hipStreamSynchronize at call 1 onwards; hipDeviceSynchronize at call 1 onwards";
    let variables = [LAZY, ("FAKE_HIP_FAIL", no_wait)];
    let name = "memory_is_freed_without_a_wait";
    run_child(name, &variables, || free_while_it_is_used().unwrap()).expect_success();
}

#[test]
fn a_device_without_pools_waits_before_memory_is_freed() {
    let name = "a_device_without_pools_waits_before_memory_is_freed";
    clean_child(name, &[LAZY, WITHOUT_POOLS], || free_while_it_is_used().unwrap());
}

/// The library does not wait for what the stream has yet to free.
#[test]
fn memory_whose_release_is_queued_is_allocated_again() {
    let name = "memory_whose_release_is_queued_is_allocated_again";
    for pools in ["1", "0"] {
        let small = ("FAKE_HIP_MEMORY", "1000000");
        clean_child(name, &[LAZY, small, ("FAKE_HIP_POOLS", pools)], || {
            let device = Device::hip(0).unwrap();
            for _ in 0..4 {
                let memory = device.zeros::<u8>(600_000).unwrap();
                assert_eq!(memory.slice(..2).download().unwrap(), [0; 2]);
                drop(memory);
            }
            for _ in 0..4 {
                drop(device.zeros::<u8>(600_000).unwrap());
            }
        });
    }
}

/// The error of an allocation is that of the call, and that of a release comes with the next call that can return one.
#[test]
fn a_call_that_fails_is_named() {
    let fail = "hipMallocAsync at call 1 with 999; hipFreeAsync at call 1 with 999";
    clean_child("a_call_that_fails_is_named", &[LAZY, ("FAKE_HIP_FAIL", fail)], || {
        let device = Device::hip(0).unwrap();
        let allocate = || device.zeros::<f32>(LEN);
        let error = |result: Result<_>| result.map(drop).unwrap_err().to_string();
        let text = error(allocate());
        assert!(text.starts_with("hipMallocAsync failed for 32 bytes"), "{text}");
        drop(allocate().unwrap());
        let text = error(allocate());
        assert!(text.starts_with("hipFreeAsync failed for 32 bytes"), "{text}");
        assert_eq!(allocate().unwrap().download().unwrap(), [0.0; LEN]);
    });
}

/// What a program does whose memory is that of `hipMalloc`, whose first call fails.
fn allocates_at_once() {
    let device = Device::hip(0).unwrap();
    let error = device.zeros::<f32>(LEN).unwrap_err().to_string();
    assert!(error.starts_with("hipMalloc failed for 32 bytes"), "{error}");
    free_while_it_is_used().unwrap();
}

const FIRST_ALLOCATION: (&str, &str) = ("FAKE_HIP_FAIL", "hipMalloc at call 1 with 999");

#[test]
fn a_device_without_pools_allocates_at_once() {
    let name = "a_device_without_pools_allocates_at_once";
    clean_child(name, &[LAZY, WITHOUT_POOLS, FIRST_ALLOCATION], allocates_at_once);
}

/// A library from before HIP 5.2: the fake one, whose table of symbols has other names for the two functions.
#[test]
fn a_library_without_the_functions_allocates_at_once() {
    let name = "a_library_without_the_functions_allocates_at_once";
    let folder = temporary_folder();
    if !is_child(name) {
        let mut library = fs::read(fake_hip().join("libamdhip64.so")).unwrap();
        for function in ["\0hipMallocAsync\0", "\0hipFreeAsync\0"] {
            let matches = |bytes: &[u8]| bytes == function.as_bytes();
            let at =
                library.windows(function.len()).position(matches).expect("it has the function");
            library[at + 1] = b'X';
        }
        fs::write(folder.path().join("libamdhip64.so"), library).unwrap();
    }
    let path = folder.path().to_str().unwrap();
    clean_child(name, &[LAZY, ("LD_LIBRARY_PATH", path), FIRST_ALLOCATION], allocates_at_once);
}
