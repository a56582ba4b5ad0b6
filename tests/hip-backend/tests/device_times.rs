//! Times on the device in traces.

use hip_backend::{Kernels, clean_child, register_own};
use kernelmill::{Device, Launch};
use test_support::Trace;

const LEN: usize = 256;

#[test]
fn each_stream_has_a_track_with_what_it_did() {
    let name = "each_stream_has_a_track_with_what_it_did";
    let trace = Trace::of_child(&[("FAKE_HIP_STREAMS", "lazy")], |variables| {
        clean_child(name, variables, || {
            register_own();
            let device = Device::hip(0).unwrap();
            let kernels = Kernels::load(&device).unwrap();
            let stream = device.new_stream().unwrap();
            let x = device.upload(&[1.0f32; LEN]).unwrap();
            let mut y = device.zeros::<f32>(LEN).unwrap();
            kernels.saxpy(&stream, Launch::linear(LEN), 1.0, &x, &mut y).unwrap();
            assert_eq!(Trace::own().names("device launch"), [""; 0], "nothing has waited");
            let mut z = device.zeros::<f32>(LEN).unwrap();
            z.copy_from_buffer(&stream, &y.slice(..)).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(Trace::own().names("device launch"), ["saxpy"]);
            // The graph's launches have one time.
            let builder = device.graph();
            let (x, mut y) = (builder.add(x).unwrap(), builder.add(y).unwrap());
            for _ in 0..2 {
                kernels.saxpy(&builder, Launch::linear(LEN), 1.0, &x, &mut y).unwrap();
            }
            let mut graph = builder.instantiate().unwrap();
            graph.launch(&stream).unwrap();
            stream.synchronize().unwrap();
            let mut pinned = device.pinned_zeros::<f32>(LEN).unwrap();
            z.copy_to_async(&device.stream(), &mut pinned).unwrap();
            assert_eq!(pinned.as_slice().unwrap(), [1.0; LEN]);
        });
    });
    let expected = [&["upload", "copy_to_async"][..], &["saxpy", "copy_from_buffer", "graph"]];
    assert!(trace.on_devices().into_values().eq(expected), "{trace:#?}");
    trace.check_device_times();
}
