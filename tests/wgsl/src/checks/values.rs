//! Structs, matrices, and buffers of several groups.

use super::{On, numbers};
use crate::kernels::{Particle, World};
use kernelmill::{Launch, Result};

pub(crate) fn fall(on: &On<'_>) -> Result<()> {
    let particle = |i: u32| Particle {
        position: [i as f32, i as f32 * 0.5, -1.0],
        mass: i as f32 + 0.25,
        velocity: [1.0, -2.0, 0.5],
        hits: i,
    };
    let particles: Vec<Particle> = (0..45).map(particle).collect();
    let world = World { step: 0.5, gravity: [0.0, -8.0, 2.0], floor: 1.0, ..World::default() };
    let mut there = on.device.upload(&particles)?;
    on.kernels.fall(&on.stream, Launch::grid([2], [32]), world, &mut there)?;
    let expected = particles.into_iter().map(|mut it| {
        for axis in 0..3 {
            it.velocity[axis] += world.step * world.gravity[axis];
            it.position[axis] += world.step * it.velocity[axis];
        }
        if it.position[1] < world.floor {
            it.position[1] = world.floor;
            it.velocity[1] = -it.velocity[1];
            it.hits += 1;
        }
        it
    });
    assert_eq!(there.download()?, expected.collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn transform(on: &On<'_>) -> Result<()> {
    // By columns.
    let turn =
        [[0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0], [3.0, 4.0, 5.0, 1.0]];
    let points: Vec<[f32; 4]> = (0..100).map(|i| [i as f32, 1.0, -2.0, 1.0]).collect();
    let mut there = on.device.upload(&points)?;
    on.kernels.transform(&on.stream, Launch::grid([2], [64]), turn, &mut there)?;
    let expected =
        points.iter().map(|[x, y, z, w]| [3.0 * w - y, x + 4.0 * w, 2.0 * z + 5.0 * w, *w]);
    assert_eq!(there.download()?, expected.collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn look_up(on: &On<'_>) -> Result<()> {
    let table: [[i32; 4]; 5] = std::array::from_fn(|i| [i as i32, 2, i as i32 - 3, 99]);
    let offsets = [[0, 0, 0, 1000], [0, 0, 0, -1000]];
    let places: Vec<u32> = numbers(40).collect();
    let (there, of) = (on.device.upload(&[table])?, on.device.upload(&places)?);
    let mut found = on.device.zeros::<i32>(40)?;
    on.kernels.look_up(&on.stream, Launch::grid([3], [16]), &there, offsets, &of, &mut found)?;
    let expected = places.iter().enumerate().map(|(i, place)| {
        let [x, y, z, _] = table[(place % 5) as usize];
        x + 10 * y + 100 * z + offsets[i % 2][3]
    });
    assert_eq!(found.download()?, expected.collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn multiply(on: &On<'_>) -> Result<()> {
    const SIDE: usize = 24;
    let numbers =
        |seed: u32| numbers(576).map(move |x| ((x ^ seed) % 16) as f32).collect::<Vec<_>>();
    let (left, right) = (numbers(1), numbers(2));
    let (x, y) = (on.device.upload(&left)?, on.device.upload(&right)?);
    let mut product = on.device.zeros::<f32>(SIDE * SIDE)?;
    let launch = Launch::grid([3, 3], [8, 8]);
    on.kernels.multiply(&on.stream, launch, SIDE as u32, &x, &y, &mut product)?;
    let at = |i: usize| {
        let (row, column) = (i / SIDE, i % SIDE);
        (0..SIDE).map(|k| left[row * SIDE + k] * right[k * SIDE + column]).sum::<f32>()
    };
    assert_eq!(product.download()?, (0..SIDE * SIDE).map(at).collect::<Vec<_>>());
    Ok(())
}
