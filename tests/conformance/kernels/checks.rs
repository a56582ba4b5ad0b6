//! Checks that ask for a condition which another block has computed: panics and assertions after outlined
//! calls and barriers.

use kernelmill_device::prelude::*;

#[inline(never)]
fn grown(x: u32, by: u32) -> u32 {
    let (mut sum, mut i) = (x, 0);
    while i < 40 {
        sum = sum.wrapping_mul(by).wrapping_add(i);
        i += 1;
        if sum > 1000 {
            sum /= 2;
        }
    }
    sum
}

/// Panics after an outlined call where a condition from before it does not hold.
#[kernel]
pub fn check_after_call(x: &[u32], limits: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let is_in = i.get() * 2 + 2 <= limits.len();
    if let Some(out) = y.get_mut(i) {
        *out = grown(x[i.get()], 3);
        if !is_in {
            panic!("thread {} has no limits", i.get());
        }
    }
}

/// The same with two conditions, of which some threads need one.
#[kernel]
pub fn checks_after_call(x: &[u32], limits: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let (low, high) = (i.get() + 3 < limits.len(), i.get() * 4 < limits.len() * 3);
    let Some(out) = y.get_mut(i) else { return };
    let value = x[i.get()];
    if value % 2 == 0 {
        *out = grown(value, 3);
        assert!(low);
    } else {
        *out = grown(value, 5);
        assert!(high);
        if value % 3 == 0 {
            return;
        }
    }
    *out += 1;
}

/// The same where a barrier lies between the condition and the panic. Blocks of 64 threads.
#[kernel]
pub fn check_after_barrier(x: &[u32], limits: &[u32], mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    let is_in = i.get() * 2 + 2 <= limits.len();
    // SAFETY: each thread writes its own element, before the barrier.
    unsafe { TILE[t] = x[i.get()] };
    thread::sync_threads();
    // SAFETY: nobody writes any more.
    let value = unsafe { TILE[t ^ 1] };
    if let Some(out) = y.get_mut(i) {
        *out = grown(value, 3);
        assert!(is_in);
    }
}

/// Reads in a branch that uniform numbers decide, at places that would wrap without it.
#[kernel]
pub fn check_in_branch(first: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let t = thread::block_idx().x * thread::block_dim().x + thread::thread_idx().x;
    let Some(out) = y.get_mut(i) else { return };
    *out = 1;
    if first < 0x2000_0000 {
        let place = first * 7 + t;
        *out = x.get(place as usize).copied().unwrap_or(2);
    }
}
