use kernelmill_device::prelude::*;

/// The pull of all bodies, each a place and a mass, on each of them.
#[kernel]
pub fn nbody(softening: f32, bodies: &[[f32; 4]], mut pulls: DisjointSlice<[f32; 3]>) {
    let i = thread::index_1d();
    let Some(out) = pulls.get_mut(i) else { return };
    let own = bodies[i.get()];
    let mut sum = [0.0; 3];
    for other in bodies {
        let d = [other[0] - own[0], other[1] - own[1], other[2] - own[2]];
        let inverse = 1.0 / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening).sqrt();
        let pull = other[3] * inverse * inverse * inverse;
        sum = [sum[0] + d[0] * pull, sum[1] + d[1] * pull, sum[2] + d[2] * pull];
    }
    *out = sum;
}
