//! Fast-math flags: [`fast_math`] for a part of a kernel, and `#[kernel(fast_math)]` for a whole one.
//!
//! They are [LLVM's flags](https://llvm.org/docs/LangRef.html#fast-math-flags), all of them (`fast`). The
//! compiler may replace a division by a multiplication with the reciprocal, and `1.0 / x.sqrt()` by an
//! instruction with an error of 2 ulp, reassociate additions, and assume that no number is infinite or
//! NaN. On NVIDIA's processors it uses the approximate instructions for division and square root of
//! `f32`. The functions of [`crate::math`] keep their accuracy.
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

/// Calls a function with fast-math flags on its arithmetic, and on that of its callees. On the host it
/// only calls it.
#[inline(never)]
pub fn fast_math<R>(function: impl FnOnce() -> R) -> R {
    #[cfg(kernelmill)]
    mark();
    function()
}

/// Marks the calling function as one whose arithmetic gets fast-math flags.
#[cfg(kernelmill)]
#[doc(hidden)]
#[inline(always)]
pub fn mark() {
    unsafe extern "C" {
        safe fn __kernelmill_fast_math();
    }
    __kernelmill_fast_math();
}
