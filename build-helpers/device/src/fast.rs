//! Arithmetic that may be less exact than it is written: [`fast_math`], for a part of a kernel, and
//! `#[kernel(fast_math)]`, for a whole one.
//!
//! In such a part the compiler may take a division for a multiplication by the reciprocal,
//! `1.0 / x.sqrt()` for the instruction that computes it within 2 ulp, change the order of additions,
//! and believe that no number is infinite or NaN. On NVIDIA's processors it takes the approximate
//! instructions for division and square root of `f32`. The functions of [`crate::math`] stay as
//! exact as they are.
//!
//! ```
//! use kernelmill_device::prelude::*;
//!
//! #[kernel(fast_math)]
//! pub fn lengths(x: &[f32], mut y: DisjointSlice<f32>) {
//!     let i = thread::index_1d();
//!     if let Some(out) = y.get_mut(i) {
//!         *out = 1.0 / x[i.get()].sqrt();
//!     }
//! }
//!
//! #[kernel]
//! pub fn mixed(x: &[f32], mut y: DisjointSlice<f32>) {
//!     let i = thread::index_1d();
//!     if let Some(out) = y.get_mut(i) {
//!         let scale = fast_math(|| 1.0 / x[i.get()].sqrt());
//!         *out = scale / 3.0; // rounded as ever
//!     }
//! }
//! ```

/// Calls a function, and lets its arithmetic, and that of what it calls, be less exact than it is
/// written. On the host it only calls it.
#[inline(never)]
pub fn fast_math<R>(function: impl FnOnce() -> R) -> R {
    #[cfg(kernelmill)]
    mark();
    function()
}

/// Marks the function that calls it as one whose arithmetic may be less exact.
#[cfg(kernelmill)]
#[doc(hidden)]
#[inline(always)]
pub fn mark() {
    unsafe extern "C" {
        safe fn __kernelmill_fast_math();
    }
    __kernelmill_fast_math();
}
