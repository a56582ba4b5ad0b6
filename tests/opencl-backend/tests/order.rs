//! The order of launches and copies between streams, and what is dropped while it is in use.

use kernelmill::{Buffer, Device, Launch, Stream, module_cache};
use opencl_backend::{Kernels, clean_child};
use std::future::{Future as _, IntoFuture as _};

const LEN: usize = 256;

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

#[test]
fn copies_are_queued_in_order() {
    on_pocl("copies_are_queued_in_order", |device, kernels| {
        let streams = [device.new_stream().unwrap(), device.new_stream().unwrap()];
        let mut x = device.zeros::<u32>(LEN).unwrap();
        let mut source = device.pinned_from(&[3_u32; LEN]).unwrap();
        let mut target = device.pinned_zeros::<u32>(LEN).unwrap();
        x.copy_from_async(&streams[0], &source).unwrap();
        add(kernels, &streams[1], &mut x, 4);
        x.copy_to_async(&streams[0], &mut target).unwrap();
        // Waits for the copy that reads it.
        source.as_mut_slice().unwrap().fill(9);
        assert_eq!(target.as_slice().unwrap(), [7; LEN]);
        let mut copy = device.zeros::<u32>(LEN).unwrap();
        copy.copy_from_buffer(&streams[1], &x.slice(..)).unwrap();
        x.copy_from(&[1; LEN]).unwrap();
        assert_eq!(copy.download().unwrap(), [7; LEN]);
        assert_eq!(x.download().unwrap(), [1; LEN]);
    });
}

#[test]
fn buffers_are_filled_in_the_order_of_their_uses() {
    on_pocl("buffers_are_filled_in_the_order_of_their_uses", |device, kernels| {
        let streams = [device.new_stream().unwrap(), device.new_stream().unwrap()];
        let mut x = device.zeros::<u32>(LEN).unwrap();
        add(kernels, &streams[0], &mut x, 4);
        x.fill(&streams[1], 3).unwrap();
        add(kernels, &streams[0], &mut x, 1);
        x.slice_mut(1..).fill_zeros(&streams[1]).unwrap();
        add(kernels, &streams[0], &mut x, 2);
        let mut expected = [2; LEN];
        expected[0] = 6;
        assert_eq!(x.download().unwrap(), expected);
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

/// Graphs are launches one after the other where the library has none.
#[test]
fn graphs_are_launched() {
    on_pocl("graphs_are_launched", |device, kernels| {
        let builder = device.graph();
        let mut values = builder.add(device.upload(&[1_u32; LEN]).unwrap()).unwrap();
        let launch = Launch::grid([LEN as u32], [1]);
        for summand in [2, 3] {
            // SAFETY: there is an element for each work-item.
            unsafe { kernels.add(&builder, launch, &mut values, summand) }.unwrap();
        }
        let mut graph = builder.instantiate().unwrap();
        for stream in [device.stream(), device.new_stream().unwrap()] {
            graph.launch(&stream).unwrap();
        }
        assert_eq!(graph.slice(&values).unwrap().download().unwrap(), [11; LEN]);
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
