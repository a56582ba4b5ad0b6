//! Times on the device in traces: what is queued has them when it is done, and nothing waits for them.

use cuda_backend::{Gate, Kernels, clean_child, cuda_stream};
use kernelmill::{Buffer, Device, Launch, Stream};
use test_support::Trace;

const LEN: usize = 256;

/// The trace of `body`, with some variables of the driver.
fn traced(name: &str, variables: &[(&str, &str)], body: fn(&Device, &Kernels)) -> Trace {
    Trace::of_child(variables, |variables| {
        clean_child(name, variables, || {
            let device = Device::cuda(0).unwrap();
            body(&device, &Kernels::load(&device).unwrap());
        });
    })
}

fn saxpy(kernels: &Kernels, stream: &Stream, x: &Buffer<f32>, y: &mut Buffer<f32>) {
    kernels.saxpy(stream, Launch::linear(LEN), 1.0, x, y).unwrap();
}

#[test]
fn each_stream_has_a_track_with_what_it_did() {
    let (name, lazy) = ("each_stream_has_a_track_with_what_it_did", ("FAKE_CUDA_STREAMS", "lazy"));
    let trace = traced(name, &[lazy], |device, kernels| {
        let streams = [(); 2].map(|()| device.new_stream().unwrap());
        let x = device.upload(&[1.0_f32; LEN]).unwrap();
        let mut y = device.zeros::<f32>(LEN).unwrap();
        for stream in [&streams[0], &streams[1], &streams[0]] {
            saxpy(kernels, stream, &x, &mut y);
        }
        let mut z = device.zeros::<f32>(LEN).unwrap();
        z.copy_from_buffer(&streams[1], &y.slice(..)).unwrap();
        let mut pinned = device.pinned_zeros::<f32>(LEN).unwrap();
        z.copy_to_async(&streams[0], &mut pinned).unwrap();
        y.copy_from_async(&streams[1], &pinned).unwrap();
        assert_eq!(y.download().unwrap(), [3.0; LEN]);
        // The graph's launches have one time.
        let graph = device.graph();
        let (x, mut y) = (graph.add(x).unwrap(), graph.add(y).unwrap());
        for _ in 0..2 {
            kernels.saxpy(&graph, Launch::linear(LEN), 1.0, &x, &mut y).unwrap();
        }
        let mut graph = graph.instantiate().unwrap();
        graph.launch(&streams[0]).unwrap();
        device.synchronize().unwrap();
    });
    let tracks = trace.on_devices();
    let names: Vec<_> = tracks.keys().map(|name| name.rsplit_once(", ").unwrap().1).collect();
    assert_eq!(names, ["default stream", "stream 1", "stream 2"]);
    let mut tracks = tracks.into_values();
    assert_eq!(tracks.next().unwrap(), ["upload", "download"]);
    assert_eq!(tracks.next().unwrap(), ["saxpy", "saxpy", "copy_to_async", "graph"]);
    assert_eq!(tracks.next().unwrap(), ["saxpy", "copy_from_buffer", "copy_from_async"]);
    trace.check_device_times();
    let launch = trace.events("device launch").next().unwrap();
    assert_eq!(launch["args"], trace.events("launch").next().unwrap()["args"]);
    assert_eq!(launch["args"]["grid"], "[1, 1, 1]");
}

#[test]
fn nothing_waits_for_times() {
    let trace = traced("nothing_waits_for_times", &[], |device, kernels| {
        let x = device.upload(&[1.0_f32; LEN]).unwrap();
        let mut y = device.zeros::<f32>(LEN).unwrap();
        let stream = device.new_stream().unwrap();
        let gate = Gate::on(cuda_stream(&stream));
        for _ in 0..3 {
            saxpy(kernels, &stream, &x, &mut y);
        }
        assert_eq!(Trace::own().names("device launch"), [""; 0]);
        gate.open();
        stream.synchronize().unwrap();
        assert_eq!(Trace::own().names("device launch"), ["saxpy"; 3]);
        // What is done is written with the next call, also where nobody waits by kernelmill.
        let gate = Gate::on(cuda_stream(&stream));
        saxpy(kernels, &stream, &x, &mut y);
        let end = stream.record().unwrap();
        gate.open();
        end.synchronize().unwrap();
        assert_eq!(Trace::own().names("device launch"), ["saxpy"; 3]);
        let _gate = Gate::on(cuda_stream(&stream));
        saxpy(kernels, &stream, &x, &mut y);
        assert_eq!(Trace::own().names("device launch"), ["saxpy"; 4]);
    });
    // The last one when the device is closed.
    assert_eq!(trace.names("device launch"), ["saxpy"; 5]);
    trace.check_device_times();
}
