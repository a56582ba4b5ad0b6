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
