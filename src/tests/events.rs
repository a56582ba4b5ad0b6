//! Events on the CPU: points in time.

use std::{
    hint,
    time::{Duration, Instant},
};

use crate::{Device, Error};

#[test]
fn an_event_is_complete_and_has_the_time_of_its_record() {
    let device = Device::cpu().unwrap();
    let (first, second) = (device.new_stream().unwrap(), device.stream());
    let start = first.record().unwrap();
    second.wait(&start).unwrap();
    let end = second.record().unwrap();
    assert!(start.is_complete().unwrap());
    start.synchronize().unwrap();
    let now = Instant::now();
    while now.elapsed().is_zero() {
        hint::spin_loop();
    }
    let later = first.record().unwrap();
    let (part, all) = (end.elapsed_since(&start).unwrap(), later.elapsed_since(&start).unwrap());
    assert_eq!(all, part + later.elapsed_since(&end).unwrap());
    assert!(!all.is_zero());
    assert_eq!(start.elapsed_since(&later).unwrap(), Duration::ZERO);
}

#[test]
fn an_event_of_another_device_is_refused() {
    let (device, other) = (Device::cpu().unwrap(), Device::cpu_sequential().unwrap());
    let (own, foreign) = (device.stream().record().unwrap(), other.stream().record().unwrap());
    for error in
        [device.stream().wait(&foreign).unwrap_err(), own.elapsed_since(&foreign).unwrap_err()]
    {
        let Error::WrongDevice { subject, found, .. } = &error else { panic!("{error}") };
        assert_eq!((&**subject, &**found), ("an event", &*other.to_string()));
    }
}

#[test]
fn work_is_timed_between_two_events_and_its_error_is_passed_on() {
    let stream = Device::cpu_async().unwrap().stream();
    let started = Instant::now();
    let (result, took) = stream
        .time(|| {
            // The first event is recorded when the queue comes to it.
            stream.synchronize()?;
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(2) {
                hint::spin_loop();
            }
            Ok(5)
        })
        .unwrap();
    assert_eq!(result, 5);
    assert!(took >= Duration::from_millis(2) && took <= started.elapsed(), "{took:?}");
    let error = stream.time(|| Err::<(), _>(Error::EventPending { operation: "work" }));
    assert!(matches!(error, Err(Error::EventPending { operation: "work" })));
}
