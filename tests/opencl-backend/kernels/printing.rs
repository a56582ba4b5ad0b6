//! Kernels that print.

use kernelmill_device::prelude::*;

/// Numbers, texts and what else the host formats.
#[kernel]
pub fn says(x: &[f32]) {
    let i = thread::index_1d().get();
    if i >= x.len() {
        return;
    }
    gpu_println!("{i} integers {} {:>5} {:#x} {:08b}", i as i32 - 2, i as i8, i as u16 * 77, 5 + i);
    gpu_println!("{i} floats {} {:.3} {:e}", x[i], f64::from(x[i]) / 3.0, x[i] * 1e10);
    gpu_println!("{i} others {} {:?} {} {:?} {:?}", i == 1, 'ü', "text", "quoted", Some(i));
    gpu_println!("{{{i}}}");
}

/// More lines than there is room for.
#[kernel]
pub fn fills(lines: u32) {
    for line in 0..lines {
        gpu_println!("line {line}");
    }
}

/// Prints before it panics.
#[kernel]
pub fn fails(x: &[u32]) {
    let i = thread::index_1d().get();
    gpu_println!("before {i}");
    assert!(x[i] < 2, "element {i} is {}", x[i]);
    gpu_println!("behind {i}");
}
