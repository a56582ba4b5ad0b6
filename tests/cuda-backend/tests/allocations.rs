//! A launch like the one before allocates nothing, on whatever streams its memory is used.

#[path = "../../../benches/common/allocations.rs"]
mod counter;

use cuda_backend::{Kernels, clean_child};
use kernelmill::{Device, Launch, Stream};

/// What the program allocates in some launches that read `x` on several streams and write on each.
fn allocations(device: &Device, streams: &[Stream]) -> u64 {
    let kernels = Kernels::load(device).unwrap();
    let x = device.zeros::<f32>(4).unwrap();
    let mut written: Vec<_> = streams.iter().map(|_| device.zeros::<f32>(4).unwrap()).collect();
    let mut shared = device.zeros::<f32>(4).unwrap();
    let mut launch = || {
        for (stream, own) in streams.iter().zip(&mut written) {
            kernels.saxpy(stream, Launch::linear(4), 1.0, &x, &mut *own).unwrap();
            kernels.saxpy(stream, Launch::linear(4), 1.0, &*own, &mut shared).unwrap();
        }
    };
    (0..3).for_each(|_| launch());
    let before = counter::allocations();
    (0..50).for_each(|_| launch());
    counter::allocations() - before
}

#[test]
fn warm_launches_allocate_nothing() {
    clean_child("warm_launches_allocate_nothing", &[], || {
        let device = Device::cuda(0).unwrap();
        assert_eq!(allocations(&device, &[device.stream()]), 0);
        let streams = [(); 3].map(|()| device.new_stream().unwrap());
        assert_eq!(allocations(&device, &streams[..1]), 0);
        assert_eq!(allocations(&device, &streams), 0);
        // Beside the streams that there are now, the default stream's work is recorded.
        assert_eq!(allocations(&device, &[device.stream(), streams[0].clone()]), 0);
    });
}
