//! Graphs on CUDA: the order between their launches and other streams, and when they are dropped.

use std::fs;

use cuda_backend::{Gate, Kernels, clean_child, cuda_stream, fake_child, is_child, is_left_out};
use kernelmill::{Capability, Device, Error, Graph, GraphBuffer, Launch, Stream, Support};
use test_support::{driver::fake_driver, library::without_function, temporary_folder};

const LEN: usize = 8;

/// A graph that adds `x` to `y`, and `y` to `z`.
struct Bench {
    graph: Graph,
    x: GraphBuffer<f32>,
    y: GraphBuffer<f32>,
    z: GraphBuffer<f32>,
    kernels: Kernels,
    streams: [Stream; 2],
    device: Device,
}

impl Bench {
    fn new() -> Self {
        let device = Device::cuda(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let builder = device.graph();
        let x = builder.add(device.upload(&[1.0_f32; LEN]).unwrap()).unwrap();
        let [mut y, mut z] =
            [(); 2].map(|()| builder.add(device.zeros::<f32>(LEN).unwrap()).unwrap());
        kernels.saxpy(&builder, Launch::linear(LEN), 1.0, &x, &mut y).unwrap();
        kernels.saxpy(&builder, Launch::linear(LEN), 1.0, &y, &mut z).unwrap();
        let graph = builder.instantiate().unwrap();
        let streams = [(); 2].map(|()| device.new_stream().unwrap());
        Self { graph, x, y, z, kernels, streams, device }
    }

    fn gate(&self, stream: usize) -> Gate {
        Gate::on(cuda_stream(&self.streams[stream]))
    }

    #[track_caller]
    fn assert(&self, y: f32, z: f32) {
        let download = |it| self.graph.slice(it).unwrap().download().unwrap();
        assert_eq!((download(&self.y), download(&self.z)), (vec![y; LEN], vec![z; LEN]));
    }
}

#[test]
fn a_graph_waits_for_launches_on_other_streams() {
    clean_child("a_graph_waits_for_launches_on_other_streams", &[], || {
        let mut bench = Bench::new();
        let gate = bench.gate(0);
        let two = bench.device.upload(&[2.0_f32; LEN]).unwrap();
        let mut x = bench.graph.slice_mut(&bench.x).unwrap();
        bench.kernels.saxpy(&bench.streams[0], Launch::linear(LEN), 1.0, &two, &mut x).unwrap();
        bench.graph.launch(&bench.streams[1]).unwrap();
        gate.open();
        bench.assert(3.0, 3.0);
    });
}

#[test]
fn launches_on_other_streams_wait_for_a_graph() {
    clean_child("launches_on_other_streams_wait_for_a_graph", &[], || {
        let mut bench = Bench::new();
        let gate = bench.gate(0);
        bench.graph.launch(&bench.streams[0]).unwrap();
        let mut copy = bench.device.zeros::<f32>(LEN).unwrap();
        let z = bench.graph.slice(&bench.z).unwrap();
        bench.kernels.saxpy(&bench.streams[1], Launch::linear(LEN), 1.0, &z, &mut copy).unwrap();
        gate.open();
        assert_eq!(copy.download().unwrap(), [1.0; LEN]);
    });
}

#[test]
fn launches_of_a_graph_on_two_streams_take_turns() {
    clean_child("launches_of_a_graph_on_two_streams_take_turns", &[], || {
        let mut bench = Bench::new();
        let gate = bench.gate(0);
        for stream in [0, 1, 0, 1] {
            bench.graph.launch(&bench.streams[stream]).unwrap();
        }
        gate.open();
        bench.assert(4.0, 10.0);
    });
}

#[test]
fn a_graph_is_dropped_after_its_launches() {
    for kernels_first in [true, false] {
        let name = "a_graph_is_dropped_after_its_launches";
        let variables = [("KERNELS_FIRST", if kernels_first { "1" } else { "0" })];
        clean_child(name, &variables, || {
            let mut bench = Bench::new();
            let gate = bench.gate(0);
            bench.graph.launch(&bench.streams[0]).unwrap();
            let Bench { graph, kernels, streams, device, .. } = bench;
            let opener = std::thread::spawn(move || gate.open());
            if std::env::var("KERNELS_FIRST").unwrap() == "1" {
                drop(kernels);
                kernelmill::module_cache().release_unused();
                drop(graph);
            } else {
                drop(graph);
                drop(kernels);
            }
            opener.join().unwrap();
            drop(streams);
            device.synchronize().unwrap();
        });
    }
}

#[test]
fn a_graph_that_never_ran_and_a_recording_that_was_given_up_leave_nothing() {
    let name = "a_graph_that_never_ran_and_a_recording_that_was_given_up_leave_nothing";
    clean_child(name, &[], || {
        let bench = Bench::new();
        let builder = bench.device.graph();
        let x = builder.add(bench.device.upload(&[1.0_f32; LEN]).unwrap()).unwrap();
        let mut y = builder.add(bench.device.zeros::<f32>(LEN).unwrap()).unwrap();
        bench.kernels.saxpy(&builder, Launch::linear(LEN), 1.0, &x, &mut y).unwrap();
        drop(builder);
        let empty = bench.device.graph().instantiate();
        empty.unwrap().launch(&bench.streams[0]).unwrap();
    });
}

/// More streams than a graph has executable graphs for.
#[test]
fn a_graph_is_launched_on_many_streams() {
    let variables = [("FAKE_CUDA_RACES", "1")];
    clean_child("a_graph_is_launched_on_many_streams", &variables, || {
        let mut bench = Bench::new();
        let streams: Vec<_> = (0..11).map(|_| bench.device.new_stream().unwrap()).collect();
        for stream in streams.iter().chain(&streams) {
            bench.graph.launch(stream).unwrap();
        }
        bench.assert(22.0, 22.0 * 23.0 / 2.0);
    });
}

#[test]
fn a_panic_is_reported_by_the_stream_of_the_graph() {
    clean_child("a_panic_is_reported_by_the_stream_of_the_graph", &[], || {
        let bench = Bench::new();
        let builder = bench.device.graph();
        let x = builder.add(bench.device.upload(&[1.0_f32; 3]).unwrap()).unwrap();
        let mut y = builder.add(bench.device.zeros::<f32>(LEN).unwrap()).unwrap();
        let launch = Launch::grid([1], [LEN as u32]);
        bench.kernels.saxpy(&builder, launch, 1.0, &x, &mut y).unwrap();
        let mut graph = builder.instantiate().unwrap();
        for (own, other) in [(0, 1), (1, 0), (0, 1)] {
            graph.launch(&bench.streams[own]).unwrap();
            graph.launch(&bench.streams[own]).unwrap();
            cuda_stream(&bench.streams[own]).synchronize().unwrap();
            bench.streams[other].synchronize().unwrap();
            let error = bench.streams[own].synchronize().unwrap_err();
            assert!(matches!(error, Error::KernelPanic(_)), "{error}");
            bench.streams[own].synchronize().unwrap();
        }
    });
}

/// A driver of CUDA 11: the fake one, which does not export a function. Launches are put on streams.
#[test]
fn a_driver_without_the_nodes_of_graphs_has_the_same_results() {
    let name = "a_driver_without_the_nodes_of_graphs_has_the_same_results";
    if is_left_out(name) {
        return;
    }
    let folder = temporary_folder();
    if !is_child(name) {
        let driver = fake_driver().join("libcuda.so.1");
        let old = without_function(&driver, "cuGraphAddKernelNode_v2");
        for library in ["libcuda.so.1", "libcuda.so"] {
            fs::write(folder.path().join(library), &old).unwrap();
        }
    }
    let path = folder.path().to_str().unwrap();
    let variables = [("LD_LIBRARY_PATH", path), ("FAKE_CUDA_VERSION", "11080")];
    fake_child(name, &variables, || {
        let mut bench = Bench::new();
        assert_eq!(bench.device.support(Capability::Graphs), Support::Emulated);
        for stream in &bench.streams {
            bench.graph.launch(stream).unwrap();
        }
        bench.assert(2.0, 3.0);
    });
}
