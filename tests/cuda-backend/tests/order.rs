//! Work on several streams sees memory in the order in which the program used it. The driver does
//! the work of a stream only when something waits for it, so what is not ordered comes too late.

use cuda_backend::{Gate, Kernels, adopt, clean_child, copy, cuda_stream, cudarc, fake_child};
use cudarc::driver::CudaContext;
use kernelmill::{__codegen as cg, Buffer, Device, Launch, Stream};

const LAZY: [(&str, &str); 1] = [("FAKE_CUDA_STREAMS", "lazy")];

const LEN: usize = 8;

/// A device with its kernel, two streams, and `x`: all ones.
struct Bench {
    x: Buffer<f32>,
    streams: [Stream; 2],
    kernels: Kernels,
    device: Device,
}

impl Bench {
    fn new() -> Self {
        let device = Device::cuda(0).unwrap();
        Self {
            x: device.upload(&[1.0; LEN]).unwrap(),
            streams: [device.new_stream().unwrap(), device.new_stream().unwrap()],
            kernels: Kernels::load(&device).unwrap(),
            device,
        }
    }

    fn zeros(&self) -> Buffer<f32> {
        self.device.zeros(LEN).unwrap()
    }

    /// Lets a stream read `x`, and gives what it reads.
    fn read(&self, stream: &Stream) -> Buffer<f32> {
        let mut seen = self.zeros();
        self.kernels.saxpy(stream, Launch::linear(LEN), 1.0, &self.x, &mut seen).unwrap();
        seen
    }
}

#[track_caller]
fn assert_all(seen: &Buffer<f32>, value: f32) {
    assert_eq!(seen.download().unwrap(), [value; LEN]);
}

/// The report: a kernel reads on a stream, the host downloads, then it copies other elements there.
#[test]
fn a_copy_waits_for_all_readers() {
    clean_child("a_copy_waits_for_all_readers", &LAZY, || {
        let mut bench = Bench::new();
        let seen = bench.read(&bench.streams[0]);
        assert_all(&bench.x, 1.0);
        bench.x.copy_from(&[5.0; LEN]).unwrap();
        assert_all(&seen, 1.0);
    });
}

/// The default stream has read it before the copy too, when it was the only stream.
#[test]
fn a_stream_that_is_used_later_waits_for_what_was_read_after_a_copy() {
    let name = "a_stream_that_is_used_later_waits_for_what_was_read_after_a_copy";
    clean_child(name, &LAZY, || {
        let context = CudaContext::new(0).unwrap();
        let device = Device::from_cuda_context(&context).unwrap();
        // Made before, as the first stream that is made waits for the default one.
        let theirs = context.new_stream().unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let tens = device.upload(&[10.0; LEN]).unwrap();
        let mut x = device.upload(&[1.0; LEN]).unwrap();
        let mut seen = device.zeros(LEN).unwrap();
        let read = |x: &Buffer<f32>, seen: &mut Buffer<f32>| {
            kernels.saxpy(&device.stream(), Launch::linear(LEN), 1.0, x, seen).unwrap();
        };
        read(&x, &mut seen);
        x.copy_from(&[2.0; LEN]).unwrap();
        read(&x, &mut seen);
        let later = adopt(&device, &theirs).unwrap();
        x.copy_from_buffer(&later, &tens.slice(..)).unwrap();
        later.synchronize().unwrap();
        assert_all(&seen, 3.0);
        assert_all(&x, 10.0);
    });
}

#[test]
fn a_launch_that_writes_waits_for_all_readers() {
    clean_child("a_launch_that_writes_waits_for_all_readers", &LAZY, || {
        let mut bench = Bench::new();
        let other = bench.device.new_stream().unwrap();
        let seen = [0, 1, 0].map(|index| bench.read(&bench.streams[index]));
        let ones = bench.device.upload(&[1.0; LEN]).unwrap();
        bench.kernels.saxpy(&other, Launch::linear(LEN), 4.0, &ones, &mut bench.x).unwrap();
        other.synchronize().unwrap();
        assert_all(&bench.x, 5.0);
        seen.iter().for_each(|seen| assert_all(seen, 1.0));
    });
}

/// More readers than are kept apart.
#[test]
fn a_write_waits_for_many_readers_whose_streams_are_gone() {
    clean_child("a_write_waits_for_many_readers_whose_streams_are_gone", &LAZY, || {
        let mut bench = Bench::new();
        let read = |_| bench.read(&bench.device.new_stream().unwrap());
        let seen: Vec<_> = (0..100).map(read).collect();
        bench.x.copy_from(&[5.0; LEN]).unwrap();
        seen.iter().for_each(|seen| assert_all(seen, 1.0));
    });
}

/// Of so many readers that one has to wait for another, the first is held up longest.
#[test]
fn a_write_waits_for_the_first_of_many_readers() {
    clean_child("a_write_waits_for_the_first_of_many_readers", &[], || {
        let mut bench = Bench::new();
        let context = CudaContext::new(0).unwrap();
        let streams: Vec<_> = (0..20).map(|_| context.new_stream().unwrap()).collect();
        let writer = context.new_stream().unwrap();
        let gates: Vec<_> = streams[..16].iter().map(|stream| Gate::on(stream)).collect();
        let read = |stream| {
            let mut seen = bench.zeros();
            let stream = adopt(&bench.device, stream).unwrap();
            bench.kernels.saxpy(&stream, Launch::linear(LEN), 1.0, &bench.x, &mut seen).unwrap();
            seen
        };
        let seen: Vec<_> = streams.iter().map(read).collect();
        let ones = bench.device.upload(&[1.0; LEN]).unwrap();
        let on = adopt(&bench.device, &writer).unwrap();
        bench.kernels.saxpy(&on, Launch::linear(LEN), 4.0, &ones, &mut bench.x).unwrap();
        let written = writer.record_event(None).unwrap();
        gates[1..].iter().for_each(Gate::open);
        // Time for the write, if nothing held it up.
        for _ in 0..500 {
            bench.streams[1].synchronize().unwrap();
            assert!(!written.is_complete(), "the write has not waited for the first reader");
            std::thread::yield_now();
        }
        gates[0].open();
        seen.iter().for_each(|seen| assert_all(seen, 1.0));
        assert_all(&bench.x, 5.0);
    });
}

#[test]
fn memory_is_freed_after_all_readers() {
    clean_child("memory_is_freed_after_all_readers", &LAZY, || {
        let bench = Bench::new();
        let seen = [0, 1].map(|index| bench.read(&bench.streams[index]));
        let Bench { x, streams, kernels, device } = bench;
        drop(x);
        // Waits for the default stream, which frees the memory.
        let other = device.upload(&[7.0; LEN]).unwrap();
        device.stream().synchronize().unwrap();
        seen.iter().for_each(|seen| assert_all(seen, 1.0));
        assert_all(&other, 7.0);
        streams.iter().for_each(|stream| stream.synchronize().unwrap());
        drop(kernels);
    });
}

#[test]
fn readers_and_writers_take_turns() {
    clean_child("readers_and_writers_take_turns", &LAZY, || {
        let mut bench = Bench::new();
        let ones = bench.device.upload(&[1.0; LEN]).unwrap();
        let mut seen = Vec::new();
        for round in 0..6 {
            seen.extend([0, 1].map(|index| (round, bench.read(&bench.streams[index]))));
            let writer = match round % 3 {
                0 => bench.device.stream(),
                index => bench.streams[index - 1].clone(),
            };
            let (kernels, x) = (&bench.kernels, &mut bench.x);
            kernels.saxpy(&writer, Launch::linear(LEN), 1.0, &ones, x).unwrap();
        }
        assert_all(&bench.x, 7.0);
        seen.iter().rev().for_each(|(round, seen)| assert_all(seen, 1.0 + *round as f32));
    });
}

/// Readers on different streams run beside each other: one does not wait for another.
#[test]
fn readers_do_not_wait_for_each_other() {
    fake_child("readers_do_not_wait_for_each_other", &LAZY, || {
        let bench = Bench::new();
        bench.streams.iter().for_each(|stream| stream.synchronize().unwrap());
        let first = cuda_stream(&bench.streams[0]);
        let _seen = [0, 1, 0, 1].map(|index| bench.read(&bench.streams[index]));
        let done = first.record_event(None).unwrap();
        bench.streams[1].synchronize().unwrap();
        // Asked for the first time, so nothing but the other stream can have brought it about.
        assert!(!done.is_complete(), "the second stream has waited for the first");
        bench.streams[0].synchronize().unwrap();
    });
}

/// What used the default stream alone is ordered before a stream that comes later.
#[test]
fn work_from_before_the_first_stream_is_ordered() {
    clean_child("work_from_before_the_first_stream_is_ordered", &LAZY, || {
        let context = CudaContext::new(0).unwrap();
        // Made by cudarc, which waits for everything then: this crate sees it when it is used.
        let stream = context.new_stream().unwrap();
        let device = Device::from_cuda_context(&context).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let (x, mut y) = (device.upload(&[1.0; LEN]).unwrap(), device.zeros(LEN).unwrap());
        let mut z = device.upload(&[0.0; LEN]).unwrap();
        kernels.saxpy(&device.stream(), Launch::linear(LEN), 1.0, &x, &mut y).unwrap();
        let stream = adopt(&device, &stream).unwrap();
        kernels.saxpy(&stream, Launch::linear(LEN), 3.0, &y, &mut z).unwrap();
        stream.synchronize().unwrap();
        assert_all(&z, 3.0);
        kernels.saxpy(&stream, Launch::linear(LEN), 1.0, &x, &mut y).unwrap();
        kernels.saxpy(&device.stream(), Launch::linear(LEN), 1.0, &x, &mut y).unwrap();
        assert_all(&y, 3.0);
    });
}

/// A read of the default stream is not recorded while there is no other stream.
#[test]
fn reads_from_before_the_first_stream_are_ordered() {
    clean_child("reads_from_before_the_first_stream_are_ordered", &LAZY, || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        let device = Device::from_cuda_context(&context).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let [ones, mut x] = [1.0, 0.0].map(|all| device.upload(&[all; LEN]).unwrap());
        let mut seen = device.zeros(LEN).unwrap();
        kernels.saxpy(&device.stream(), Launch::linear(LEN), 1.0, &x, &mut seen).unwrap();
        let stream = adopt(&device, &stream).unwrap();
        kernels.saxpy(&stream, Launch::linear(LEN), 4.0, &ones, &mut x).unwrap();
        stream.synchronize().unwrap();
        assert_all(&x, 4.0);
        assert_all(&seen, 0.0);
    });
}

/// A thread may be about to queue such a read when another uses the first stream, and records a read of its own.
#[test]
fn a_read_that_is_queued_after_a_recorded_one_is_ordered() {
    clean_child("a_read_that_is_queued_after_a_recorded_one_is_ordered", &LAZY, || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        let device = Device::from_cuda_context(&context).unwrap();
        let loaded = cg::Loaded::new(&device, copy(1)).unwrap();
        let [ones, mut x] = [1.0, 0.0].map(|all| device.upload(&[all; LEN]).unwrap());
        let mut seen = [(); 2].map(|()| device.zeros::<f32>(LEN).unwrap());
        let (default, other) = (device.stream(), adopt(&device, &stream).unwrap());
        let launch = |stream: &Stream, a: f32, x: &cg::Held<'_, f32>, y: &cg::Held<'_, f32>| {
            let arguments =
                [cg::Argument::value(&a), cg::Argument::slice(x), cg::Argument::slice(y)];
            // SAFETY: these are the arguments of `saxpy`.
            unsafe { cg::launch(&loaded, 0, cg::stream(stream), Launch::linear(LEN), &arguments) }
                .unwrap();
        };
        let saxpy = |stream: &Stream, a: f32, x: &Buffer<f32>, y: &mut Buffer<f32>| {
            let on = cg::stream(stream);
            launch(stream, a, &cg::read(x, on).unwrap(), &cg::write(y, on).unwrap());
        };
        let early = cg::read(&x, cg::stream(&default)).unwrap();
        saxpy(&other, 1.0, &ones, &mut device.zeros(LEN).unwrap());
        let [first, last] = &mut seen;
        saxpy(&default, 1.0, &x, first);
        launch(&default, 1.0, &early, &cg::write(last, cg::stream(&default)).unwrap());
        drop(early);
        saxpy(&other, 4.0, &ones, &mut x);
        other.synchronize().unwrap();
        assert_all(&x, 4.0);
        seen.iter().for_each(|seen| assert_all(seen, 0.0));
    });
}

/// Slices of cudarc's, whose last reader is all that cudarc keeps.
#[test]
fn slices_of_cudarc_are_written_after_all_readers_in_launches() {
    clean_child("slices_of_cudarc_are_written_after_all_readers_in_launches", &LAZY, || {
        let context = CudaContext::new(0).unwrap();
        let device = Device::from_cuda_context(&context).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let streams = [(); 2].map(|()| context.new_stream().unwrap());
        let mut x = streams[0].clone_htod(&[1.0f32; LEN]).unwrap();
        let mut seen = [(); 2].map(|()| device.zeros::<f32>(LEN).unwrap());
        for (stream, seen) in streams.iter().zip(&mut seen) {
            let stream = adopt(&device, stream).unwrap();
            kernels.saxpy(&stream, Launch::linear(LEN), 1.0, cudarc(&x), seen).unwrap();
        }
        streams[1].memcpy_htod(&[5.0; LEN], &mut x).unwrap();
        streams[1].synchronize().unwrap();
        seen.iter().for_each(|seen| assert_all(seen, 1.0));
    });
}

/// Two contexts of cudarc's that are one of the driver's.
#[test]
fn streams_of_another_cuda_context_are_ordered() {
    clean_child("streams_of_another_cuda_context_are_ordered", &LAZY, || {
        let bench = Bench::new();
        let context = CudaContext::new(0).unwrap();
        let stream = adopt(&bench.device, &context.new_stream().unwrap()).unwrap();
        let mut seen = [bench.zeros(), bench.zeros()];
        for seen in &mut seen {
            bench.kernels.saxpy(&stream, Launch::linear(LEN), 1.0, &bench.x, seen).unwrap();
            bench.read(&bench.streams[0]);
        }
        let Bench { mut x, streams, kernels, device } = bench;
        x.copy_from(&[5.0; LEN]).unwrap();
        seen.iter().for_each(|seen| assert_all(seen, 1.0));
        drop((x, streams, kernels, device));
    });
}
