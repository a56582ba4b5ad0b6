//! The order of launches and copies between streams, which do no work before something waits for it.

use hip_backend::{Kernels, clean_child, register_own};
use kernelmill::{Device, Error, Launch};

const LEN: usize = 256;

/// Runs `body` with a device and its kernels, on lazy streams and on streams in random order; also where memory is not
/// allocated in the order of a stream.
fn on_streams(name: &str, body: fn(&Device, &Kernels)) {
    let modes = ["lazy", "random:1", "random:2", "random:3"].map(|mode| (mode, "1"));
    for (mode, pools) in modes.into_iter().chain([("lazy", "0"), ("random:1", "0")]) {
        clean_child(name, &[("FAKE_HIP_STREAMS", mode), ("FAKE_HIP_POOLS", pools)], || {
            register_own();
            let device = Device::hip(0).unwrap();
            let kernels = Kernels::load(&device).unwrap();
            body(&device, &kernels);
        });
    }
}

#[test]
fn readers_and_writers_on_several_streams() {
    on_streams("readers_and_writers_on_several_streams", |device, kernels| {
        let streams = [(); 3].map(|()| device.new_stream().unwrap());
        let launch = Launch::linear(LEN);
        let mut x = device.upload(&[1.0f32; LEN]).unwrap();
        let mut y = device.zeros::<f32>(LEN).unwrap();
        for stream in &streams {
            // The buffer is freed while it is used.
            let mut own = device.zeros::<f32>(LEN).unwrap();
            kernels.saxpy(stream, launch, 1.0, &x, &mut own).unwrap();
            kernels.saxpy(&streams[0], launch, 1.0, &own, &mut y).unwrap();
        }
        // After the reads, before the next one.
        x.copy_from(&[5.0; LEN]).unwrap();
        kernels.saxpy(&device.stream(), launch, 1.0, &x, &mut y).unwrap();
        drop(streams);
        assert_eq!(y.download().unwrap(), [8.0; LEN]);
    });
}

#[test]
fn events_order_streams_and_have_times() {
    on_streams("events_order_streams_and_have_times", |device, kernels| {
        let (first, second) = (device.new_stream().unwrap(), device.new_stream().unwrap());
        let x = device.upload(&[1.0f32; LEN]).unwrap();
        let mut y = device.zeros::<f32>(LEN).unwrap();
        let start = first.record().unwrap();
        kernels.saxpy(&first, Launch::linear(LEN), 2.0, &x, &mut y).unwrap();
        let end = first.record().unwrap();
        second.wait(&end).unwrap();
        second.synchronize().unwrap();
        assert!(end.is_complete().unwrap());
        end.elapsed_since(&start).unwrap();
        assert_eq!(y.download().unwrap(), [2.0; LEN]);
    });
}

#[test]
fn pinned_copies_wait_for_launches_and_launches_for_them() {
    on_streams("pinned_copies_wait_for_launches_and_launches_for_them", |device, kernels| {
        let streams = [device.new_stream().unwrap(), device.new_stream().unwrap()];
        let mut x = device.zeros::<f32>(LEN).unwrap();
        let mut y = device.zeros::<f32>(LEN).unwrap();
        let mut source = device.pinned_from(&[3.0f32; LEN]).unwrap();
        let mut target = device.pinned_zeros::<f32>(LEN).unwrap();
        x.copy_from_async(&streams[0], &source).unwrap();
        kernels.saxpy(&streams[1], Launch::linear(LEN), 2.0, &x, &mut y).unwrap();
        y.copy_to_async(&streams[0], &mut target).unwrap();
        // Waits for the copy that reads it.
        source.as_mut_slice().unwrap().fill(9.0);
        assert_eq!(target.as_slice().unwrap(), [6.0; LEN]);
        let mut copy = device.zeros::<f32>(LEN).unwrap();
        copy.copy_from_buffer(&streams[1], &y.slice(..)).unwrap();
        assert_eq!(copy.download().unwrap(), [6.0; LEN]);
    });
}

#[test]
fn shared_memory_and_graphs() {
    on_streams("shared_memory_and_graphs", |device, kernels| {
        let x: Vec<u32> = (0..LEN as u32).collect();
        let x = device.upload(&x).unwrap();
        let mut sums = device.zeros::<u32>(LEN / 64).unwrap();
        let launch = Launch::grid([(LEN / 64) as u32], [64]);
        kernels.block_sums(&device.new_stream().unwrap(), launch, &x, &mut sums).unwrap();
        let expected: Vec<u32> = (0..4).map(|b| (64 * b..64 * (b + 1)).sum()).collect();
        assert_eq!(sums.download().unwrap(), expected);

        let builder = device.graph();
        let one = builder.add(device.upload(&[1.0f32; LEN]).unwrap()).unwrap();
        let mut y = builder.add(device.zeros::<f32>(LEN).unwrap()).unwrap();
        kernels.saxpy(&builder, Launch::linear(LEN), 1.0, &one, &mut y).unwrap();
        kernels.saxpy(&builder, Launch::linear(LEN), 2.0, &one, &mut y).unwrap();
        let mut graph = builder.instantiate().unwrap();
        for stream in [device.stream(), device.new_stream().unwrap()] {
            graph.launch(&stream).unwrap();
        }
        assert_eq!(graph.slice(&y).unwrap().download().unwrap(), [6.0; LEN]);
    });
}

/// Each panic is told to who waits for its stream, once, with its place.
#[test]
fn panics_are_told_by_stream() {
    on_streams("panics_are_told_by_stream", |device, kernels| {
        let streams = [device.new_stream().unwrap(), device.new_stream().unwrap()];
        let x = device.upload(&[1.0f32; LEN]).unwrap();
        let short = x.slice(..LEN - 1);
        let mut y = device.zeros::<f32>(LEN).unwrap();
        for _ in 0..3 {
            kernels.saxpy(&streams[0], Launch::linear(LEN), 1.0, &short, &mut y).unwrap();
            streams[1].synchronize().unwrap();
            let Err(Error::KernelPanic(panic)) = streams[0].synchronize() else {
                panic!("the launch panicked")
            };
            assert_eq!((panic.block, panic.thread), ([0; 3], [LEN as u32 - 1, 0, 0]));
            assert!(panic.message.contains("the len is 255 but the index is 255"), "{panic}");
            assert!(panic.location.unwrap().file.ends_with("saxpy.rs"), "{panic}");
            streams[0].synchronize().unwrap();
        }
        // What the other threads of a panicking block have done is not defined; the buffer can be used.
        y.copy_from(&[1.0; LEN]).unwrap();
        kernels.saxpy(&streams[1], Launch::linear(LEN), 1.0, &x, &mut y).unwrap();
        assert_eq!(y.download().unwrap(), [2.0; LEN]);
    });
}

#[test]
fn buffers_are_filled_in_the_order_of_their_uses() {
    on_streams("buffers_are_filled_in_the_order_of_their_uses", |device, kernels| {
        let (first, second) = (device.new_stream().unwrap(), device.new_stream().unwrap());
        let launch = Launch::linear(LEN);
        let mut x = device.upload(&[1.0f32; LEN]).unwrap();
        let mut y = device.zeros::<f32>(LEN).unwrap();
        kernels.saxpy(&first, launch, 2.0, &x, &mut y).unwrap();
        x.fill(&second, 3.0).unwrap();
        kernels.saxpy(&first, launch, 1.0, &x, &mut y).unwrap();
        x.slice_mut(1..).fill_zeros(&second).unwrap();
        kernels.saxpy(&first, launch, 1.0, &x, &mut y).unwrap();
        assert_eq!(y.download().unwrap()[..2], [8.0, 5.0]);
        assert_eq!(x.download().unwrap()[..2], [3.0, 0.0]);
    });
}
