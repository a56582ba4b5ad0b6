//! Fast-math flags: [`fast_math`] for a part of a kernel, and `#[kernel(fast_math)]` for a whole one.
//!
//! They are [LLVM's flags](https://llvm.org/docs/LangRef.html#fast-math-flags) `reassoc`, `nsz`, `arcp`,
//! `contract` and `afn`. The compiler may replace a division by a multiplication with the reciprocal, and
//! `1.0 / x.sqrt()` by an instruction with an error of 2 ulp, reassociate additions, and take -0.0 for 0.0. On
//! NVIDIA's processors it uses the approximate instructions for division and square root of `f32`. The
//! functions of [`crate::math`] keep their accuracy.
//!
//! NaN and infinity stay what they are: the flags `nnan` and `ninf` are not set, because with them a NaN is
//! undefined behaviour, and these functions are safe. A reordered sum may be infinite, or NaN, where the one that
//! is written is not, and the reverse.
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
