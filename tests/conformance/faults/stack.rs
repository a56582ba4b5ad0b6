//! Local variables that the stack of a thread of the host has no room for.

use kernelmill_device::prelude::*;

fn most_frequent(x: &[u32]) -> u32 {
    let mut counts = [0_u32; 1 << 19];
    for value in x {
        counts[*value as usize % (1 << 19)] += 1;
    }
    let most = (0..counts.len()).max_by_key(|value| counts[*value]);
    most.unwrap_or_default() as u32
}

#[kernel]
pub fn modes(x: &[u32], mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = most_frequent(x);
    }
}
