//! Safe kernels with local variables of nearly 1 MiB, and with those of a function behind a pointer nearly twice as
//! much.

use kernelmill_device::prelude::*;

/// Elements of a little less than 1 MiB.
const LARGE: usize = 261_000;

/// A number that depends on an array that is written here and there.
fn mix(seed: u32, x: &[u32]) -> u32 {
    let mut own = [seed; LARGE];
    for (place, value) in x.iter().enumerate() {
        own[(place * 31 + *value as usize) % LARGE] ^= *value;
    }
    own[x[0] as usize % LARGE].wrapping_mul(3) ^ own[(x[1] as usize).wrapping_mul(77) % LARGE]
}

trait Mix {
    fn mix(&self, x: &[u32]) -> u32;
}

struct Once(u32);
struct Twice(u32);

impl Mix for Once {
    #[inline(never)]
    fn mix(&self, x: &[u32]) -> u32 {
        mix(self.0, x)
    }
}

impl Mix for Twice {
    #[inline(never)]
    fn mix(&self, x: &[u32]) -> u32 {
        mix(self.0 * 2, x)
    }
}

#[kernel]
pub fn large(seed: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = mix(seed, x);
    }
}

/// The array of the kernel is there while that of the function is.
#[kernel]
pub fn large_through_a_trait(seed: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let (once, twice) = (Once(seed), Twice(seed));
    let chosen: &dyn Mix = if seed % 2 == 1 { &once } else { &twice };
    let mut own = [seed; LARGE];
    for (place, value) in x.iter().enumerate() {
        own[(place * 31 + *value as usize) % LARGE] ^= *value;
    }
    let mixed = chosen.mix(x);
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = mixed ^ own[(x[0] as usize).wrapping_add(mixed as usize) % LARGE];
    }
}

#[kernel]
pub fn without_stack(seed: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = seed ^ x[i.get() % x.len()];
    }
}

/// A recursion, as deep as `seed`.
#[inline(never)]
fn depth(left: u32, x: &[u32]) -> u32 {
    if left == 0 { 1 } else { depth(left - 1, x).rotate_left(x[0]) ^ left }
}

#[kernel]
pub fn recursive(seed: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = depth(seed, x);
    }
}

/// A barrier of which it is not known whether all threads come to it.
#[kernel]
pub fn large_between_turns(seed: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let mut mixed = 0;
    for _ in 0..seed % 3 + i.get() as u32 / 8 {
        mixed ^= Twice(seed).mix(x);
        thread::sync_threads();
    }
    if let Some(y) = y.get_mut(i) {
        *y = mixed;
    }
}
