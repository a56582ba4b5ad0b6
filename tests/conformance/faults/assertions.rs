use kernelmill_device::prelude::*;

fn halve(width: u32) -> u32 {
    static_assert!(width % 2 == 0, "rows are split in halves");
    width / 2
}

#[kernel]
pub fn proven(mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = halve(64);
        if *out > 1000 {
            static_assert!(*out > 10);
        }
        if core::mem::size_of::<usize>() == 2 {
            static_assert!(false, "never reached, so not asserted");
        }
    }
}

#[kernel]
pub fn wrong(width: u32, mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = halve(63) + halve(width);
    }
}
