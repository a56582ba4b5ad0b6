//! The order of launches between streams, and what is dropped while it is in use. What all back ends do alike is in
//! `tests/mixed-sources/src/suite`.

use kernelmill::{Buffer, Device, Launch, Stream, module_cache};
use opencl_backend::{Kernels, clean_child};
use std::future::{Future as _, IntoFuture as _};

/// Rounds of a launch that takes a tenth of a second or so.
const LONG: u32 = 20_000_000;

fn on_pocl(name: &str, body: fn(&Device, &Kernels)) {
    clean_child(name, &[], || {
        let device = Device::opencl(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        body(&device, &kernels);
    });
}

/// What `rounds` steps make of a value.
fn steps(value: u32, rounds: u32) -> u32 {
    (0..rounds).fold(value, |value, _| value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223))
}

/// A launch that takes long, on one work-item.
fn long(kernels: &Kernels, stream: &Stream, value: &mut Buffer<u32>) {
    // SAFETY: there is one element for one work-item.
    unsafe { kernels.steps(stream, Launch::grid([1], [1]), value, LONG) }.unwrap();
}

fn add(kernels: &Kernels, stream: &Stream, values: &mut Buffer<u32>, summand: u32) {
    // SAFETY: there is an element for each work-item.
    unsafe { kernels.add(stream, Launch::grid([values.len() as u32], [1]), values, summand) }
        .unwrap();
}

#[test]
fn launches_are_queued_and_streams_wait_for_each_other() {
    on_pocl("launches_are_queued_and_streams_wait_for_each_other", |device, kernels| {
        let (first, second) = (device.new_stream().unwrap(), device.new_stream().unwrap());
        let mut value = device.upload(&[1_u32]).unwrap();
        // Compiled for this size before time is measured.
        add(kernels, &first, &mut value, 0);
        first.synchronize().unwrap();
        long(kernels, &first, &mut value);
        let event = first.record().unwrap();
        assert!(!event.is_complete().unwrap(), "the launch has not been queued");
        // The same buffer, on another stream, and from the host.
        add(kernels, &second, &mut value, 5);
        assert_eq!(value.download().unwrap(), [steps(1, LONG).wrapping_add(5)]);
        assert!(event.is_complete().unwrap());
        // Different buffers are ordered by an event alone.
        let mut other = device.upload(&[2_u32]).unwrap();
        long(kernels, &first, &mut value);
        let event = first.record().unwrap();
        second.wait(&event).unwrap();
        add(kernels, &second, &mut other, 1);
        second.synchronize().unwrap();
        assert!(event.is_complete().unwrap(), "the second stream has not waited");
        assert_eq!(other.download().unwrap(), [3]);
    });
}

#[test]
fn events_have_times() {
    on_pocl("events_have_times", |device, kernels| {
        let stream = device.new_stream().unwrap();
        let mut value = device.upload(&[1_u32]).unwrap();
        let before = std::time::Instant::now();
        let start = stream.record().unwrap();
        long(kernels, &stream, &mut value);
        let end = stream.record().unwrap();
        let error = end.elapsed_since(&start).unwrap_err();
        assert!(error.to_string().contains("not complete"), "{error}");
        end.synchronize().unwrap();
        let elapsed = end.elapsed_since(&start).unwrap();
        assert!(elapsed.as_millis() > 1 && elapsed <= before.elapsed(), "{elapsed:?}");
        assert!(start.elapsed_since(&end).unwrap().is_zero());
    });
}

/// Memory, streams, events, kernels and the device itself go while a launch uses them.
#[test]
fn what_is_in_use_can_be_dropped() {
    on_pocl("what_is_in_use_can_be_dropped", |device, _| {
        for _ in 0..3 {
            let kernels = Kernels::load(device).unwrap();
            let stream = device.new_stream().unwrap();
            let mut value = device.upload(&[1_u32]).unwrap();
            long(&kernels, &stream, &mut value);
            let event = stream.record().unwrap();
            drop((value, stream, kernels));
            module_cache().release_unused();
            event.synchronize().unwrap();
        }
        // The end of a process with work on its way.
        let kernels = Kernels::load(device).unwrap();
        let mut value = device.upload(&[1_u32]).unwrap();
        long(&kernels, &device.new_stream().unwrap(), &mut value);
    });
}

/// A module with a launch in flight is not unloaded to make room.
#[test]
fn modules_in_flight_stay() {
    clean_child("modules_in_flight_stay", &[], || {
        let device = Device::opencl(0).unwrap();
        let stream = device.new_stream().unwrap();
        let mut value = device.upload(&[1_u32]).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        long(&kernels, &stream, &mut value);
        drop(kernels);
        let loaded = || module_cache().statistics().loaded;
        assert_eq!(loaded(), 2);
        module_cache().set_capacity(0);
        assert_eq!(loaded(), 1);
        stream.synchronize().unwrap();
        assert_eq!(value.download().unwrap(), [steps(1, LONG)]);
        module_cache().release_unused();
        assert_eq!(loaded(), 0);
    });
}

#[test]
fn waits_are_futures() {
    on_pocl("waits_are_futures", |device, kernels| {
        let stream = device.new_stream().unwrap();
        let mut value = device.upload(&[1_u32]).unwrap();
        long(kernels, &stream, &mut value);
        let mut waits = std::pin::pin!((&stream).into_future());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(waits.as_mut().poll(&mut context).is_pending());
        while waits.as_mut().poll(&mut context).is_pending() {
            std::thread::yield_now();
        }
        assert_eq!(value.download().unwrap(), [steps(1, LONG)]);
    });
}
