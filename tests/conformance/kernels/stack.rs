//! Recursion with frames that are larger than a page.

use kernelmill_device::prelude::*;

fn sink(depth: u32, above: &[u32; 2048]) -> u32 {
    let mut own = *above;
    own[depth as usize % 2048] ^= depth;
    if depth == 0 { own[5] } else { sink(depth - 1, &own) ^ own[7] }
}

/// As deep as the host says, 8 KiB a level.
#[kernel]
pub fn deep_frames(depth: u32, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = sink(depth, &[i.get() as u32; 2048]);
    }
}
