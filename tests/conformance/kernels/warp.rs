//! Operations among the 32 lanes of a warp.

use kernelmill_device::prelude::*;

// CHECK-PTX-COUNT-5: shfl.sync.bfly
// CHECK-PTX-NOT: bar.sync
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
// CHECK-AMD: ds_bpermute_b32
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

/// Every operation in a loop, over threads in three dimensions, with distances that differ from lane to
/// lane and are beyond a warp.
#[inline(always)]
fn mix(rounds: u32, x: &[u32]) -> u32 {
    static mut TILE: SharedArray<u32, 1024> = SharedArray::UNINIT;
    let (linear, i) = (linear_thread(), linear_index());
    let mut value = x[i];
    for round in 0..rounds {
        let by = round * 11 % 40;
        value ^= warp::shuffle(value, round * 5);
        value = value.rotate_left(3).wrapping_add(warp::shuffle_xor(value, by));
        value = value.wrapping_add(warp::shuffle_up(value, x[i] % 37));
        value ^= warp::shuffle_down(value, by);
        // SAFETY: a thread writes its own element, and reads another's of its warp between two barriers.
        unsafe {
            TILE[linear as usize % 1024] = value;
            warp::sync();
            value = value.wrapping_add(TILE[(linear - linear % 32 / 2) as usize % 1024]);
            warp::sync();
        }
        value = value.wrapping_mul(31) ^ warp::ballot(value % 3 == 0);
        // Not `||`, after which the threads of a warp alone would come to `any` together.
        if warp::all(value % 2 == 0) | warp::any(value % 64 == 5) {
            value = value.wrapping_add(1);
        }
    }
    value
}

/// The thread's number in its block of three dimensions.
fn linear_thread() -> u32 {
    let (thread, size) = (thread::thread_idx(), thread::block_dim());
    (thread.z * size.y + thread.y) * size.x + thread.x
}

/// The thread's number in the launch, of blocks along x.
fn linear_index() -> usize {
    let size = thread::block_dim();
    (thread::block_idx().x * size.x * size.y * size.z + linear_thread()) as usize
}

/// Writes the element of [`linear_index`].
fn put(mut y: DisjointSlice<u32>, value: u32) {
    let i = linear_index();
    if i < y.len() {
        // SAFETY: in bounds, and only this thread has this element.
        unsafe { *y.get_unchecked_mut(i) = value };
    }
}

/// [`mix`] where all threads come to the operations together.
#[kernel(dim = 3)]
pub fn warp_mixed(rounds: u32, x: &[u32], y: DisjointSlice<u32>) {
    put(y, mix(rounds, x));
}

/// The same where only the launch says that they do, under a condition with a barrier: a thread writes what the one
/// opposite it in the block has.
#[kernel(dim = 3)]
pub fn warp_mixed_apart(rounds: u32, x: &[u32], y: DisjointSlice<u32>) {
    static mut OPPOSITE: SharedArray<u32, 1024> = SharedArray::UNINIT;
    let (linear, size) = (linear_thread() as usize, thread::block_dim());
    let last = (size.x * size.y * size.z - 1) as usize;
    let mut value = 0;
    if thread::thread_idx().x < 1024 + rounds {
        value = mix(rounds, x);
        // SAFETY: a thread writes an element that no other does, and reads after a barrier; blocks have 1024 at most.
        unsafe {
            OPPOSITE[(last - linear) % 1024] = value;
            thread::sync_threads();
            value = OPPOSITE[linear % 1024];
        }
    }
    warp::sync();
    put(y, value);
}

/// The same where threads might have returned before.
#[kernel(dim = 3)]
pub fn warp_mixed_rest(rounds: u32, x: &[u32], y: DisjointSlice<u32>) {
    if thread::thread_idx().x >= 1024 + rounds {
        return;
    }
    put(y, mix(rounds, x));
}
