//! Functions that ask which thread they run in and cannot become part of their kernel, because
//! they call themselves or are called through pointers.

use kernelmill_device::prelude::*;

/// The sum of `thread + depth` over the levels from `depth` to the thread's own number modulo 7.
fn descend(depth: u32) -> u32 {
    let t = thread::thread_idx().x + 100 * thread::block_idx().x;
    if depth >= t % 7 { t + depth } else { t + depth + descend(depth + 1) }
}

/// Recursion that depends on the thread.
#[kernel]
pub fn recursive_index(mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = descend(0);
    }
}

static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;

fn own(_: u32) -> u32 {
    thread::thread_idx().x
}

fn neighbour(step: u32) -> u32 {
    let t = thread::thread_idx().x + step;
    // SAFETY: the tile is complete and nobody writes to it any more.
    unsafe { TILE[(t % thread::block_dim().x) as usize] }
}

fn size(_: u32) -> u32 {
    thread::block_dim().x * thread::grid_dim().x
}

static FUNCTIONS: [fn(u32) -> u32; 3] = [own, neighbour, size];

/// Functions called through pointers, one of which reads shared memory. Blocks of 64 threads.
#[kernel]
pub fn index_through_pointer(select: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let t = thread::thread_idx().x as usize;
    // SAFETY: each thread writes its own element, before the barrier.
    unsafe { TILE[t] = 1000 + i.get() as u32 };
    thread::sync_threads();
    if let Some(out) = y.get_mut(i) {
        let function = FUNCTIONS[select[i.get()] as usize % 3];
        *out = function(3);
    }
}

fn sink(depth: u32, limit: u32) -> u32 {
    assert!(depth < limit, "thread {} sank to {depth}", thread::thread_idx().x);
    if depth > thread::thread_idx().x % 4 + 2 { depth } else { 1 + sink(depth + 1, limit) }
}

/// Panics in a function that is not part of the kernel, in thread 37 of the launch.
#[kernel]
pub fn panic_in_recursion(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = sink(0, x[i.get()]);
    }
}

/// The same between two barriers: each thread sinks for the one opposite of it.
#[kernel]
pub fn panic_in_recursion_at_barrier(x: &[u32], mut y: DisjointSlice<u32>) {
    static mut LIMITS: SharedArray<u32, 32> = SharedArray::UNINIT;
    static mut DEPTHS: SharedArray<u32, 32> = SharedArray::UNINIT;
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    // SAFETY: each thread writes its own elements, and reads others' only after a barrier.
    unsafe {
        LIMITS[31 - t] = x[i.get() ^ 31];
        // What is opposite of the thread that panics reads this.
        DEPTHS[t] = 0;
        thread::sync_threads();
        DEPTHS[t] = sink(0, LIMITS[t]);
        thread::sync_threads();
        if let Some(out) = y.get_mut(i) {
            *out = DEPTHS[31 - t];
        }
    }
}

fn quotient(x: &[u32], i: usize, depth: u32) -> u32 {
    if depth == 0 { 100 / x[i] } else { quotient(x, i, depth - 1) + 1 - x[i] / x[i] }
}

/// Panics in a function that stays out of line on every target: it calls itself before it is done.
#[kernel]
pub fn panic_out_of_line(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = quotient(x, i.get(), 3 + *out);
    }
}
