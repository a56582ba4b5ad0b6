//! Times on the device in traces.

use kernelmill::{Buffer, Device, Launch, Stream};
use opencl_backend::{Kernels, clean_child};
use test_support::{Trace, tool};

const LEN: usize = 256;

fn add(kernels: &Kernels, stream: &Stream, values: &mut Buffer<u32>) {
    // SAFETY: there is an element for each work-item.
    unsafe { kernels.add(stream, Launch::grid([LEN as u32], [1]), values, 1) }.unwrap();
}

#[test]
fn each_stream_has_a_track_with_what_it_did() {
    if tool::pocl().is_none() {
        return;
    }
    let name = "each_stream_has_a_track_with_what_it_did";
    let trace = Trace::of_child(&[], |variables| {
        clean_child(name, variables, || {
            let device = Device::opencl(0).unwrap();
            let kernels = Kernels::load(&device).unwrap();
            let stream = device.new_stream().unwrap();
            let mut x = device.upload(&[1_u32; LEN]).unwrap();
            for stream in [&stream, &stream, &device.stream()] {
                add(&kernels, stream, &mut x);
            }
            let mut y = device.zeros::<u32>(LEN).unwrap();
            y.copy_from_buffer(&stream, &x.slice(..)).unwrap();
            assert_eq!(y.download().unwrap(), [4; LEN]);
        });
    });
    let expected = [&["upload", "add", "download"][..], &["add", "add", "copy_from_buffer"]];
    assert!(trace.on_devices().into_values().eq(expected), "{trace:#?}");
    trace.check_device_times();
}
