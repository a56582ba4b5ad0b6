//! Atomics: those of [`core::sync::atomic`], which work in kernels, and atomics on floating-point
//! numbers.
//!
//! ```
//! use kernelmill_device::atomic::{AtomicF32, Ordering};
//!
//! let mut sum = 1.0_f32;
//! // SAFETY: `sum` lives on, and is used only through the atomic meanwhile.
//! let atomic = unsafe { AtomicF32::from_ptr(&raw mut sum) };
//! assert_eq!(atomic.fetch_add(0.5, Ordering::Relaxed), 1.0);
//! assert_eq!(sum, 1.5);
//! ```
//!
//! Additions and subtractions are single instructions on devices that have them. That of `f32` flushes subnormal
//! numbers in global memory on NVIDIA's processors: see [`AtomicF32::fetch_add`].

pub use core::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8,
    AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

#[cfg(kernelmill)]
use crate::intrinsics;

macro_rules! float_atomics {
    ($($atomic:ident, $float:ident, $bits:ident, $add:ident, $flushes:literal;)*) => {
        $(
            #[doc = concat!("An `", stringify!($float), "` that threads share.")]
            #[derive(Debug, Default)]
            #[repr(transparent)]
            pub struct $atomic($bits);

            impl $atomic {
                /// An atomic that holds `value`.
                #[inline(always)]
                #[must_use]
                pub const fn new(value: $float) -> Self {
                    Self($bits::new(value.to_bits()))
                }

                /// The number at `pointer` as an atomic.
                ///
                /// # Safety
                ///
                /// `pointer` is aligned and valid for reads and writes for `'a`, and meanwhile
                /// nothing uses the number other than atomically.
                #[inline(always)]
                #[must_use]
                pub const unsafe fn from_ptr<'a>(pointer: *mut $float) -> &'a Self {
                    // SAFETY: the caller's word; the layouts are the same.
                    unsafe { &*pointer.cast() }
                }

                /// The address of the number.
                #[inline(always)]
                #[must_use]
                pub const fn as_ptr(&self) -> *mut $float {
                    self.0.as_ptr().cast()
                }

                /// The number.
                #[inline(always)]
                #[must_use]
                pub fn load(&self, order: Ordering) -> $float {
                    $float::from_bits(self.0.load(order))
                }

                /// Stores `value`.
                #[inline(always)]
                pub fn store(&self, value: $float, order: Ordering) {
                    self.0.store(value.to_bits(), order);
                }

                /// Stores `value` and returns the number before.
                #[inline(always)]
                pub fn swap(&self, value: $float, order: Ordering) -> $float {
                    $float::from_bits(self.0.swap(value.to_bits(), order))
                }

                /// Stores `new` if the number has the bits of `current`, and returns the number
                /// before.
                ///
                /// # Errors
                ///
                /// The number as it is, when it has other bits.
                #[inline(always)]
                pub fn compare_exchange(
                    &self,
                    current: $float,
                    new: $float,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$float, $float> {
                    self.0
                        .compare_exchange(current.to_bits(), new.to_bits(), success, failure)
                        .map($float::from_bits)
                        .map_err($float::from_bits)
                }

                /// Adds `value` and returns the number before.
                ///
                #[doc = concat!("One instruction where a device has one for `", stringify!($float), "`.")]
                #[doc = $flushes]
                #[inline(always)]
                pub fn fetch_add(&self, value: $float, order: Ordering) -> $float {
                    #[cfg(kernelmill)]
                    {
                        intrinsics::$add(self.as_ptr(), value, order)
                    }
                    #[cfg(not(kernelmill))]
                    self.update(order, |number| number + value)
                }

                /// Subtracts `value` and returns the number before.
                ///
                /// It adds the negated number: see [`Self::fetch_add`].
                #[inline(always)]
                pub fn fetch_sub(&self, value: $float, order: Ordering) -> $float {
                    self.fetch_add(-value, order)
                }

                /// Stores the greater of the number and `value`, the one that is a number if the
                /// other is NaN, and returns the number before.
                #[inline(always)]
                pub fn fetch_max(&self, value: $float, order: Ordering) -> $float {
                    self.update(order, |number| {
                        if number >= value || value.is_nan() { number } else { value }
                    })
                }

                /// Stores the smaller of the number and `value`, the one that is a number if the
                /// other is NaN, and returns the number before.
                #[inline(always)]
                pub fn fetch_min(&self, value: $float, order: Ordering) -> $float {
                    self.update(order, |number| {
                        if number <= value || value.is_nan() { number } else { value }
                    })
                }

                /// By comparing and exchanging, which every device can do.
                #[inline(always)]
                fn update(&self, order: Ordering, new: impl Fn($float) -> $float) -> $float {
                    let mut before = self.0.load(Ordering::Relaxed);
                    loop {
                        let after = new($float::from_bits(before)).to_bits();
                        let result =
                            self.0.compare_exchange_weak(before, after, order, Ordering::Relaxed);
                        match result {
                            Ok(_) => return $float::from_bits(before),
                            Err(now) => before = now,
                        }
                    }
                }
            }
        )*
    };
}

float_atomics! {
    AtomicF32, f32, AtomicU32, atomic_add_f32, "\n\nOn NVIDIA's processors it takes subnormal numbers for zeros of their sign, and \
makes such zeros of subnormal sums, in all memory but shared memory: so the instruction does \
([PTX ISA, `atom`](https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-atom)), \
and `atomicAdd` of CUDA C++ with it. Other targets keep them.";
    AtomicF64, f64, AtomicU64, atomic_add_f64, "";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_addition_is_lost_between_threads() {
        let sum = AtomicF64::new(0.0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        sum.fetch_add(0.5, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(sum.load(Ordering::Relaxed), 2000.0);
    }

    #[test]
    fn extremes_prefer_numbers_to_nan() {
        let number = AtomicF32::new(f32::NAN);
        number.fetch_max(-1.0, Ordering::AcqRel);
        assert_eq!(number.fetch_max(f32::NAN, Ordering::SeqCst), -1.0);
        assert_eq!(number.fetch_max(2.0, Ordering::Acquire), -1.0);
        assert_eq!(number.fetch_min(-3.0, Ordering::Release), 2.0);
        assert_eq!(number.fetch_min(5.0, Ordering::Relaxed), -3.0);
        assert_eq!(number.fetch_sub(1.0, Ordering::Relaxed), -3.0);
        assert_eq!(number.swap(8.0, Ordering::Relaxed), -4.0);
        let exchanged = number.compare_exchange(7.0, 9.0, Ordering::Relaxed, Ordering::Relaxed);
        assert_eq!(exchanged, Err(8.0));
        assert_eq!(number.load(Ordering::Relaxed), 8.0);
    }
}
