//! Kernels that print.

use kernelmill_device::prelude::*;

/// Every primitive type, with widths and precisions.
#[kernel]
pub fn prints(x: &[f32]) {
    let i = thread::index_1d().get();
    if i >= x.len() {
        return;
    }
    let (signed, wide) = (i as i32 - 2, u64::MAX - i as u64);
    gpu_println!("{i} integers {signed} {:>5} {:<4}| {wide} {:#x} {:08b}", signed as i8, i as u8, i as u16 * 77, 5 + i);
    gpu_println!("{i} floats {} {:.3} {:>9.2} {:e}", x[i], x[i], f64::from(x[i]) / 3.0, x[i] * 1e10);
    gpu_println!("{i} others {} {:?} {} {:?} {}", i == 1, 'ü', "text", Some(i), i128::from(signed) << 70);
}

/// Lines of many threads at the same time.
#[kernel]
pub fn prints_lines(x: &[u32]) {
    let i = thread::index_1d().get();
    for round in 0..3 {
        gpu_println!("thread {i} round {round} value {} {}", x[i], "-".repeat_to(20));
    }
}

trait Repeat {
    fn repeat_to(self, times: usize) -> Repeated;
}

impl Repeat for &'static str {
    fn repeat_to(self, times: usize) -> Repeated {
        Repeated(self, times)
    }
}

/// A text several times, one piece after the other.
pub struct Repeated(&'static str, usize);

impl core::fmt::Display for Repeated {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        (0..self.1).try_for_each(|_| formatter.write_str(self.0))
    }
}
