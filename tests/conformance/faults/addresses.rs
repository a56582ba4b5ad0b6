use kernelmill_device::prelude::*;

const REGISTER: *mut u32 = 0x7f00_1234_0000 as *mut u32;

#[kernel]
pub fn poke(mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = unsafe { REGISTER.add(3).read_volatile() };
        unsafe { *REGISTER.add(*out as usize) = 1 };
    }
}
