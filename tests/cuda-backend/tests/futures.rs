//! Futures of events and streams, on an executor of ten lines.

use std::{
    future::{Future, IntoFuture},
    mem,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    thread,
    time::Duration,
};

use cuda_backend::{Gate, Kernels, Wakes, block_on, clean_child, cuda_stream, run_child};
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use kernelmill::{Backend, Buffer, Device, Error, Launch, Result, Stream};

const LEN: usize = 8;

/// A device with its kernel, a stream, and buffers.
struct Bench {
    x: Buffer<f32>,
    y: Buffer<f32>,
    kernels: Kernels,
    stream: Stream,
    device: Device,
}

impl Bench {
    fn new() -> Self {
        let device = Device::cuda(0).unwrap();
        Self {
            x: device.upload(&[1.0; LEN]).unwrap(),
            y: device.zeros(LEN).unwrap(),
            kernels: Kernels::load(&device).unwrap(),
            stream: device.new_stream().unwrap(),
            device,
        }
    }

    /// Launches; the threads from `len` on panic.
    fn launch(&mut self, len: usize) {
        let launch = Launch::grid([1], [LEN as u32]);
        self.kernels.saxpy(&self.stream, launch, 1.0, &self.x.slice(..len), &mut self.y).unwrap();
    }

    /// Makes the stream wait at a gate.
    fn gate(&self) -> Gate {
        Gate::on(cuda_stream(&self.stream))
    }
}

/// A waker that counts.
fn waker() -> (Arc<Wakes>, Waker) {
    let wakes = Arc::<Wakes>::default();
    (Arc::clone(&wakes), Waker::from(wakes))
}

#[test]
fn a_task_sleeps_until_the_event_is_complete() {
    clean_child("a_task_sleeps_until_the_event_is_complete", &[], || {
        let mut bench = Bench::new();
        let gate = bench.gate();
        bench.launch(LEN);
        let event = bench.stream.record().unwrap();
        let [(first, of_first), (second, of_second)] = [(); 2].map(|()| waker());
        let mut future = pin!((&event).into_future());
        for waker in [&of_first, &of_first, &of_second] {
            assert!(future.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
        }
        assert_eq!((first.count(), second.count()), (0, 0));
        gate.open();
        block_on(future).unwrap();
        assert!(event.is_complete().unwrap());
        assert_eq!(first.count(), 0, "another waker had taken its place");
    });
}

#[test]
fn a_stream_is_awaited_with_what_went_wrong_on_it() {
    clean_child("a_stream_is_awaited_with_what_went_wrong_on_it", &[], || {
        let mut bench = Bench::new();
        block_on(&bench.stream).unwrap();
        bench.launch(LEN - 1);
        block_on(bench.stream.record().unwrap()).unwrap();
        let panic = block_on(&bench.stream);
        assert!(matches!(panic, Err(Error::KernelPanic(_))), "{panic:?}");
        block_on(&bench.stream).unwrap();
        bench.launch(LEN);
        block_on(async {
            (&bench.stream).await?;
            bench.stream.record()?.await
        })
        .unwrap();
    });
}

#[test]
fn a_download_is_awaited_and_has_its_own_memory() {
    clean_child("a_download_is_awaited_and_has_its_own_memory", &[], || {
        let mut bench = Bench::new();
        let gate = bench.gate();
        bench.launch(LEN);
        let mut all = pin!(bench.y.download_async(&bench.stream).unwrap());
        let part = bench.y.slice(2..4).download_async(&bench.stream).unwrap();
        let poll = all.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll.is_pending());
        // What is launched later does not change it, and the buffer can be gone.
        bench.launch(LEN);
        let last = bench.y.download_async(&bench.stream).unwrap();
        drop(mem::replace(&mut bench.y, bench.device.zeros(LEN).unwrap()));
        gate.open();
        assert_eq!(block_on(all).unwrap(), [1.0; LEN]);
        assert_eq!(block_on(last).unwrap(), [2.0; LEN]);
        assert_eq!(block_on(part).unwrap(), [1.0; 2]);
        bench.launch(LEN - 1);
        drop(bench.y.download_async(&bench.stream).unwrap());
        assert!(matches!(
            block_on(bench.y.download_async(&bench.stream).unwrap()),
            Err(Error::KernelPanic(_))
        ));
        let none = bench.device.zeros::<f32>(0).unwrap();
        assert!(block_on(none.download_async(&bench.stream).unwrap()).unwrap().is_empty());
    });
}

/// Nothing but the default stream was ever used, whose accesses of device memory are not recorded then.
#[test]
fn a_download_does_not_wait_for_what_is_behind_it() {
    clean_child("a_download_does_not_wait_for_what_is_behind_it", &[], || {
        let device = Device::cuda(0).unwrap();
        let (mut buffer, mut source) =
            (device.zeros::<u8>(2).unwrap(), device.pinned_from(&[1, 2]).unwrap());
        buffer.copy_from_async(&device.stream(), &source).unwrap();
        let download = buffer.download_async(&device.stream()).unwrap();
        let gate = Gate::on(cuda_stream(&device.stream()));
        assert_eq!(block_on(download).unwrap(), [1, 2]);
        source.as_mut_slice().unwrap().fill(3);
        gate.open();
    });
}

/// Each of many waits has a thread, so that none waits for another.
#[test]
fn waits_do_not_wait_for_each_other() {
    clean_child("waits_do_not_wait_for_each_other", &[], || {
        let device = Device::cuda(0).unwrap();
        let streams = [(); 8].map(|()| device.new_stream().unwrap());
        let gates = streams.each_ref().map(|stream| Gate::on(cuda_stream(stream)));
        let mut futures = streams.each_ref().map(|stream| Box::pin(stream.into_future()));
        for future in &mut futures {
            assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        for (future, gate) in futures.into_iter().zip(gates).rev() {
            gate.open();
            block_on(future).unwrap();
        }
    });
}

/// Nothing is checked for leaks: a thread still waits when the process ends.
#[test]
fn futures_can_be_dropped_and_leaked() {
    let child = run_child("futures_can_be_dropped_and_leaked", &[], || {
        let bench = Bench::new();
        let gate = bench.gate();
        let (wakes, waker) = waker();
        let mut futures = [(); 3].map(|()| Box::pin((&bench.stream).into_future()));
        for (future, waker) in futures.iter_mut().zip([&waker, Waker::noop(), Waker::noop()]) {
            assert!(future.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
        }
        let [dropped, forgotten, awaited] = futures;
        drop(dropped);
        mem::forget(forgotten);
        // Never polled.
        drop((&bench.stream).into_future());
        gate.open();
        block_on(awaited).unwrap();
        assert_eq!(wakes.count(), 0, "the future that was dropped wakes nobody");
    });
    child.expect_success();
}

#[test]
#[should_panic(expected = "a future was polled after it was ready")]
fn a_future_is_ready_once() {
    let stream = Device::cpu().unwrap().stream();
    let mut future = pin!(stream.into_future());
    let mut poll = || future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(poll(), Poll::Ready(Ok(()))));
    let _ = poll();
}

#[test]
fn a_stream_that_is_captured_is_not_awaited() {
    clean_child("a_stream_that_is_captured_is_not_awaited", &[], || {
        let bench = Bench::new();
        let cuda = Arc::clone(cuda_stream(&bench.stream));
        cuda.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL).unwrap();
        assert!(matches!(block_on(&bench.stream), Err(Error::Capturing { .. })));
        drop(cuda.end_capture(CUgraphInstantiate_flags(0)).unwrap());
        block_on(&bench.stream).unwrap();
    });
}

/// Futures go to other threads.
#[test]
fn futures_are_sent() {
    fn sent<T: Send + Sync + Unpin>(_: T) {}
    let stream = Device::cpu().unwrap().stream();
    sent(stream.record().unwrap().into_future());
    let buffer = stream.device().zeros::<f32>(1).unwrap();
    sent(buffer.download_async(&stream).unwrap());
    sent(stream.into_future());
}

/// No address space for the stack of a thread, as `RLIMIT_NPROC` would have it for users that are not root.
#[test]
#[cfg(target_os = "linux")]
fn without_threads_a_wait_is_an_error() {
    clean_child("without_threads_a_wait_is_an_error", &[], || {
        let bench = Bench::new();
        let gate = bench.gate();
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the limit is this function's own.
        unsafe { assert_eq!(libc::getrlimit(libc::RLIMIT_AS, &raw mut limit), 0) };
        let before = mem::replace(&mut limit.rlim_cur, settled_addresses() + (3 << 19));
        // SAFETY: as above.
        unsafe { assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const limit), 0) };
        let refused: Result<()> = block_on(&bench.stream);
        limit.rlim_cur = before;
        // SAFETY: as above.
        unsafe { assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const limit), 0) };
        let Err(Error::Unavailable { backend: Backend::Cuda, reason }) = refused else {
            panic!("{refused:?}")
        };
        assert!(
            reason.starts_with("no thread could be created to wait for an event ("),
            "{reason}"
        );
        gate.open();
        block_on(&bench.stream).unwrap();
    });
}

/// The bytes of address space of this process, once threads that start have the memory for their allocations: each
/// takes more of it for a moment than it keeps, in which a thread would fit.
#[cfg(target_os = "linux")]
fn settled_addresses() -> u64 {
    let mut last = addresses();
    loop {
        thread::sleep(Duration::from_millis(100));
        let now = addresses();
        if now == last {
            return now;
        }
        last = now;
    }
}

/// Bytes of addresses that the process has.
#[cfg(target_os = "linux")]
fn addresses() -> u64 {
    let sizes = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = sizes.split(' ').next().unwrap().parse().unwrap();
    4096 * pages
}
