//! Moves bodies under their gravity, all pairs, by tiles in shared memory.

mod kernels {
    kernelmill::include_kernels!();
}
use kernelmill::{Device, Launch};
use kernels::{Body, Kernels};
use std::{error::Error, time::Instant};

const BODIES: usize = 1000;
const STEPS: usize = 20;
/// Seconds of one step.
const STEP: f32 = 0.005;
/// The square of the length below which the pull of bodies stops to grow.
const SOFTENING: f32 = 0.01;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::best()?;
    let kernels = Kernels::load(&device)?;
    let (bodies, velocities) = disc();
    let before = energy(&bodies, &velocities);
    let start = Instant::now();
    let (moved, after_velocities) = simulate(&device, &kernels, &bodies, &velocities)?;
    let seconds = start.elapsed().as_secs_f64();
    let after = energy(&moved, &after_velocities);

    let change = ((after - before) / before).abs();
    let distance: f64 =
        bodies.iter().zip(&moved).map(|(a, b)| f64::from((a.x - b.x).hypot(a.y - b.y))).sum();
    if change.is_nan() || change > 1e-3 || distance < 1.0 {
        return Err(format!("nbody: energy {before} became {after}, way {distance}").into());
    }
    println!(
        "nbody: {BODIES} bodies, {STEPS} steps, energy kept to {change:.1e}, {:.2e} pairs a second on {}",
        (BODIES * BODIES * STEPS) as f64 / seconds,
        device.name(),
    );
    Ok(())
}

/// Half a step of velocity, a step of place, half a step of velocity: energy is kept to second
/// order.
fn simulate(
    device: &Device,
    kernels: &Kernels,
    bodies: &[Body],
    velocities: &[[f32; 3]],
) -> kernelmill::Result<(Vec<Body>, Vec<[f32; 3]>)> {
    let stream = device.stream();
    let (mut bodies, mut velocities) = (device.upload(bodies)?, device.upload(velocities)?);
    let blocks = Launch::grid([BODIES.div_ceil(256) as u32], [256]);
    for step in 0..STEPS {
        let kick = if step == 0 { 0.5 * STEP } else { STEP };
        kernels.accelerate(&stream, blocks, kick, SOFTENING, &bodies, &mut velocities)?;
        kernels.drift(&stream, blocks, STEP, &velocities, &mut bodies)?;
    }
    kernels.accelerate(&stream, blocks, 0.5 * STEP, SOFTENING, &bodies, &mut velocities)?;
    Ok((bodies.download()?, velocities.download()?))
}

/// Bodies on a disc about a heavy one, each on a circle.
fn disc() -> (Vec<Body>, Vec<[f32; 3]>) {
    let place = |i: usize| {
        let radius = 0.3 + (i as f32 / BODIES as f32).sqrt() * 2.0;
        let angle = i as f32 * 2.399_963;
        (radius, angle)
    };
    let body = |i: usize| {
        let (radius, angle) = place(i);
        let height = 0.02 * ((i * 17) % 11) as f32 - 0.1;
        Body { x: radius * angle.cos(), y: radius * angle.sin(), z: height, mass: 1e-4 }
    };
    let velocity = |i: usize| {
        let (radius, angle) = place(i);
        let speed = (1.0 / radius).sqrt();
        [-speed * angle.sin(), speed * angle.cos(), 0.0]
    };
    let mut bodies: Vec<Body> = (0..BODIES).map(body).collect();
    let mut velocities: Vec<[f32; 3]> = (0..BODIES).map(velocity).collect();
    bodies[0] = Body { x: 0.0, y: 0.0, z: 0.0, mass: 1.0 };
    velocities[0] = [0.0; 3];
    (bodies, velocities)
}

/// Kinetic and potential energy in double precision; masses hold the gravitational constant.
fn energy(bodies: &[Body], velocities: &[[f32; 3]]) -> f64 {
    let place = |body: &Body| [body.x, body.y, body.z].map(f64::from);
    let mut energy = 0.0;
    for (i, (body, velocity)) in bodies.iter().zip(velocities).enumerate() {
        let speed: f64 = velocity.iter().map(|&part| f64::from(part).powi(2)).sum();
        energy += 0.5 * f64::from(body.mass) * speed;
        for other in &bodies[..i] {
            let (a, b) = (place(body), place(other));
            let square: f64 = (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum();
            let distance = (square + f64::from(SOFTENING)).sqrt();
            energy -= f64::from(body.mass) * f64::from(other.mass) / distance;
        }
    }
    energy
}
