//! Operations among the 32 lanes of a warp.

use kernelmill_device::prelude::*;

// CHECK-PTX-COUNT-5: shfl.sync.bfly
// CHECK-PTX-NOT: bar.sync
// CHECK-AMD: ds_bpermute_b32
// CHECK-AMD-NOT: s_barrier
/// The sum over a warp by butterfly shuffles; every lane gets it.
#[kernel]
pub fn warp_sums(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let mut sum = x.get(i.get()).copied().unwrap_or(0);
    for distance in [16, 8, 4, 2, 1] {
        sum += warp::shuffle_xor(sum, distance);
    }
    if let Some(out) = y.get_mut(i) {
        *out = sum;
    }
}

// CHECK-PTX-COUNT-5: shfl.sync.up
/// Inclusive prefix sums over a warp by shuffles up.
#[kernel]
pub fn warp_prefix_sums(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let lane = warp::lane_id();
    let mut sum = x.get(i.get()).copied().unwrap_or(0);
    for distance in [1, 2, 4, 8, 16] {
        let below = warp::shuffle_up(sum, distance);
        if lane >= distance {
            sum += below;
        }
    }
    if let Some(out) = y.get_mut(i) {
        *out = sum;
    }
}

// CHECK-PTX-COUNT-1: shfl.sync.idx
// CHECK-PTX-COUNT-1: shfl.sync.down
/// Shuffle from one lane, shuffle down, and floats.
#[kernel]
pub fn warp_shuffles(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let value = x[i.get()];
    let from_third = warp::shuffle(value, 3);
    let below = warp::shuffle_down(value, 4);
    if let Some(out) = y.get_mut(i) {
        *out = from_third * 100.0 + below;
    }
}

// CHECK-PTX: vote.sync.ballot
/// Ballots, `all` and `any`.
#[kernel]
pub fn warp_votes(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let value = x[i.get()];
    let odd = warp::ballot(value % 2 == 1);
    let all = u32::from(warp::all(value < 1000));
    let any = u32::from(warp::any(value == 77));
    if let Some(out) = y.get_mut(i) {
        *out = odd ^ (all << 1) ^ any;
    }
}
