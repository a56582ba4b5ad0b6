use kernelmill_device::prelude::*;

/// Threads of a block, and bodies of a tile.
const TILE: usize = 256;

/// A body's place and mass.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Body {
    /// Place along the first axis.
    pub x: f32,
    /// Place along the second axis.
    pub y: f32,
    /// Place along the third axis.
    pub z: f32,
    /// Mass, with the gravitational constant in it.
    pub mass: f32,
}

/// Changes velocities by the pull of all bodies over `step` seconds.
///
/// Blocks of 256 threads, a thread for each body. `softening` is the square of a length that keeps
/// the pull of near bodies finite.
#[kernel]
pub fn accelerate(
    step: f32,
    softening: f32,
    bodies: &[Body],
    mut velocities: DisjointSlice<[f32; 3]>,
) {
    static mut BODIES: SharedArray<Body, TILE> = SharedArray::UNINIT;
    let i = thread::index_1d();
    let t = thread::thread_idx().x as usize % TILE;
    let nothing = Body { x: 0.0, y: 0.0, z: 0.0, mass: 0.0 };
    let own = if let Some(body) = bodies.get(i.get()) { *body } else { nothing };
    // SAFETY: the tile is read between two barriers, and written outside of them.
    let tile = unsafe { &raw mut BODIES[0] };
    let (mut ax, mut ay, mut az) = (0.0, 0.0, 0.0);
    let mut start = 0;
    while start < bodies.len() {
        let body = if let Some(body) = bodies.get(start + t) { *body } else { nothing };
        // SAFETY: each thread writes its own element.
        unsafe { *tile.add(t) = body };
        thread::sync_threads();
        for other in 0..TILE {
            // SAFETY: the whole tile is written.
            let other = unsafe { *tile.add(other) };
            let (dx, dy, dz) = (other.x - own.x, other.y - own.y, other.z - own.z);
            let inverse = (dx * dx + dy * dy + dz * dz + softening).rsqrt();
            let pull = other.mass * inverse * inverse * inverse;
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        thread::sync_threads();
        start += TILE;
    }
    if let Some(velocity) = velocities.get_mut(i) {
        let [x, y, z] = *velocity;
        *velocity = [x + step * ax, y + step * ay, z + step * az];
    }
}

/// Moves bodies along their velocities for `step` seconds.
#[kernel]
pub fn drift(step: f32, velocities: &[[f32; 3]], mut bodies: DisjointSlice<Body>) {
    let i = thread::index_1d();
    if let Some(body) = bodies.get_mut(i) {
        let [x, y, z] = velocities[i.get()];
        body.x += step * x;
        body.y += step * y;
        body.z += step * z;
    }
}
