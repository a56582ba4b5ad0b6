//! Panics of launches on several streams: whoever waits for a stream is told of its own launches.

use cuda_backend::{Gate, Kernels, clean_child, cuda_stream};
use kernelmill::{Buffer, Device, Error, Launch, Result, Stream};

const LEN: usize = 8;

/// Two streams of a device, a buffer for each, and what both read.
struct Bench {
    x: Buffer<f32>,
    y: [Buffer<f32>; 2],
    kernels: Kernels,
    streams: [Stream; 2],
    device: Device,
}

impl Bench {
    fn new() -> Self {
        let device = Device::cuda(0).unwrap();
        Self {
            x: device.upload(&[1.0; LEN]).unwrap(),
            y: [(); 2].map(|()| device.zeros(LEN).unwrap()),
            kernels: Kernels::load(&device).unwrap(),
            streams: [(); 2].map(|()| device.new_stream().unwrap()),
            device,
        }
    }

    /// Launches on a stream; the threads from `len` on panic.
    fn launch(&mut self, stream: usize, len: usize) {
        let launch = Launch::grid([1], [LEN as u32]);
        let (x, y) = (self.x.slice(..len), &mut self.y[stream]);
        self.kernels.saxpy(&self.streams[stream], launch, 1.0, &x, y).unwrap();
    }

    /// Waits for all launches without asking for panics.
    fn wait(&self) {
        cuda_stream(&self.streams[0]).context().synchronize().unwrap();
    }
}

/// The length that the kernel says was too short.
#[track_caller]
fn length<T>(result: Result<T>) -> usize {
    match result {
        Err(Error::KernelPanic(panic)) => {
            let text = panic.to_string();
            let rest = text.split("the len is ").nth(1).unwrap_or_else(|| panic!("{text}"));
            rest.split(' ').next().unwrap().parse().unwrap()
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it has not panicked"),
    }
}

#[test]
fn a_stream_is_not_told_of_the_panic_of_another() {
    clean_child("a_stream_is_not_told_of_the_panic_of_another", &[], || {
        let mut bench = Bench::new();
        bench.launch(0, 3);
        bench.launch(1, LEN);
        bench.wait();
        bench.streams[1].synchronize().unwrap();
        assert_eq!(length(bench.streams[0].synchronize()), 3);
        bench.streams[0].synchronize().unwrap();
    });
}

/// Acceptance: S0.8.
#[test]
fn panics_on_two_streams_are_both_reported() {
    clean_child("panics_on_two_streams_are_both_reported", &[], || {
        let mut bench = Bench::new();
        for round in [1, 3] {
            bench.launch(0, round);
            bench.launch(1, round + 1);
            bench.wait();
            assert_eq!(length(bench.streams[1].synchronize()), round + 1);
            assert_eq!(length(bench.streams[0].synchronize()), round);
            bench.device.synchronize().unwrap();
        }
    });
}

#[test]
fn a_panic_of_a_stream_that_is_gone_is_reported_by_the_device() {
    clean_child("a_panic_of_a_stream_that_is_gone_is_reported_by_the_device", &[], || {
        let mut bench = Bench::new();
        bench.launch(0, 2);
        bench.streams[0] = bench.device.new_stream().unwrap();
        bench.launch(0, LEN);
        bench.streams[0].synchronize().unwrap();
        assert_eq!(length(bench.device.synchronize()), 2);
        bench.device.synchronize().unwrap();
        bench.launch(0, 5);
        assert_eq!(length(bench.streams[0].synchronize()), 5);
    });
}

/// The record of a stream is read while a later launch on it waits at a gate, and once more after it.
#[test]
fn a_download_does_not_lose_the_panic_of_a_later_launch() {
    clean_child("a_download_does_not_lose_the_panic_of_a_later_launch", &[], || {
        let mut bench = Bench::new();
        bench.launch(0, 2);
        let [first, _] = &bench.y;
        assert_eq!(length(first.download()), 2);
        bench.launch(0, 3);
        let cuda = cuda_stream(&bench.streams[1]).clone();
        let gate = Gate::on(&cuda);
        bench.launch(1, 4);
        assert_eq!(length(bench.y[0].download()), 3);
        gate.open();
        assert_eq!(length(bench.streams[1].synchronize()), 4);
        bench.device.synchronize().unwrap();
    });
}

/// Streams that are dropped without anybody asking give their records back.
#[test]
fn many_streams_share_records() {
    clean_child("many_streams_share_records", &[], || {
        let mut bench = Bench::new();
        bench.launch(0, 7);
        for _ in 0..2100 {
            bench.streams[0] = bench.device.new_stream().unwrap();
            bench.launch(0, LEN);
        }
        assert_eq!(length(bench.device.synchronize()), 7);
        bench.device.synchronize().unwrap();
    });
}
