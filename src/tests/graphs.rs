//! Graphs: recorded launches on the CPU, and on CUDA where there is a driver.

use super::generated::{Kernels, Params};
use crate::{Buffer, Device, Error, Graph, GraphBuffer, Launch, LaunchStream};

/// The devices of this machine on which the kernels run.
fn devices() -> Vec<Device> {
    let cpu =
        [Device::cpu().unwrap(), Device::cpu_sequential().unwrap(), Device::cpu_async().unwrap()];
    #[cfg(feature = "cuda")]
    let cuda = Device::cuda(0).ok();
    #[cfg(not(feature = "cuda"))]
    let cuda = None;
    cpu.into_iter().chain(cuda).collect()
}

fn kernels(device: &Device) -> Kernels {
    Kernels::load(device).unwrap()
}

/// A graph that adds `x` to `y` twice, and one of the two to `z`.
struct Sums {
    graph: Graph,
    x: GraphBuffer<f32>,
    y: GraphBuffer<f32>,
    z: GraphBuffer<f32>,
}

impl Sums {
    fn new(device: &Device, n: usize) -> Self {
        let kernels = kernels(device);
        let builder = device.graph();
        let x = builder.add(device.upload(&vec![1.0_f32; n]).unwrap()).unwrap();
        let [mut y, mut z] =
            [(); 2].map(|()| builder.add(device.zeros::<f32>(n).unwrap()).unwrap());
        let launch = Launch::linear(n);
        kernels.saxpy(&builder, launch, 1.0, &x, &mut y).unwrap();
        kernels.saxpy(&builder, launch, 2.0, &x, &mut y).unwrap();
        kernels.saxpy(&builder, launch, 10.0, &y, &mut z).unwrap();
        kernels.saxpy(&builder, Launch::linear(0), 10.0, &y, &mut z).unwrap();
        Self { graph: builder.instantiate().unwrap(), x, y, z }
    }

    #[track_caller]
    fn assert(&self, y: f32, z: f32) {
        let [found_y, found_z] =
            [&self.y, &self.z].map(|it| self.graph.slice(it).unwrap().download().unwrap());
        assert!(found_y.iter().all(|it| *it == y), "{found_y:?}");
        assert!(found_z.iter().all(|it| *it == z), "{found_z:?}");
    }
}

#[test]
fn launches_run_in_their_order_as_often_as_they_are_launched() {
    for device in devices() {
        for n in [0, 1, 300] {
            let mut sums = Sums::new(&device, n);
            sums.assert(0.0, 0.0);
            let streams = [device.stream(), device.new_stream().unwrap()];
            // The kernels' own wrapper is gone; the graph keeps its modules.
            crate::module_cache().release_unused();
            for (stream, (y, z)) in streams.iter().cycle().zip([(3.0, 30.0), (6.0, 90.0)]) {
                sums.graph.launch(stream).unwrap();
                sums.assert(y, z);
            }
            // Without a wait in between.
            for stream in [&streams[0], &streams[1], &streams[0]] {
                sums.graph.launch(stream).unwrap();
            }
            sums.assert(15.0, 90.0 + 90.0 + 120.0 + 150.0);
        }
    }
}

#[test]
fn buffers_are_used_between_launches_and_given_back() {
    for device in devices() {
        let kernels = kernels(&device);
        let mut sums = Sums::new(&device, 4);
        let stream = device.new_stream().unwrap();
        sums.graph.launch(&stream).unwrap();
        sums.graph.slice_mut(&sums.x).unwrap().copy_from(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        sums.graph.launch(&stream).unwrap();
        let mut y = sums.graph.slice_mut(&sums.y).unwrap();
        assert_eq!(y.slice(..).download().unwrap(), [6.0, 9.0, 12.0, 15.0]);
        // A launch of its own on a buffer of the graph.
        let ones = device.upload(&[1.0_f32; 2]).unwrap();
        kernels.saxpy(&stream, Launch::linear(2), 1.0, &ones, &mut y.slice_mut(2..)).unwrap();
        let Sums { graph, x, y, .. } = sums;
        let mut buffers = graph.into_buffers();
        let [x, y]: [Buffer<f32>; 2] = [x, y].map(|it| buffers.take(it).unwrap());
        drop(buffers);
        assert_eq!(y.download().unwrap(), [6.0, 9.0, 13.0, 16.0]);
        assert_eq!(x.download().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    }
}

#[test]
fn parts_structs_and_kernels_of_several_shapes_are_recorded() {
    for device in devices().into_iter().take(2) {
        let kernels = kernels(&device);
        let builder = device.graph();
        let mut out = builder.add(device.zeros::<u64>(35).unwrap()).unwrap();
        let mut y = builder.add(device.zeros::<f32>(6).unwrap()).unwrap();
        let x = builder.add(device.upload(&[1.0_f32, 2.0, 3.0]).unwrap()).unwrap();
        let params = Params { width: 7, step: 3 };
        kernels.fill(&builder, Launch::grid([2, 2], [4, 4]), params, &mut out).unwrap();
        let mut middle = y.slice_mut(2..4);
        kernels.saxpy(&builder, Launch::linear(2), 2.0, &x.slice(1..), &mut middle).unwrap();
        let mut graph = builder.instantiate().unwrap();
        graph.launch(&device.stream()).unwrap();
        let expected: Vec<u64> = (0..35).map(|i| 3 * i).collect();
        assert_eq!(graph.slice(&out).unwrap().download().unwrap(), expected);
        let y = graph.slice(&y).unwrap().download().unwrap();
        assert_eq!(y, [0.0, 0.0, 4.0, 6.0, 0.0, 0.0]);
    }
}

#[test]
fn a_panic_in_a_graph_is_reported_once_and_the_graph_goes_on() {
    for device in devices() {
        let kernels = kernels(&device);
        let builder = device.graph();
        let x = builder.add(device.upload(&[1.0_f32; 7]).unwrap()).unwrap();
        let mut y = builder.add(device.zeros::<f32>(8).unwrap()).unwrap();
        let mut z = builder.add(device.zeros::<f32>(7).unwrap()).unwrap();
        kernels.saxpy(&builder, Launch::grid([1], [8]), 1.0, &x, &mut y).unwrap();
        kernels.saxpy(&builder, Launch::grid([1], [7]), 1.0, &x, &mut z).unwrap();
        let mut graph = builder.instantiate().unwrap();
        let streams = [device.new_stream().unwrap(), device.new_stream().unwrap()];
        for (round, stream) in streams.iter().chain(&streams).enumerate() {
            graph.launch(stream).unwrap();
            let error = if round < 2 {
                stream.synchronize().unwrap_err()
            } else {
                graph.slice(&y).unwrap().download().unwrap_err()
            };
            let text = error.to_string();
            assert!(text.contains("the len is 7 but the index is 7"), "{text}");
            stream.synchronize().unwrap();
            device.synchronize().unwrap();
        }
        assert_eq!(graph.slice(&z).unwrap().download().unwrap(), [4.0; 7]);
    }
}

#[track_caller]
fn assert_not_in_graph<T>(result: crate::Result<T>) {
    match result {
        Err(error @ Error::NotInGraph { .. }) => {
            assert!(error.to_string().contains("`GraphBuilder::add`"), "{error}");
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was taken"),
    }
}

#[test]
fn what_is_not_in_the_graph_is_refused() {
    for device in devices() {
        let kernels = kernels(&device);
        let (builder, other) = (device.graph(), device.graph());
        let add = |to: &crate::GraphBuilder| to.add(device.zeros::<f32>(3).unwrap()).unwrap();
        let (x, mut y) = (add(&builder), add(&builder));
        let (foreign, mut plain) = (add(&other), device.zeros::<f32>(3).unwrap());
        let launch = Launch::linear(3);
        // A buffer that would be gone when the graph is launched, and the buffer of another graph.
        assert_not_in_graph(kernels.saxpy(&builder, launch, 1.0, &x, &mut plain));
        assert_not_in_graph(kernels.saxpy(&builder, launch, 1.0, &plain, &mut y));
        assert_not_in_graph(kernels.saxpy(&builder, launch, 1.0, &foreign, &mut y));
        // A graph's buffer on a stream.
        assert_not_in_graph(kernels.saxpy(&device.stream(), launch, 1.0, &x, &mut plain));
        kernels.saxpy(&builder, launch, 1.0, &x, &mut y).unwrap();
        let mut graph = builder.instantiate().unwrap();
        assert_not_in_graph(graph.slice(&foreign).map(drop));
        assert_not_in_graph(graph.slice_mut(&foreign).map(drop));
        // A graph in a graph.
        let error = graph.launch(&other).unwrap_err();
        assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
        graph.launch(&device.stream()).unwrap();
        assert_not_in_graph(graph.into_buffers().take(foreign));
    }
}

#[test]
fn a_launch_that_is_too_large_is_refused_when_it_is_recorded() {
    let device = Device::cpu().unwrap();
    let kernels = kernels(&device);
    let builder = device.graph();
    let mut y = builder.add(device.zeros::<f32>(3).unwrap()).unwrap();
    let x = builder.add(device.zeros::<f32>(3).unwrap()).unwrap();
    let error = kernels.saxpy(&builder, Launch::grid([1], [1 << 30]), 1.0, &x, &mut y);
    assert!(matches!(error, Err(Error::Limit { .. })), "{error:?}");
    let mut graph = builder.instantiate().unwrap();
    graph.launch(&device.stream()).unwrap();
    assert_eq!(graph.slice(&y).unwrap().download().unwrap(), [0.0; 3]);
}

#[test]
fn buffers_kernels_and_streams_are_of_the_graphs_device() {
    let (one, two) = (Device::cpu().unwrap(), Device::cpu_sequential().unwrap());
    let builder = one.graph();
    let wrong = |error: Error| matches!(error, Error::WrongDevice { .. });
    assert!(wrong(builder.add(two.zeros::<f32>(3).unwrap()).unwrap_err()));
    let x = builder.add(one.zeros::<f32>(3).unwrap()).unwrap();
    let mut y = builder.add(one.zeros::<f32>(3).unwrap()).unwrap();
    let error = kernels(&two).saxpy(&builder, Launch::linear(3), 1.0, &x, &mut y);
    assert!(wrong(error.unwrap_err()));
    assert!(wrong(builder.instantiate().unwrap().launch(&two.stream()).unwrap_err()));
}

/// Compiles: both are streams to launch on.
#[test]
fn a_builder_is_a_stream_to_launch_on() {
    fn launch(_: &impl LaunchStream) {}
    let device = Device::cpu().unwrap();
    launch(&device.stream());
    launch(&device.graph());
}
