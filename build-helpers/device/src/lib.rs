//! The device library of GPU kernels in Rust: thread indices, slices that threads share without races,
//! shared memory, barriers, warp-level primitives, atomics, tensor cores and a math library.
//!
//! ```
//! use kernelmill_device::prelude::*;
//!
//! #[kernel]
//! pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
//!     let i = thread::index_1d();
//!     if let Some(out) = y.get_mut(i) {
//!         *out += a * x[i.get()];
//!     }
//! }
//! ```
//!
//! `kernelmill-build` compiles such a file for each device. The same file can be a module of an
//! ordinary crate, so that editors read it and its functions can be tested on the host. [`float`] and
//! [`math`] give the same results there as on a device. Functions that need a launch ([`thread`],
//! [`grid`], [`warp`], [`fence`], [`shared`]) panic there, with a message that says so.
#![cfg_attr(kernelmill, no_std)]

#[doc(hidden)]
#[path = "constant.rs"]
pub mod __constant;
#[doc(hidden)]
#[path = "shim.rs"]
pub mod __shim;
mod assertion;
pub mod atomic;
pub mod block_array;
mod deferred;
mod derivative;
pub mod fast;
pub mod fence;
pub mod float;
mod function;
pub mod grid;
pub mod half;
#[cfg(kernelmill)]
mod heap;
pub mod index;
mod intrinsics;
pub mod math;
pub mod panic;
pub mod prelude;
pub mod print;
pub mod shared;
pub mod slice;
#[cfg(feature = "sources")]
pub mod sources;
pub mod stack;
pub mod tensor;
pub mod thread;
pub mod warp;

#[doc(hidden)]
pub use assertion::__static_assert;
#[doc(hidden)]
pub use derivative::shadow as __shadow;
pub use derivative::shadow::Shadow;
#[doc(hidden)]
pub use derivative::signature as __derivative;
pub use fast::fast_math;
pub use function::{DeviceFn, Function};
/// A kernel file that belongs to no kernel package gets this crate as `half`.
#[doc(no_inline)]
pub use half::{bf16, f16};
pub use kernelmill_device_macros::{device_fn, kernel};

/// Whether this is compiled as part of a kernel, for any target, the CPU too. It is a constant, so the
/// branch for the other case is removed.
///
/// ```
/// use kernelmill_device::{is_kernel, prelude::*};
///
/// /// The number of the thread; 0 in tests on the host, where there are no threads of a launch.
/// fn number() -> usize {
///     if is_kernel() { thread::index_1d().get() } else { 0 }
/// }
///
/// assert_eq!(number(), 0);
/// ```
#[must_use]
#[inline(always)]
pub const fn is_kernel() -> bool {
    cfg!(kernelmill)
}
