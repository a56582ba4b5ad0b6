//! Copies between pinned buffers and the device. The driver does the work of a stream only when something waits for it,
//! so what is not waited for comes too late.

use std::mem;

use cuda_backend::{Gate, Kernels, clean_child, cuda_stream, fake_child, run_child};
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use kernelmill::{Buffer, Device, Error, Launch, PinnedBuffer, Result, Stream};

const LAZY: [(&str, &str); 1] = [("FAKE_CUDA_STREAMS", "lazy")];

const LEN: usize = 8;

/// A device with its kernel, two streams beside the default one, and a buffer.
struct Bench {
    y: Buffer<f32>,
    kernels: Kernels,
    streams: [Stream; 3],
    device: Device,
}

impl Bench {
    fn new() -> Self {
        let device = Device::cuda(0).unwrap();
        Self {
            y: device.zeros(LEN).unwrap(),
            kernels: Kernels::load(&device).unwrap(),
            streams: [device.stream(), device.new_stream().unwrap(), device.new_stream().unwrap()],
            device,
        }
    }

    fn pinned(&self, value: f32) -> PinnedBuffer<f32> {
        self.device.pinned_from(&[value; LEN]).unwrap()
    }
}

#[test]
fn the_host_writes_after_the_copies_that_read() {
    clean_child("the_host_writes_after_the_copies_that_read", &LAZY, || {
        let bench = Bench::new();
        let mut source = bench.pinned(1.0);
        let mut targets = [(); 3].map(|()| bench.device.zeros::<f32>(LEN).unwrap());
        for (stream, target) in bench.streams.iter().zip(&mut targets) {
            target.copy_from_async(stream, &source).unwrap();
        }
        // The copies read, and so does this.
        assert_eq!(source.as_slice().unwrap(), [1.0; LEN]);
        source.as_mut_slice().unwrap().fill(2.0);
        for target in &targets {
            assert_eq!(target.download().unwrap(), [1.0; LEN]);
        }
    });
}

#[test]
fn the_host_reads_after_the_copy_that_writes() {
    clean_child("the_host_reads_after_the_copy_that_writes", &LAZY, || {
        let mut bench = Bench::new();
        let x = bench.device.upload(&[1.0f32; LEN]).unwrap();
        let mut target = bench.pinned(0.0);
        for (index, stream) in bench.streams.iter().enumerate() {
            bench.kernels.saxpy(stream, Launch::linear(LEN), 1.0, &x, &mut bench.y).unwrap();
            bench.y.copy_to_async(stream, &mut target).unwrap();
            let value = index as f32 + 1.0;
            assert_eq!(target.as_slice().unwrap(), [value; LEN]);
            assert_eq!(target.as_mut_slice().unwrap(), [value; LEN]);
        }
    });
}

/// Only the default stream was ever used, whose accesses are recorded when somebody waits.
#[test]
fn the_default_stream_alone_is_waited_for() {
    clean_child("the_default_stream_alone_is_waited_for", &LAZY, || {
        let device = Device::cuda(0).unwrap();
        let (mut source, mut target) =
            (device.pinned_from(&[1u8; 5]).unwrap(), device.pinned_zeros::<u8>(5).unwrap());
        let mut buffer = device.zeros::<u8>(5).unwrap();
        buffer.copy_from_async(&device.stream(), &source).unwrap();
        source.as_mut_slice().unwrap().fill(2);
        buffer.copy_to_async(&device.stream(), &mut target).unwrap();
        assert_eq!(target.as_slice().unwrap(), [1; 5]);
    });
}

/// A copy to pinned memory on a stream, and one from it on another, in both orders.
#[test]
fn copies_on_several_streams_are_in_order() {
    clean_child("copies_on_several_streams_are_in_order", &LAZY, || {
        let bench = Bench::new();
        let [first, second, third] = &bench.streams;
        let mut pinned = bench.pinned(0.0);
        let (ones, twos) = (
            bench.device.upload(&[1.0f32; LEN]).unwrap(),
            bench.device.upload(&[2.0f32; LEN]).unwrap(),
        );
        let mut copies = [(); 2].map(|()| bench.device.zeros::<f32>(LEN).unwrap());
        ones.copy_to_async(second, &mut pinned).unwrap();
        copies[0].copy_from_async(third, &pinned).unwrap();
        twos.copy_to_async(first, &mut pinned).unwrap();
        copies[1].copy_from_async(second, &pinned).unwrap();
        assert_eq!(copies[1].download().unwrap(), [2.0; LEN]);
        assert_eq!(copies[0].download().unwrap(), [1.0; LEN]);
    });
}

#[test]
fn parts_of_buffers_are_copied() {
    clean_child("parts_of_buffers_are_copied", &LAZY, || {
        let mut bench = Bench::new();
        let (source, mut target) =
            (bench.device.pinned_from(&[5.0f32; 3]).unwrap(), bench.pinned(9.0));
        let stream = &bench.streams[1];
        bench.y.slice_mut(2..5).copy_from_async(stream, &source).unwrap();
        bench.y.copy_to_async(stream, &mut target).unwrap();
        assert_eq!(target.as_slice().unwrap(), [0.0, 0.0, 5.0, 5.0, 5.0, 0.0, 0.0, 0.0]);
        let mut part = bench.device.pinned_zeros::<f32>(2).unwrap();
        bench.y.slice(4..6).copy_to_async(stream, &mut part).unwrap();
        assert_eq!(part.as_slice().unwrap(), [5.0, 0.0]);
    });
}

#[test]
fn buffers_are_copied_in_the_order_of_their_uses() {
    clean_child("buffers_are_copied_in_the_order_of_their_uses", &LAZY, || {
        let mut bench = Bench::new();
        let [first, second, third] = &bench.streams;
        let mut x = bench.device.upload(&[1.0f32; LEN]).unwrap();
        let mut copy = bench.device.zeros::<f32>(LEN).unwrap();
        bench.kernels.saxpy(second, Launch::linear(LEN), 2.0, &x, &mut bench.y).unwrap();
        copy.copy_from_buffer(third, &bench.y.slice(..)).unwrap();
        bench.kernels.saxpy(second, Launch::linear(LEN), 2.0, &x, &mut bench.y).unwrap();
        x.slice_mut(2..4).copy_from_buffer(first, &copy.slice(..2)).unwrap();
        assert_eq!(x.download().unwrap(), [1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(copy.download().unwrap(), [2.0; LEN]);
        assert_eq!(bench.y.download().unwrap(), [4.0; LEN]);
        let error = x.copy_from_buffer(first, &copy.slice(1..)).unwrap_err();
        let text =
            "copy_from_buffer: the destination buffer has 8 elements, the source buffer has 7";
        assert_eq!(error.to_string(), text);
        x.slice_mut(3..3).copy_from_buffer(first, &copy.slice(8..)).unwrap();
        let host = Device::cpu().unwrap();
        let foreign = host.zeros::<f32>(LEN).unwrap();
        let error = x.copy_from_buffer(&host.stream(), &copy.slice(..)).unwrap_err();
        assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
        // Through the host, after the launches that are queued, and before those that come.
        x.copy_from_buffer(first, &foreign.slice(..)).unwrap();
        assert_eq!(x.download().unwrap(), [0.0; LEN]);
    });
}

#[test]
fn buffers_are_filled_in_the_order_of_their_uses() {
    clean_child("buffers_are_filled_in_the_order_of_their_uses", &LAZY, || {
        let mut bench = Bench::new();
        let [first, second, third] = &bench.streams;
        let mut x = bench.device.upload(&[1.0f32; LEN]).unwrap();
        bench.kernels.saxpy(second, Launch::linear(LEN), 2.0, &x, &mut bench.y).unwrap();
        x.fill(third, 3.0).unwrap();
        bench.kernels.saxpy(second, Launch::linear(LEN), 1.0, &x, &mut bench.y).unwrap();
        x.slice_mut(2..4).fill_zeros(first).unwrap();
        x.slice_mut(4..4).fill(first, 9.0).unwrap();
        assert_eq!(x.download().unwrap(), [3.0, 3.0, 0.0, 0.0, 3.0, 3.0, 3.0, 3.0]);
        assert_eq!(bench.y.download().unwrap(), [5.0; LEN]);
        let host = Device::cpu().unwrap();
        for filled in [x.fill(&host.stream(), 1.0), x.fill_zeros(&host.stream())] {
            assert!(matches!(filled, Err(Error::WrongDevice { .. })), "{filled:?}");
        }
    });
}

/// The driver reports memory that is used after it was freed.
#[test]
fn pinned_memory_is_freed_after_its_copies() {
    clean_child("pinned_memory_is_freed_after_its_copies", &LAZY, || {
        let mut bench = Bench::new();
        for index in 0..3 {
            let source = bench.pinned(index as f32);
            bench.y.copy_from_async(&bench.streams[index], &source).unwrap();
            drop(source);
            let mut target = bench.pinned(9.0);
            bench.y.copy_to_async(&bench.streams[index], &mut target).unwrap();
            drop(target);
            assert_eq!(bench.y.download().unwrap(), [index as f32; LEN]);
        }
    });
}

/// Nothing is checked for leaks.
#[test]
fn everything_can_be_leaked() {
    let child = run_child("everything_can_be_leaked", &LAZY, || {
        let mut bench = Bench::new();
        let stream = bench.device.new_stream().unwrap();
        let gate = Gate::on(cuda_stream(&stream));
        let (source, mut target) = (bench.pinned(3.0), bench.pinned(0.0));
        bench.y.copy_from_async(&stream, &source).unwrap();
        bench.y.copy_to_async(&stream, &mut target).unwrap();
        mem::forget((source, target));
        mem::forget(stream);
        gate.open();
        assert_eq!(bench.y.download().unwrap(), [3.0; LEN]);
    });
    child.expect_success();
}

#[test]
fn a_panic_is_reported_with_what_was_copied() {
    clean_child("a_panic_is_reported_with_what_was_copied", &[], || {
        let mut bench = Bench::new();
        let (x, launch) = (bench.device.zeros::<f32>(1).unwrap(), Launch::grid([1], [LEN as u32]));
        let mut target = bench.pinned(1.0);
        bench.kernels.saxpy(&bench.streams[1], launch, 1.0, &x, &mut bench.y).unwrap();
        assert_eq!(target.as_slice().unwrap(), [1.0; LEN], "there was no copy");
        bench.y.copy_to_async(&bench.streams[1], &mut target).unwrap();
        assert!(matches!(target.as_slice(), Err(Error::KernelPanic(_))));
        target.as_slice().unwrap();
        bench.device.synchronize().unwrap();
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    let two = [("FAKE_CUDA_DEVICES", "2")];
    fake_child("what_does_not_fit_is_refused", &two, || {
        let mut bench = Bench::new();
        let other = Device::cuda(1).unwrap();
        let [_, stream, _] = bench.streams.clone();
        let mut own = bench.pinned(0.0);
        let mut foreign = other.pinned_zeros::<f32>(LEN).unwrap();
        let wrong = |result: Result<()>| {
            assert!(matches!(result, Err(Error::WrongDevice { .. })), "{result:?}");
        };
        wrong(bench.y.copy_to_async(&stream, &mut foreign));
        wrong(bench.y.copy_from_async(&stream, &foreign));
        wrong(bench.y.copy_to_async(&other.stream(), &mut own));
        wrong(bench.y.copy_from_async(&other.stream(), &own));
        let error = bench.y.slice(1..).copy_to_async(&stream, &mut own).unwrap_err();
        assert_eq!(
            error.to_string(),
            "copy_to_async: the buffer has 7 elements, the host slice has 8"
        );
        let error = bench.y.slice_mut(1..).copy_from_async(&stream, &own).unwrap_err();
        assert!(error.to_string().starts_with("copy_from_async: the buffer has 7 elements"));
        let cuda = cuda_stream(&stream);
        cuda.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL).unwrap();
        let to = bench.y.copy_to_async(&stream, &mut own);
        assert!(matches!(to, Err(Error::Capturing { .. })), "{to:?}");
        let from = bench.y.copy_from_async(&stream, &own);
        assert!(matches!(from, Err(Error::Capturing { .. })), "{from:?}");
        drop(cuda.end_capture(CUgraphInstantiate_flags(0)).unwrap());
        let (mut none, mut empty) =
            (bench.device.zeros::<f32>(0).unwrap(), bench.device.pinned_zeros(0).unwrap());
        none.copy_from_async(&stream, &empty).unwrap();
        none.copy_to_async(&stream, &mut empty).unwrap();
        assert!(empty.is_empty() && empty.as_mut_slice().unwrap().is_empty());
    });
}
