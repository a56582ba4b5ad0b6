//! A stream that is being captured takes no launches: the graph would not keep the memory they use.

use std::sync::Arc;

use cuda_backend::{Kernels, adopt, clean_child, copy, cuda_stream, cudarc};
use cudarc::driver::{
    CudaContext, CudaStream,
    sys::{CUgraphInstantiate_flags, CUstreamCaptureMode, CUstreamCaptureStatus},
};
use kernelmill::{Buffer, Device, Error, Launch, LaunchStream, Result, module_cache};

/// A device with its kernel, and buffers.
struct Bench {
    x: Buffer<f32>,
    y: Buffer<f32>,
    kernels: Kernels,
    device: Device,
    context: Arc<CudaContext>,
}

impl Bench {
    fn new() -> Self {
        let context = CudaContext::new(0).unwrap();
        let device = Device::from_cuda_context(&context).unwrap();
        Self {
            x: device.upload(&[1.0; 4]).unwrap(),
            y: device.zeros(4).unwrap(),
            kernels: Kernels::load(&device).unwrap(),
            device,
            context,
        }
    }

    fn launch(&mut self, stream: &impl LaunchStream) -> Result<()> {
        self.kernels.saxpy(stream, Launch::linear(4), 1.0, &self.x, &mut self.y)
    }
}

fn begin(stream: &CudaStream) {
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL).unwrap();
}

/// Ends a capture that recorded nothing, and launches the graph.
fn end(stream: &Arc<CudaStream>) {
    let graph = stream.end_capture(CUgraphInstantiate_flags(0)).unwrap().unwrap();
    graph.launch().unwrap();
    stream.synchronize().unwrap();
}

#[track_caller]
fn assert_refused<T>(result: Result<T>) {
    match result {
        Err(error @ Error::Capturing { .. }) => {
            let text = error.to_string();
            assert!(text.contains("before the capture begins or after it has ended"), "{text}");
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was captured"),
    }
}

/// The report: launches are captured, the buffers dropped, and the graph launched.
#[test]
fn a_graph_does_not_use_memory_that_was_freed() {
    clean_child("a_graph_does_not_use_memory_that_was_freed", &[], || {
        let mut bench = Bench::new();
        let stream = bench.context.new_stream().unwrap();
        let adopted = adopt(&bench.device, &stream).unwrap();
        begin(&stream);
        assert_refused(bench.launch(&adopted));
        let Bench { x, y, kernels, device, context } = bench;
        drop((x, y));
        end(&stream);
        drop((kernels, device, adopted, stream, context));
    });
}

#[test]
fn whatever_stream_is_captured_takes_no_launch() {
    clean_child("whatever_stream_is_captured_takes_no_launch", &[], || {
        let mut bench = Bench::new();
        let own = bench.device.new_stream().unwrap();
        let adopted = adopt(&bench.device, &bench.context.new_stream().unwrap()).unwrap();
        for stream in [&own, &adopted] {
            bench.launch(stream).unwrap();
            let event = bench.device.stream().record().unwrap();
            let cuda = Arc::clone(cuda_stream(stream));
            begin(&cuda);
            assert_refused(bench.launch(stream));
            let again = adopt(&bench.device, &cuda).unwrap();
            assert_refused(bench.launch(&again));
            assert_refused(bench.launch(&stream.clone()));
            assert_refused(stream.synchronize());
            assert_refused(stream.record());
            assert_refused(stream.wait(&event));
            end(&cuda);
            bench.launch(stream).unwrap();
            stream.synchronize().unwrap();
        }
        assert_eq!(bench.y.download().unwrap(), [4.0; 4]);
    });
}

/// Waiting for an event of a stream that is captured makes a stream part of the capture.
#[test]
fn a_stream_that_joins_a_capture_takes_no_launch() {
    clean_child("a_stream_that_joins_a_capture_takes_no_launch", &[], || {
        let mut bench = Bench::new();
        let (first, second) =
            (bench.context.new_stream().unwrap(), bench.device.new_stream().unwrap());
        let joining = Arc::clone(cuda_stream(&second));
        begin(&first);
        joining.wait(&first.record_event(None).unwrap()).unwrap();
        assert_refused(bench.launch(&second));
        first.wait(&joining.record_event(None).unwrap()).unwrap();
        end(&first);
        bench.launch(&second).unwrap();
        second.synchronize().unwrap();
    });
}

/// The event of a slice of cudarc's does the same.
#[test]
fn a_slice_that_was_captured_takes_no_stream_along() {
    clean_child("a_slice_that_was_captured_takes_no_stream_along", &[], || {
        let bench = Bench::new();
        let Bench { x, y, kernels, device, context } = bench;
        let (first, second) = (context.new_stream().unwrap(), device.new_stream().unwrap());
        // SAFETY: nothing reads it.
        let mut slice = unsafe { first.alloc::<f32>(4).unwrap() };
        begin(&first);
        // Records an event of the slice in the capture.
        first.memset_zeros(&mut slice).unwrap();
        for _ in 0..2 {
            let slice = cudarc(&mut slice);
            assert_refused(kernels.saxpy(&second, Launch::linear(4), 1.0, &x, slice));
        }
        drop(first.end_capture(CUgraphInstantiate_flags(0)));
        drop((x, y, kernels, device));
    });
}

/// Copies, allocations and frees are on the default stream, which is in no capture.
#[test]
fn memory_is_copied_and_freed_beside_a_capture() {
    clean_child("memory_is_copied_and_freed_beside_a_capture", &[], || {
        let mut bench = Bench::new();
        let (stream, other) =
            (bench.context.new_stream().unwrap(), bench.device.new_stream().unwrap());
        bench.launch(&adopt(&bench.device, &stream).unwrap()).unwrap();
        begin(&stream);
        let mut more = bench.device.upload(&[2.0f32; 4]).unwrap();
        more.copy_from(&[3.0; 4]).unwrap();
        assert_eq!(more.download().unwrap(), [3.0; 4]);
        bench.launch(&other).unwrap();
        assert_eq!(bench.y.download().unwrap(), [2.0; 4]);
        drop((more, bench.device.zeros::<f32>(9).unwrap()));
        let status = stream.capture_status().unwrap();
        assert_eq!(status, CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE);
        end(&stream);
    });
}

/// The driver refuses these calls of threads that do not say that they have nothing to do with a capture.
#[test]
fn modules_pinned_memory_and_events_are_used_beside_a_capture() {
    clean_child("modules_pinned_memory_and_events_are_used_beside_a_capture", &[], || {
        let mut bench = Bench::new();
        let (stream, other) =
            (bench.context.new_stream().unwrap(), bench.device.new_stream().unwrap());
        bench.launch(&other).unwrap();
        let event = other.record().unwrap();
        event.synchronize().unwrap();
        begin(&stream);
        assert!(event.is_complete().unwrap());
        let pinned = bench.device.pinned_from(&[2.0_f32; 4]).unwrap();
        bench.x.copy_from_async(&other, &pinned).unwrap();
        let kernels = Kernels::load_copy(&bench.device, copy(1)).unwrap();
        kernels.saxpy(&other, Launch::linear(4), 1.0, &bench.x, &mut bench.y).unwrap();
        assert_eq!(bench.y.download().unwrap(), [3.0; 4]);
        let status = stream.capture_status().unwrap();
        assert_eq!(status, CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE);
        end(&stream);
    });
}

/// Making room in the module cache asks streams whether they have work; it does not ask one that is captured.
#[test]
fn a_capture_goes_on_while_modules_are_evicted() {
    clean_child("a_capture_goes_on_while_modules_are_evicted", &[], || {
        let mut bench = Bench::new();
        let stream = bench.context.new_stream().unwrap();
        bench.launch(&adopt(&bench.device, &stream).unwrap()).unwrap();
        stream.synchronize().unwrap();
        begin(&stream);
        let Bench { kernels, .. } = bench;
        drop(kernels);
        module_cache().set_capacity(0);
        let status = stream.capture_status().unwrap();
        assert_eq!(status, CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE);
        assert_eq!(module_cache().statistics().loaded, 1);
        end(&stream);
        module_cache().set_capacity(0);
        assert_eq!(module_cache().statistics().loaded, 0);
    });
}
