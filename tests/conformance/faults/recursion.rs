use kernelmill_device::prelude::*;

fn is_even(n: u32) -> bool {
    if n % 2 == 0 { is_odd(n + 1) } else { !is_odd(n - 1) }
}

fn is_odd(n: u32) -> bool {
    !is_even(n)
}

fn count(n: u32) -> u32 {
    1 + count(n + 1)
}

#[kernel]
pub fn parity(mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = u32::from(is_even(*out)) + count(*out);
    }
}
