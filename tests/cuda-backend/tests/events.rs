//! Events: other streams and the host wait for them, and they have times. The driver does the work of a stream only
//! when something waits for it, where a test asks for that.

use std::{
    hint,
    time::{Duration, Instant},
};

use cuda_backend::{Gate, Kernels, adopt, clean_child, cuda_stream, fake_child};
use cudarc::driver::CudaContext;
use kernelmill::{Device, Error, Launch, Stream};

const LAZY: [(&str, &str); 1] = [("FAKE_CUDA_STREAMS", "lazy")];

const LEN: usize = 8;

/// Makes a stream wait at a gate.
fn gate(stream: &Stream) -> Gate {
    Gate::on(cuda_stream(stream))
}

#[test]
fn a_stream_waits_for_what_was_before_an_event() {
    fake_child("a_stream_waits_for_what_was_before_an_event", &LAZY, || {
        let device = Device::cuda(0).unwrap();
        let streams = [device.stream(), device.new_stream().unwrap(), device.new_stream().unwrap()];
        for (first, second) in [(0, 1), (1, 0), (1, 2)].map(|(a, b)| (&streams[a], &streams[b])) {
            let event = first.record().unwrap();
            assert!(!event.is_complete().unwrap());
            let event = first.record().unwrap();
            second.wait(&event).unwrap();
            let later = first.record().unwrap();
            second.synchronize().unwrap();
            assert!(event.clone().is_complete().unwrap());
            assert!(!later.is_complete().unwrap());
        }
    });
}

#[test]
fn the_host_waits_for_an_event_and_for_nothing_behind_it() {
    clean_child("the_host_waits_for_an_event_and_for_nothing_behind_it", &LAZY, || {
        let stream = Device::cuda(0).unwrap().new_stream().unwrap();
        let event = stream.record().unwrap();
        let gate = gate(&stream);
        let behind = stream.record().unwrap();
        event.synchronize().unwrap();
        assert!(event.is_complete().unwrap() && !behind.is_complete().unwrap());
        gate.open();
        behind.synchronize().unwrap();
        assert!(behind.is_complete().unwrap());
    });
}

#[test]
fn the_time_between_events_is_that_of_the_work() {
    clean_child("the_time_between_events_is_that_of_the_work", &[], || {
        let device = Device::cuda(0).unwrap();
        let stream = device.new_stream().unwrap();
        let start = stream.record().unwrap();
        let gate = gate(&stream);
        let end = stream.record().unwrap();
        start.synchronize().unwrap();
        let (begun, long) = (Instant::now(), Duration::from_millis(3));
        let error = end.elapsed_since(&start).unwrap_err();
        assert!(matches!(error, Error::EventPending { operation: "elapsed_since" }), "{error}");
        assert!(
            error.to_string().ends_with("wait for both events first, with `Event::synchronize`")
        );
        assert!(matches!(start.elapsed_since(&end), Err(Error::EventPending { .. })));
        while begun.elapsed() < long {
            hint::spin_loop();
        }
        gate.open();
        end.synchronize().unwrap();
        // The driver's times are rounded.
        assert!(end.elapsed_since(&start).unwrap() > long - Duration::from_micros(1));
        assert!(end.elapsed_since(&start).unwrap() < Duration::from_secs(100));
        assert_eq!(start.elapsed_since(&end).unwrap(), Duration::ZERO);
        assert_eq!(start.elapsed_since(&start).unwrap(), Duration::ZERO);
    });
}

#[test]
fn events_of_other_devices_are_refused() {
    let two = [("FAKE_CUDA_DEVICES", "2")];
    fake_child("events_of_other_devices_are_refused", &two, || {
        let devices = [Device::cuda(0), Device::cuda(1), Device::cpu()].map(Result::unwrap);
        for (index, device) in devices.iter().enumerate() {
            let (stream, own) = (device.stream(), device.stream().record().unwrap());
            for (other, foreign) in devices.iter().enumerate() {
                let foreign = foreign.stream().record().unwrap();
                assert_eq!(foreign.device(), &devices[other]);
                foreign.synchronize().unwrap();
                own.synchronize().unwrap();
                let (waited, measured) = (stream.wait(&foreign), own.elapsed_since(&foreign));
                if index == other {
                    waited.unwrap();
                    measured.unwrap();
                    continue;
                }
                assert!(matches!(waited, Err(Error::WrongDevice { .. })), "{waited:?}");
                let error = measured.unwrap_err();
                assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
                assert!(error.to_string().ends_with("measure with two events of one device"));
            }
        }
    });
}

/// A context of the program's own that is the same context of the driver is the same device for events too.
#[test]
fn contexts_of_one_device_take_each_others_events() {
    clean_child("contexts_of_one_device_take_each_others_events", &LAZY, || {
        let context = CudaContext::new(0).unwrap();
        let own = Device::from_cuda_context(&context).unwrap();
        let device = Device::cuda(0).unwrap();
        let adopted = adopt(&own, &context.new_stream().unwrap()).unwrap();
        let stream = device.new_stream().unwrap();
        for (first, second) in [(&adopted, &stream), (&stream, &adopted)] {
            let event = first.record().unwrap();
            second.wait(&event).unwrap();
            second.synchronize().unwrap();
            assert!(event.is_complete().unwrap());
            let later = second.record().unwrap();
            later.synchronize().unwrap();
            later.elapsed_since(&event).unwrap();
        }
    });
}

#[test]
fn panics_are_kept_for_streams_and_downloads() {
    clean_child("panics_are_kept_for_streams_and_downloads", &[], || {
        let device = Device::cuda(0).unwrap();
        let (kernels, stream) = (Kernels::load(&device).unwrap(), device.new_stream().unwrap());
        let (x, mut y) = (device.zeros::<f32>(LEN).unwrap(), device.zeros::<f32>(LEN).unwrap());
        let launch = Launch::grid([1], [LEN as u32]);
        kernels.saxpy(&stream, launch, 1.0, &x.slice(1..), &mut y).unwrap();
        let event = stream.record().unwrap();
        event.synchronize().unwrap();
        assert!(event.is_complete().unwrap());
        assert!(matches!(stream.synchronize(), Err(Error::KernelPanic(_))));
    });
}

/// What is left of an event whose stream, device and context are gone.
#[test]
fn an_event_outlives_its_stream() {
    clean_child("an_event_outlives_its_stream", &LAZY, || {
        let stream = Device::cuda(0).unwrap().new_stream().unwrap();
        let (start, end) = (stream.record().unwrap(), stream.record().unwrap());
        drop(stream);
        end.synchronize().unwrap();
        end.elapsed_since(&start).unwrap();
    });
}
