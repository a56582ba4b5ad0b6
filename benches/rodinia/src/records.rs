//! Programs on points and graphs: nn, kmeans, bfs.

use kernelmill::Launch;

use crate::{
    kernels::{Node, latLong as LatLong},
    numbers::{difference, fractions, integers, mismatches},
    program::{Machine, Program, Run},
};

pub(crate) fn programs() -> [Program; 3] {
    [nn(1_000_000), kmeans(100_000, 34, 5), bfs(200_000, 6)]
}

fn groups(count: usize) -> Launch<1> {
    Launch::grid([count.div_ceil(256) as u32], [256])
}

/// How far places are from one.
fn nn(count: usize) -> Program {
    const LAT: f32 = 30.0;
    const LNG: f32 = 90.0;
    let numbers = fractions(2 * count, 14);
    let place = |pair: &[f32; 2]| LatLong { lat: 60.0 * pair[0], lng: 180.0 * pair[1] };
    let places: Vec<_> = numbers.as_chunks().0.iter().map(place).collect();
    let far = |it: &LatLong| (LAT - it.lat).hypot(LNG - it.lng);
    let expected: Vec<_> = places.iter().map(far).collect();
    Program::new("nn", move |machine: &Machine| {
        let Machine { device, kernels, stream } = machine;
        let (mut from, mut distances) = (device.upload(&places)?, device.zeros::<f32>(count)?);
        let time = machine.time(|| {
            // SAFETY: there are `count` places, and as many distances.
            unsafe {
                kernels.NearestNeighbor(
                    stream,
                    groups(count),
                    &mut from,
                    &mut distances,
                    count as i32,
                    LAT,
                    LNG,
                )?;
            }
            Ok(())
        })?;
        Ok(Run { time, difference: difference(&distances.download()?, &expected) })
    })
}

/// Which of some centers is nearest to each point.
fn kmeans(points: usize, features: usize, centers: usize) -> Program {
    let given = fractions(points * features, 15);
    let clusters = fractions(centers * features, 16);
    let columns = given.clone();
    let centers_of = clusters.clone();
    let far = move |point: usize, center: usize| -> f32 {
        let (left, right) = (&columns[point * features..], &centers_of[center * features..]);
        left[..features].iter().zip(right).map(|(a, b)| (a - b) * (a - b)).sum()
    };
    let nearest =
        |point: usize| (0..centers).map(|center| far(point, center)).fold(f32::MAX, f32::min);
    let expected: Vec<_> = (0..points).map(nearest).collect();
    Program::new("kmeans", move |machine: &Machine| {
        let Machine { device, kernels, stream } = machine;
        let (mut rows, mut centers_there) = (device.upload(&given)?, device.upload(&clusters)?);
        let mut columns = device.zeros::<f32>(points * features)?;
        let mut membership = device.zeros::<i32>(points)?;
        let [count, width, number] = [points, features, centers].map(|it| it as i32);
        let time = machine.time(|| {
            // SAFETY: there are so many points and centers, and each has so many features.
            unsafe {
                kernels.kmeans_swap(
                    stream,
                    groups(points),
                    &mut rows,
                    &mut columns,
                    count,
                    width,
                )?;
                kernels.kmeans_kernel_c(
                    stream,
                    groups(points),
                    &mut columns,
                    &mut centers_there,
                    &mut membership,
                    count,
                    number,
                    width,
                    0,
                    0,
                )?;
            }
            Ok(())
        })?;
        // Two centers can be as near.
        let members = membership.download()?;
        let found: Vec<_> =
            members.iter().enumerate().map(|(it, of)| far(it, *of as usize)).collect();
        Ok(Run { time, difference: difference(&found, &expected) })
    })
}

/// How many edges away the nodes of a graph are from the first.
fn bfs(count: usize, degree: usize) -> Program {
    let edges = integers(count * degree, count as i32, 17);
    let node = |it: usize| Node { starting: (it * degree) as i32, no_of_edges: degree as i32 };
    let nodes: Vec<_> = (0..count).map(node).collect();
    let mut expected = vec![-1; count];
    expected[0] = 0;
    let mut level = vec![0];
    while !level.is_empty() {
        let mut next = Vec::new();
        for from in level {
            for to in &edges[from * degree..(from + 1) * degree] {
                let to = *to as usize;
                if expected[to] < 0 {
                    expected[to] = expected[from] + 1;
                    next.push(to);
                }
            }
        }
        level = next;
    }
    let mut first = vec![0_i8; count];
    first[0] = 1;
    let mut costs = vec![-1; count];
    costs[0] = 0;
    Program::new("bfs", move |machine: &Machine| {
        let Machine { device, kernels, stream } = machine;
        let (graph, targets) = (device.upload(&nodes)?, device.upload(&edges)?);
        let (mut mask, mut visited) = (device.upload(&first)?, device.upload(&first)?);
        let (mut updating, mut over) = (device.zeros::<i8>(count)?, device.zeros::<i8>(1)?);
        let mut cost = device.upload(&costs)?;
        let number = count as i32;
        let time = machine.time(|| {
            loop {
                over.copy_from(&[0])?;
                // SAFETY: each node's edges are there, and lead to nodes that are.
                unsafe {
                    kernels.BFS_1(
                        stream,
                        groups(count),
                        &graph,
                        &targets,
                        &mut mask,
                        &mut updating,
                        &mut visited,
                        &mut cost,
                        number,
                    )?;
                    kernels.BFS_2(
                        stream,
                        groups(count),
                        &mut mask,
                        &mut updating,
                        &mut visited,
                        &mut over,
                        number,
                    )?;
                }
                if over.download()? == [0] {
                    return Ok(());
                }
            }
        })?;
        Ok(Run { time, difference: mismatches(&cost.download()?, &expected) })
    })
}
