//! Which functions are calls. Check 7 of the seeds is here.

use kernelmill_device::prelude::*;

#[inline(always)]
fn polynomial_inline(x: f32) -> f32 {
    (0..40).fold(x, |sum, i| sum.mul_add(x, i as f32 / (x + i as f32)))
}

/// Cannot panic: on AMD what can is compiled into its kernel.
#[inline(never)]
fn polynomial_call(x: f32) -> f32 {
    let (mut sum, mut i) = (x, 0u32);
    while i < 40 {
        sum = sum.mul_add(x, i as f32 / (x - i as f32));
        i = i.wrapping_add(1);
    }
    sum
}

// CHECK-PTX-NOT: polynomial_inline
// CHECK-PTX-NOT: call.uni
// CHECK-AMD-NOT: s_swappc
#[kernel]
pub fn callee_absent(mut y: DisjointSlice<f32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = polynomial_inline(*out);
    }
}

// CHECK-PTX: polynomial_call
// CHECK-AMD: s_swappc
#[kernel]
pub fn callee_present(mut y: DisjointSlice<f32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = polynomial_call(*out);
    }
}

// CHECK-PTX-COUNT-1: bar.sync
// CHECK-AMD-COUNT-1: s_barrier
// CHECK-PTX-NOT: static_assert
// CHECK-AMD-NOT: static_assert
#[kernel]
pub fn proven(mut y: DisjointSlice<f32>) {
    static_assert!(core::mem::size_of::<usize>() == 8);
    let i = thread::index_1d();
    thread::sync_threads();
    if let Some(out) = y.get_mut(i) {
        *out += 1.0;
        if i.get() > 100 {
            static_assert!(i.get() > 10);
        }
    }
}

/// As long as the one that is called, and nobody says that it is inlined.
#[device_fn]
fn polynomial_typed(x: f32) -> f32 {
    let (mut sum, mut i) = (x, 0u32);
    while i < 40 {
        sum = sum.mul_add(x, i as f32 / (x - i as f32));
        i = i.wrapping_add(1);
    }
    sum.mul_add(sum / x, x)
}

// CHECK-PTX-NOT: call.uni
// CHECK-AMD-NOT: s_swappc
#[kernel(instances = ["polynomial_typed"])]
pub fn by_type<F: Function<(f32,), Output = f32>>(mut y: DisjointSlice<f32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = F::call((F::call((*out,)),));
    }
}
