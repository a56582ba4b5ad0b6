//! Streams are asynchronous, and events order them.

mod support;

use std::{
    ptr,
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

use cudarc::driver::{
    CudaContext, DriverError, PushKernelArg, result,
    sys::{self, CUevent_flags, CUresult},
};
use support::{Gate, block, child, clean_child, code, kernel};

#[test]
fn launches_do_not_wait() {
    clean_child("launches_do_not_wait", &[], || {
        let context = CudaContext::new(0).unwrap();
        let fill = kernel(&context, "fill");
        let stream = context.new_stream().unwrap();
        let mut out = stream.alloc_zeros::<u32>(4).unwrap();
        let gate = Gate::on(&stream);
        // SAFETY: the kernel has these parameters, and writes within `out`.
        unsafe {
            stream.launch_builder(&fill).arg(&mut out).arg(&4_u32).arg(&7_u32).launch(block(4))
        }
        .unwrap();
        let event = stream.record_event(None).unwrap();
        thread::sleep(Duration::from_millis(20));
        assert!(!event.is_complete());
        gate.open();
        stream.synchronize().unwrap();
        assert!(event.is_complete());
        assert_eq!(stream.clone_dtoh(&out).unwrap(), [7, 8, 9, 10]);
    });
}

#[test]
fn streams_do_not_wait_for_each_other() {
    clean_child("streams_do_not_wait_for_each_other", &[], || {
        let context = CudaContext::new(0).unwrap();
        let (held, free) = (context.new_stream().unwrap(), context.new_stream().unwrap());
        let gate = Gate::on(&held);
        let ahead = free.record_event(None).unwrap();
        free.synchronize().unwrap();
        assert!(ahead.is_complete());
        gate.open();
        held.synchronize().unwrap();
    });
}

#[test]
fn a_stream_waits_for_a_number_of_the_host() {
    use sys::CUstreamWaitValue_flags_enum::{
        CU_STREAM_WAIT_VALUE_AND, CU_STREAM_WAIT_VALUE_EQ, CU_STREAM_WAIT_VALUE_GEQ,
        CU_STREAM_WAIT_VALUE_NOR,
    };
    clean_child("a_stream_waits_for_a_number_of_the_host", &[], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        // SAFETY: the memory has room for the number.
        let memory: *mut u32 = unsafe { result::malloc_host(4, 0) }.unwrap().cast();
        // SAFETY: the memory is there until the end, and the driver reads it atomically.
        let number = unsafe { AtomicU32::from_ptr(memory) };
        let wait = |address: u64, value, flags| {
            // SAFETY: as above.
            let waits =
                unsafe { sys::cuStreamWaitValue32_v2(stream.cu_stream(), address, value, flags) };
            code(waits.result())
        };
        let address = memory.expose_provenance() as u64;
        for (flags, value, before, after) in [
            (CU_STREAM_WAIT_VALUE_EQ, 7, 8, 7),
            (CU_STREAM_WAIT_VALUE_GEQ, 2, u32::MAX, 3),
            (CU_STREAM_WAIT_VALUE_AND, 6, 9, 4),
            (CU_STREAM_WAIT_VALUE_NOR, 1, u32::MAX, 5),
        ] {
            number.store(before, Ordering::SeqCst);
            assert_eq!(wait(address, value, flags as u32), CUresult::CUDA_SUCCESS);
            let event = stream.record_event(None).unwrap();
            thread::sleep(Duration::from_millis(5));
            assert!(!event.is_complete(), "{flags:?}");
            number.store(after, Ordering::SeqCst);
            stream.synchronize().unwrap();
        }
        assert_eq!(wait(address + 2, 0, 1), CUresult::CUDA_ERROR_INVALID_VALUE);
        assert_eq!(wait(address, 0, 9), CUresult::CUDA_ERROR_INVALID_VALUE);
        // SAFETY: nothing waits for it any more.
        unsafe { result::free_host(memory.cast()) }.unwrap();
    });
}

#[test]
fn events_order_streams() {
    clean_child("events_order_streams", &[], || {
        let context = CudaContext::new(0).unwrap();
        let (fill, double) = (kernel(&context, "fill"), kernel(&context, "double"));
        let (first, second) = (context.new_stream().unwrap(), context.new_stream().unwrap());
        let mut out = first.alloc_zeros::<u32>(4).unwrap();
        first.synchronize().unwrap();
        let gate = Gate::on(&first);
        // SAFETY: the kernel has these parameters, and writes within `out`.
        unsafe {
            first.launch_builder(&fill).arg(&mut out).arg(&4_u32).arg(&1_u32).launch(block(4))
        }
        .unwrap();
        // cudarc lets the second stream wait for an event of the first.
        // SAFETY: as above.
        unsafe { second.launch_builder(&double).arg(&mut out).launch(block(4)) }.unwrap();
        let doubled = second.record_event(None).unwrap();
        thread::sleep(Duration::from_millis(20));
        assert!(!doubled.is_complete());
        gate.open();
        assert_eq!(second.clone_dtoh(&out).unwrap(), [2, 4, 6, 8]);
        first.synchronize().unwrap();
    });
}

/// A stream that waits for the legacy default stream, which waits for it.
fn blocking_stream() -> sys::CUstream {
    result::stream::create(result::stream::StreamKind::Default).unwrap()
}

#[test]
fn the_legacy_stream_waits_for_blocking_streams() {
    clean_child("the_legacy_stream_waits_for_blocking_streams", &[], || {
        let context = CudaContext::new(0).unwrap();
        let handle = blocking_stream();
        // SAFETY: the stream outlives what wraps it.
        let blocking = unsafe { context.wrap_borrowed_stream(handle) };
        let (legacy, other) = (context.default_stream(), context.new_stream().unwrap());
        let gate = Gate::on(&blocking);
        let behind = legacy.record_event(None).unwrap();
        let beside = other.record_event(None).unwrap();
        beside.synchronize().unwrap();
        assert!(!behind.is_complete());
        // What comes to the blocking stream now has to wait for the legacy stream.
        let after = blocking.record_event(None).unwrap();
        gate.open();
        after.synchronize().unwrap();
        assert!(behind.is_complete());
        // SAFETY: created above, and used no more.
        unsafe { result::stream::destroy(handle).unwrap() };
    });
}

#[test]
fn blocking_streams_wait_for_the_legacy_stream() {
    clean_child("blocking_streams_wait_for_the_legacy_stream", &[], || {
        let context = CudaContext::new(0).unwrap();
        let (legacy, own) = (context.default_stream(), context.per_thread_stream());
        let other = context.new_stream().unwrap();
        let gate = Gate::on(&legacy);
        let behind = own.record_event(None).unwrap();
        other.record_event(None).unwrap().synchronize().unwrap();
        assert!(!behind.is_complete());
        // SAFETY: the handle is that of the stream.
        let query = unsafe { sys::cuStreamQuery(legacy.cu_stream()).result() };
        assert_eq!(code(query), CUresult::CUDA_ERROR_NOT_READY);
        gate.open();
        behind.synchronize().unwrap();
        legacy.synchronize().unwrap();
        // SAFETY: as above.
        unsafe { sys::cuStreamQuery(legacy.cu_stream()).result().unwrap() };
    });
}

#[test]
fn events_measure_time() {
    clean_child("events_measure_time", &[], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        let timed = Some(CUevent_flags::CU_EVENT_DEFAULT);
        let start = stream.record_event(timed).unwrap();
        let gate = Gate::on(&stream);
        let end = stream.record_event(timed).unwrap();
        // SAFETY: the events exist.
        let early = unsafe { result::event::elapsed(start.cu_event(), end.cu_event()) };
        assert_eq!(code(early), CUresult::CUDA_ERROR_NOT_READY);
        thread::sleep(Duration::from_millis(30));
        gate.open();
        let elapsed = start.elapsed_ms(&end).unwrap();
        assert!((25.0..5000.0).contains(&elapsed), "{elapsed}");
        let untimed = stream.record_event(None).unwrap();
        assert_eq!(code(untimed.elapsed_ms(&end)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    });
}

#[test]
fn pinned_memory_is_copied_when_the_stream_comes_to_it() {
    clean_child("pinned_memory_is_copied_when_the_stream_comes_to_it", &[], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        let mut target = stream.alloc_zeros::<u32>(2).unwrap();
        stream.synchronize().unwrap();
        // SAFETY: written before it is read.
        let mut pinned = unsafe { context.alloc_pinned::<u32>(2).unwrap() };
        pinned.as_mut_slice().unwrap().copy_from_slice(&[1, 2]);
        let address = pinned.as_mut_ptr().unwrap();
        let gate = Gate::on(&stream);
        stream.memcpy_htod(&pinned, &mut target).unwrap();
        // SAFETY: the copy waits behind the gate, which this test relies on.
        unsafe { address.write(9) };
        gate.open();
        assert_eq!(stream.clone_dtoh(&target).unwrap(), [9, 2]);
    });
}

#[test]
fn pageable_memory_is_copied_at_once() {
    clean_child("pageable_memory_is_copied_at_once", &[], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        let mut target = stream.alloc_zeros::<u32>(2).unwrap();
        let mut source = vec![1, 2];
        let gate = Gate::on(&stream);
        stream.memcpy_htod(&source, &mut target).unwrap();
        source.fill(9);
        gate.open();
        assert_eq!(stream.clone_dtoh(&target).unwrap(), [1, 2]);
    });
}

#[test]
fn streams_finish_what_they_have_when_they_are_destroyed() {
    clean_child("streams_finish_what_they_have_when_they_are_destroyed", &[], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        let gate = Gate::on(&stream);
        let event = stream.record_event(None).unwrap();
        drop(stream);
        assert!(!event.is_complete());
        gate.open();
        event.synchronize().unwrap();
    });
}

#[test]
fn stale_handles_are_errors() {
    child("stale_handles_are_errors", &[], || {
        let context = CudaContext::new(0).unwrap();
        let handle = blocking_stream();
        // SAFETY: handles of this driver are numbers, of which none is given out twice.
        unsafe {
            result::stream::destroy(handle).unwrap();
            let again = code(result::stream::destroy(handle));
            assert_eq!(again, CUresult::CUDA_ERROR_INVALID_HANDLE);
            let late = code(result::stream::synchronize(handle));
            assert_eq!(late, CUresult::CUDA_ERROR_INVALID_HANDLE);
            let null = code(result::event::record(ptr::null_mut(), handle));
            assert_eq!(null, CUresult::CUDA_ERROR_INVALID_HANDLE);
        }
        context.synchronize().unwrap();
    })
    .expect_success();
}

#[test]
fn lazy_streams_do_what_is_waited_for() {
    let lazy = [("FAKE_CUDA_STREAMS", "lazy")];
    clean_child("lazy_streams_do_what_is_waited_for", &lazy, || {
        let context = CudaContext::new(0).unwrap();
        let (fill, double) = (kernel(&context, "fill"), kernel(&context, "double"));
        let (first, second) = (context.new_stream().unwrap(), context.new_stream().unwrap());
        let mut out = first.alloc_zeros::<u32>(4).unwrap();
        first.synchronize().unwrap();
        let address = out.leak();
        let launch = |stream: &std::sync::Arc<cudarc::driver::CudaStream>, kernel, second| {
            let mut launch = stream.launch_builder(kernel);
            launch.arg(&address);
            if second {
                launch.arg(&4_u32).arg(&1_u32);
            }
            // SAFETY: the kernels have these parameters, and write within `out`.
            unsafe { launch.launch(block(4)).unwrap() };
        };
        // Nothing orders the two, and the later one is waited for first.
        launch(&first, &double, false);
        launch(&second, &fill, true);
        second.synchronize().unwrap();
        first.synchronize().unwrap();
        // SAFETY: the memory was given up above.
        out = unsafe { second.upgrade_device_ptr(address, 4) };
        assert_eq!(second.clone_dtoh(&out).unwrap(), [2, 4, 6, 8]);
        // What a destroyed stream has left is waited for with the context.
        let event = first.record_event(None).unwrap();
        drop(first);
        context.synchronize().unwrap();
        assert!(event.is_complete());
    });
}

/// Unloads a module right after a launch of it, and waits.
fn unload_after_a_launch() -> Result<Vec<u32>, DriverError> {
    let context = CudaContext::new(0).unwrap();
    let fill = kernel(&context, "fill");
    let stream = context.new_stream().unwrap();
    let mut out = stream.alloc_zeros::<u32>(4).unwrap();
    stream.synchronize().unwrap();
    // SAFETY: the kernel has these parameters, and writes within `out`.
    unsafe { stream.launch_builder(&fill).arg(&mut out).arg(&4_u32).arg(&7_u32).launch(block(4)) }
        .unwrap();
    drop(fill);
    stream.synchronize()?;
    stream.clone_dtoh(&out)
}

#[test]
fn eager_streams_run_what_they_have_before_a_module_is_unloaded() {
    clean_child("eager_streams_run_what_they_have_before_a_module_is_unloaded", &[], || {
        assert_eq!(unload_after_a_launch().unwrap(), [7, 8, 9, 10]);
    });
}

#[test]
fn lazy_streams_report_launches_whose_module_is_unloaded() {
    let lazy = [("FAKE_CUDA_STREAMS", "lazy")];
    let outcome = child("lazy_streams_report_launches_whose_module_is_unloaded", &lazy, || {
        let error = unload_after_a_launch().unwrap_err();
        assert_eq!(error.0, CUresult::CUDA_ERROR_LAUNCH_FAILED);
    });
    outcome.expect_success();
    let message = "kernel `fill`: its module is unloaded before the launch has run";
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
}
