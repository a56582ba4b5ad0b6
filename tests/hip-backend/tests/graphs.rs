//! Graphs on HIP: the order between their launches and other streams, their panics, when they are dropped, and libraries
//! without them. Streams do no work before something waits for it, or work in random order.

use std::fs;

use hip_backend::{Kernels, clean_child, is_child, register_own};
use kernelmill::{Capability, Device, Error, Graph, GraphBuffer, Launch, Stream, Support};
use test_support::{driver::fake_hip, library::without_function, temporary_folder};

const LEN: usize = 8;
const MODES: [&str; 5] = ["lazy", "eager", "random:1", "random:2", "random:3"];

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
        register_own();
        let device = Device::hip(0).unwrap();
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

    #[track_caller]
    fn assert(&self, y: f32, z: f32) {
        let download = |it| self.graph.slice(it).unwrap().download().unwrap();
        assert_eq!((download(&self.y), download(&self.z)), (vec![y; LEN], vec![z; LEN]));
    }
}

/// Runs `body` in each mode of streams.
fn in_each_mode(name: &str, body: fn()) {
    for mode in MODES {
        clean_child(name, &[("FAKE_HIP_STREAMS", mode)], body);
    }
}

#[test]
fn a_graph_waits_for_launches_on_other_streams() {
    in_each_mode("a_graph_waits_for_launches_on_other_streams", || {
        let mut bench = Bench::new();
        let two = bench.device.upload(&[2.0_f32; LEN]).unwrap();
        let mut x = bench.graph.slice_mut(&bench.x).unwrap();
        bench.kernels.saxpy(&bench.streams[0], Launch::linear(LEN), 1.0, &two, &mut x).unwrap();
        bench.graph.launch(&bench.streams[1]).unwrap();
        bench.assert(3.0, 3.0);
    });
}

#[test]
fn launches_on_other_streams_wait_for_a_graph() {
    in_each_mode("launches_on_other_streams_wait_for_a_graph", || {
        let mut bench = Bench::new();
        bench.graph.launch(&bench.streams[0]).unwrap();
        let mut copy = bench.device.zeros::<f32>(LEN).unwrap();
        let z = bench.graph.slice(&bench.z).unwrap();
        bench.kernels.saxpy(&bench.streams[1], Launch::linear(LEN), 1.0, &z, &mut copy).unwrap();
        assert_eq!(copy.download().unwrap(), [1.0; LEN]);
    });
}

#[test]
fn launches_of_a_graph_on_two_streams_take_turns() {
    in_each_mode("launches_of_a_graph_on_two_streams_take_turns", || {
        let mut bench = Bench::new();
        for stream in [0, 1, 0, 1] {
            bench.graph.launch(&bench.streams[stream]).unwrap();
        }
        bench.assert(4.0, 10.0);
    });
}

/// Launches that share no buffer have no order, and those that do have theirs.
#[test]
fn nodes_have_the_order_of_their_buffers() {
    in_each_mode("nodes_have_the_order_of_their_buffers", || {
        let Bench { kernels, device, streams, .. } = Bench::new();
        let builder = device.graph();
        let mut chains = [1.0_f32, 2.0, 3.0].map(|value| {
            let x = builder.add(device.upload(&[value; LEN]).unwrap()).unwrap();
            let [y, z] = [(); 2].map(|()| builder.add(device.zeros::<f32>(LEN).unwrap()).unwrap());
            (x, y, z)
        });
        for (x, y, z) in &mut chains {
            for a in [1.0, 10.0] {
                kernels.saxpy(&builder, Launch::linear(LEN), a, &*x, &mut *y).unwrap();
                kernels.saxpy(&builder, Launch::linear(LEN), a, &*y, &mut *z).unwrap();
            }
        }
        let mut graph = builder.instantiate().unwrap();
        graph.launch(&streams[0]).unwrap();
        for ((_, y, z), value) in chains.iter().zip([1.0, 2.0, 3.0]) {
            let download = |it| graph.slice(it).unwrap().download().unwrap();
            assert_eq!(download(y), [11.0 * value; LEN]);
            assert_eq!(download(z), [111.0 * value; LEN]);
        }
    });
}

#[test]
fn a_graph_is_dropped_after_its_launches() {
    let name = "a_graph_is_dropped_after_its_launches";
    for (mode, first) in MODES.into_iter().flat_map(|mode| [(mode, "kernels"), (mode, "graph")]) {
        clean_child(name, &[("FAKE_HIP_STREAMS", mode), ("FIRST", first)], || {
            let mut bench = Bench::new();
            bench.graph.launch(&bench.streams[0]).unwrap();
            let Bench { graph, kernels, streams, device, .. } = bench;
            if std::env::var("FIRST").unwrap() == "kernels" {
                drop(kernels);
                kernelmill::module_cache().release_unused();
                drop(graph);
            } else {
                drop(graph);
                drop(kernels);
            }
            drop(streams);
            device.synchronize().unwrap();
        });
    }
}

/// The kernels and the plain handle of every buffer are gone; the graph has what it needs, until its buffers are taken out.
#[test]
fn a_graph_keeps_its_kernels_and_gives_its_buffers_back() {
    in_each_mode("a_graph_keeps_its_kernels_and_gives_its_buffers_back", || {
        let Bench { mut graph, z, kernels, streams, .. } = Bench::new();
        drop(kernels);
        kernelmill::module_cache().release_unused();
        graph.launch(&streams[0]).unwrap();
        graph.launch(&streams[1]).unwrap();
        let z = graph.into_buffers().take(z).unwrap();
        assert_eq!(z.download().unwrap(), [3.0; LEN]);
    });
}

#[test]
fn a_graph_that_never_ran_and_a_recording_that_was_given_up_leave_nothing() {
    let name = "a_graph_that_never_ran_and_a_recording_that_was_given_up_leave_nothing";
    in_each_mode(name, || {
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
    in_each_mode("a_graph_is_launched_on_many_streams", || {
        let mut bench = Bench::new();
        let streams: Vec<_> = (0..11).map(|_| bench.device.new_stream().unwrap()).collect();
        for stream in streams.iter().chain(&streams) {
            bench.graph.launch(stream).unwrap();
        }
        bench.assert(22.0, 22.0 * 23.0 / 2.0);
    });
}

/// Also of a later launch, whose nodes have the numbers that they had.
#[test]
fn a_panic_is_reported_by_the_stream_of_the_graph() {
    in_each_mode("a_panic_is_reported_by_the_stream_of_the_graph", || {
        let bench = Bench::new();
        let builder = bench.device.graph();
        let x = builder.add(bench.device.upload(&[1.0_f32; 3]).unwrap()).unwrap();
        let mut y = builder.add(bench.device.zeros::<f32>(LEN).unwrap()).unwrap();
        let launch = Launch::grid([1], [LEN as u32]);
        bench.kernels.saxpy(&builder, launch, 1.0, &x, &mut y).unwrap();
        let mut graph = builder.instantiate().unwrap();
        for (own, other) in [(0, 1), (0, 1), (1, 0), (0, 1)] {
            graph.launch(&bench.streams[own]).unwrap();
            graph.launch(&bench.streams[own]).unwrap();
            bench.streams[other].synchronize().unwrap();
            let Err(Error::KernelPanic(panic)) = bench.streams[own].synchronize() else {
                panic!("the launch panicked")
            };
            assert!(panic.message.contains("the len is 3 but the index is"), "{panic}");
            bench.streams[own].synchronize().unwrap();
        }
    });
}

/// What would be too many threads on a stream is in a graph too.
#[test]
fn a_node_of_too_many_threads_is_refused() {
    clean_child("a_node_of_too_many_threads_is_refused", &[], || {
        let bench = Bench::new();
        let builder = bench.device.graph();
        let x = builder.add(bench.device.zeros::<f32>(LEN).unwrap()).unwrap();
        let mut y = builder.add(bench.device.zeros::<f32>(LEN).unwrap()).unwrap();
        let launch = Launch::grid([1 << 24], [256]);
        bench.kernels.saxpy(&builder, launch, 1.0, &x, &mut y).unwrap();
        let error = builder.instantiate().map(drop).unwrap_err();
        assert!(matches!(error, Error::Limit { quantity: "threads in x", .. }), "{error}");
    });
}

/// Their workspaces are made ready for each launch, so that the launches are put on the stream one by one.
#[test]
fn a_graph_has_cooperative_launches() {
    let name = "a_graph_has_cooperative_launches";
    let none = "hipGraphCreate at call 2 onwards; hipGraphLaunch at call 1 onwards";
    for mode in MODES {
        clean_child(name, &[("FAKE_HIP_STREAMS", mode), ("FAKE_HIP_FAIL", none)], || {
            let bench = Bench::new();
            let builder = bench.device.graph();
            let mut cells = builder.add(bench.device.zeros::<u32>(3).unwrap()).unwrap();
            let launch = Launch::<3>::grid([3, 1, 1], [5, 1, 1]);
            bench.kernels.grid_rounds(&builder, launch, 2, &mut cells).unwrap();
            let mut graph = builder.instantiate().unwrap();
            for stream in &bench.streams {
                graph.slice_mut(&cells).unwrap().copy_from(&[0; 3]).unwrap();
                graph.launch(stream).unwrap();
                assert_eq!(graph.slice(&cells).unwrap().download().unwrap(), [15, 15, 0]);
            }
        });
    }
}

/// One call launches all of a graph; where it fails, the graph can be launched again.
#[test]
fn a_graph_is_launched_by_one_call() {
    let fail = [("FAKE_HIP_FAIL", "hipModuleLaunchKernel at call 1; hipGraphLaunch at call 1")];
    clean_child("a_graph_is_launched_by_one_call", &fail, || {
        let mut bench = Bench::new();
        assert_eq!(bench.device.support(Capability::Graphs), Support::Full);
        let error = bench.graph.launch(&bench.streams[0]).unwrap_err().to_string();
        assert!(error.starts_with("hipGraphLaunch failed for a graph"), "{error}");
        bench.graph.launch(&bench.streams[0]).unwrap();
        bench.assert(1.0, 1.0);
    });
}

/// An old library: the fake one, which does not export a function. Launches are put on streams.
#[test]
fn a_library_that_lacks_a_function_has_the_same_results() {
    let name = "a_library_that_lacks_a_function_has_the_same_results";
    let functions = ["Create", "AddKernelNode", "Instantiate", "Launch", "Destroy", "ExecDestroy"];
    for function in functions.map(|function| format!("hipGraph{function}")) {
        let folder = temporary_folder();
        if !is_child(name) {
            let old = without_function(&fake_hip().join("libamdhip64.so"), &function);
            fs::write(folder.path().join("libamdhip64.so"), old).unwrap();
        }
        let path = folder.path().to_str().unwrap();
        let fail = "hipGraphCreate at call 1 onwards";
        clean_child(name, &[("LD_LIBRARY_PATH", path), ("FAKE_HIP_FAIL", fail)], || {
            let mut bench = Bench::new();
            assert_eq!(bench.device.support(Capability::Graphs), Support::Emulated);
            for stream in &bench.streams {
                bench.graph.launch(stream).unwrap();
            }
            bench.assert(2.0, 3.0);
        });
    }
}
