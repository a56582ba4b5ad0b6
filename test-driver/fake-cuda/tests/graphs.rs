//! Work that is captured and done many times.

mod support;

use cudarc::driver::{
    CudaContext, PushKernelArg, result,
    sys::{self, CUgraphInstantiate_flags as Flags, CUresult, CUstreamCaptureMode as Mode},
};
use support::{block, clean_child, code, kernel};

const LOCAL: Mode = Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
const GLOBAL: Mode = Mode::CU_STREAM_CAPTURE_MODE_GLOBAL;

#[test]
fn captured_work_runs_with_each_launch() {
    clean_child("captured_work_runs_with_each_launch", &[], || {
        let context = CudaContext::new(0).unwrap();
        let double = kernel(&context, "double");
        let stream = context.new_stream().unwrap();
        let mut memory = stream.clone_htod(&[1_u32, 2, 3, 4]).unwrap();
        stream.synchronize().unwrap();
        // SAFETY: all of the memory is used by one stream.
        unsafe { context.disable_event_tracking() };
        stream.begin_capture(LOCAL).unwrap();
        // SAFETY: the kernel has this parameter, and writes within `memory`.
        unsafe { stream.launch_builder(&double).arg(&mut memory).launch(block(4)).unwrap() };
        let status = stream.capture_status().unwrap();
        assert_eq!(status, sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE);
        let graph = stream.end_capture(Flags(0)).unwrap().unwrap();
        assert_eq!(stream.clone_dtoh(&memory).unwrap(), [1, 2, 3, 4]);
        graph.upload().unwrap();
        for _ in 0..3 {
            graph.launch().unwrap();
        }
        assert_eq!(stream.clone_dtoh(&memory).unwrap(), [8, 16, 24, 32]);
    });
}

#[test]
fn fills_and_copies_are_captured() {
    clean_child("fills_and_copies_are_captured", &[], || {
        let context = CudaContext::new(0).unwrap();
        // SAFETY: all of the memory is used by one stream.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().unwrap();
        let source = stream.clone_htod(&[7_u32; 4]).unwrap();
        let mut target = stream.clone_htod(&[1_u32; 8]).unwrap();
        stream.begin_capture(LOCAL).unwrap();
        stream.memset_zeros(&mut target.slice_mut(..6)).unwrap();
        stream.memcpy_dtod(&source, &mut target.slice_mut(..4)).unwrap();
        let graph = stream.end_capture(Flags(0)).unwrap().unwrap();
        let mut count = 0;
        // SAFETY: the graph exists, and only the number of nodes is asked for.
        unsafe {
            let nodes = std::ptr::null_mut();
            sys::cuGraphGetNodes(graph.cu_graph(), nodes, &mut count).result().unwrap();
        }
        assert_eq!(count, 2);
        graph.launch().unwrap();
        assert_eq!(stream.clone_dtoh(&target).unwrap(), [7, 7, 7, 7, 0, 0, 1, 1]);
    });
}

#[test]
fn other_streams_join_a_capture() {
    clean_child("other_streams_join_a_capture", &[], || {
        let context = CudaContext::new(0).unwrap();
        // SAFETY: the streams are ordered by the events below.
        unsafe { context.disable_event_tracking() };
        let double = kernel(&context, "double");
        let (stream, side) = (context.new_stream().unwrap(), context.new_stream().unwrap());
        let mut memory = stream.clone_htod(&[1_u32; 4]).unwrap();
        stream.begin_capture(GLOBAL).unwrap();
        side.join(&stream).unwrap();
        // SAFETY: the kernel has this parameter, and writes within `memory`.
        unsafe { side.launch_builder(&double).arg(&mut memory).launch(block(4)).unwrap() };
        stream.join(&side).unwrap();
        // SAFETY: as above.
        unsafe { stream.launch_builder(&double).arg(&mut memory).launch(block(4)).unwrap() };
        let graph = stream.end_capture(Flags(0)).unwrap().unwrap();
        graph.launch().unwrap();
        assert_eq!(stream.clone_dtoh(&memory).unwrap(), [4; 4]);

        stream.begin_capture(GLOBAL).unwrap();
        side.join(&stream).unwrap();
        // SAFETY: as above.
        unsafe { side.launch_builder(&double).arg(&mut memory).launch(block(4)).unwrap() };
        let unjoined = code(stream.end_capture(Flags(0)));
        assert_eq!(unjoined, CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        side.synchronize().unwrap();
    });
}

#[test]
fn what_cannot_be_captured_spoils_the_capture() {
    clean_child("what_cannot_be_captured_spoils_the_capture", &[], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        let before = stream.record_event(None).unwrap();
        let spoiled = |result| {
            let ended = code(stream.end_capture(Flags(0)));
            assert_eq!(ended, CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
            result
        };
        stream.begin_capture(GLOBAL).unwrap();
        let waited = spoiled(code(stream.synchronize()));
        assert_eq!(waited, CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        stream.begin_capture(GLOBAL).unwrap();
        // SAFETY: nothing is allocated.
        let allocated = spoiled(code(unsafe { result::malloc_sync(4) }));
        assert_eq!(allocated, CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        stream.begin_capture(GLOBAL).unwrap();
        // SAFETY: the event is there.
        let asked = spoiled(code(unsafe { result::event::query(before.cu_event()) }));
        assert_eq!(asked, CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        stream.begin_capture(GLOBAL).unwrap();
        let isolated = spoiled(code(stream.wait(&before)));
        assert_eq!(isolated, CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
        let legacy = code(context.default_stream().begin_capture(GLOBAL));
        assert_eq!(legacy, CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        assert_eq!(code(stream.end_capture(Flags(0))), CUresult::CUDA_ERROR_ILLEGAL_STATE);
    });
}

#[test]
fn flags_are_checked() {
    clean_child("flags_are_checked", &[], || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        stream.begin_capture(LOCAL).unwrap();
        let flags = Flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
            | Flags::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
        assert_eq!(code(stream.end_capture(flags)), CUresult::CUDA_ERROR_INVALID_VALUE);
    });
}

#[test]
fn memory_of_a_graph_is_freed_with_it() {
    clean_child("memory_of_a_graph_is_freed_with_it", &[], || {
        let context = CudaContext::new(0).unwrap();
        // SAFETY: all of the memory is used by one stream.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().unwrap();
        let mut target = stream.alloc_zeros::<u32>(4).unwrap();
        let free = context.mem_get_info().unwrap().0;
        stream.begin_capture(LOCAL).unwrap();
        let scratch = stream.alloc_zeros::<u32>(4).unwrap();
        stream.memcpy_dtod(&scratch, &mut target).unwrap();
        drop(scratch);
        let graph = stream.end_capture(Flags(0)).unwrap().unwrap();
        graph.launch().unwrap();
        graph.launch().unwrap();
        stream.synchronize().unwrap();
        assert_eq!(context.mem_get_info().unwrap().0, free - 16);
        drop(graph);
        assert_eq!(context.mem_get_info().unwrap().0, free);
    });
}
