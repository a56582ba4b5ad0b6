//! Warp-level primitives: shuffles, votes and barriers of a warp, 32 consecutive threads of a block.
//!
//! The plain forms are for all 32 lanes: every thread of the warp that has not returned must call them.
//! The `_sync` forms are for the lanes of `mask`, bit `i` for lane `i`: every thread in it, the caller
//! among them, must call them with the same mask. Otherwise values are unspecified and the launch may
//! hang or fail. Values from lanes that have returned are unspecified. They correspond to CUDA's [warp
//! primitives](https://developer.nvidia.com/blog/using-cuda-warp-level-primitives/).
//!
//! On the host these functions panic.

use crate::intrinsics;

/// The number of lanes of a warp, on every target.
pub const SIZE: u32 = 32;

const ALL: u32 = u32::MAX;

/// The lane of the thread: its index in its warp, from 0.
#[inline(always)]
#[must_use]
pub fn lane_id() -> u32 {
    intrinsics::lane_id()
}

/// The lanes that execute this call together. A hint: it may differ between runs and between targets.
#[inline(always)]
#[must_use]
pub fn active_mask() -> u32 {
    intrinsics::active_mask()
}

/// A warp barrier: waits for all lanes, and makes their writes visible to each other.
#[inline(always)]
pub fn sync() {
    sync_sync(ALL);
}

/// [`sync`] for the lanes of `mask`.
#[inline(always)]
pub fn sync_sync(mask: u32) {
    intrinsics::warp_barrier(mask);
}

/// A vote: the lanes whose `predicate` is true, bit `i` for lane `i`.
#[inline(always)]
#[must_use]
pub fn ballot(predicate: bool) -> u32 {
    ballot_sync(ALL, predicate)
}

/// [`ballot`] for the lanes of `mask`.
#[inline(always)]
#[must_use]
pub fn ballot_sync(mask: u32, predicate: bool) -> u32 {
    intrinsics::warp_ballot(mask, predicate as u32)
}

/// Whether `predicate` is true in every lane that takes part.
#[inline(always)]
#[must_use]
pub fn all(predicate: bool) -> bool {
    all_sync(ALL, predicate)
}

/// [`all`] for the lanes of `mask`.
#[inline(always)]
#[must_use]
pub fn all_sync(mask: u32, predicate: bool) -> bool {
    // Lanes that have returned, or never were, vote for neither.
    ballot_sync(mask, !predicate) == 0
}

/// Whether `predicate` is true in some lane.
#[inline(always)]
#[must_use]
pub fn any(predicate: bool) -> bool {
    any_sync(ALL, predicate)
}

/// [`any`] for the lanes of `mask`.
#[inline(always)]
#[must_use]
pub fn any_sync(mask: u32, predicate: bool) -> bool {
    ballot_sync(mask, predicate) != 0
}

macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident, $name_sync:ident, $intrinsic:ident, $argument:ident;)*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            #[must_use]
            pub fn $name<T: Shuffle>(value: T, $argument: u32) -> T {
                $name_sync(ALL, value, $argument)
            }

            #[doc = concat!("[`", stringify!($name), "`] for the lanes of `mask`.")]
            #[inline(always)]
            #[must_use]
            pub fn $name_sync<T: Shuffle>(mask: u32, value: T, $argument: u32) -> T {
                value.exchange(|word| intrinsics::$intrinsic(mask, word, $argument))
            }
        )*
    };
}

shuffles! {
    /// The `value` of lane `lane`; the thread's own when there is no such lane.
    shuffle, shuffle_sync, warp_shuffle, lane;
    /// The `value` of the lane whose number is this one's xor `lane_mask`; the thread's own when
    /// there is no such lane.
    ///
    /// ```no_run
    /// use kernelmill_device::prelude::*;
    ///
    /// fn warp_sum(mut value: f32) -> f32 {
    ///     for distance in [16, 8, 4, 2, 1] {
    ///         value += warp::shuffle_xor(value, distance);
    ///     }
    ///     value
    /// }
    /// # let _ = warp_sum(1.0);
    /// ```
    shuffle_xor, shuffle_xor_sync, warp_shuffle_xor, lane_mask;
    /// The `value` of the lane `delta` below this one; the thread's own when there is no such lane.
    shuffle_up, shuffle_up_sync, warp_shuffle_up, delta;
    /// The `value` of the lane `delta` above this one; the thread's own when there is no such lane.
    shuffle_down, shuffle_down_sync, warp_shuffle_down, delta;
}

/// Types that can be shuffled: `u32`, `i32` and `f32` with one shuffle, `u64`, `i64` and `f64` with two.
pub trait Shuffle: sealed::Words {}

impl<T: sealed::Words> Shuffle for T {}

mod sealed {
    /// A value made of 32-bit words.
    pub trait Words: Copy {
        /// The value whose words `exchange` gives for the words of this one.
        fn exchange(self, exchange: impl Fn(u32) -> u32) -> Self;
    }

    impl Words for u32 {
        #[inline(always)]
        fn exchange(self, exchange: impl Fn(u32) -> u32) -> Self {
            exchange(self)
        }
    }

    impl Words for u64 {
        #[inline(always)]
        fn exchange(self, exchange: impl Fn(u32) -> u32) -> Self {
            let (low, high) = (exchange(self as u32), exchange((self >> 32) as u32));
            u64::from(high) << 32 | u64::from(low)
        }
    }

    macro_rules! through {
        ($($ty:ty: $to:expr, $from:expr;)*) => {
            $(
                impl Words for $ty {
                    #[inline(always)]
                    fn exchange(self, exchange: impl Fn(u32) -> u32) -> Self {
                        $from(Words::exchange($to(self), exchange))
                    }
                }
            )*
        };
    }

    through! {
        i32: i32::cast_unsigned, u32::cast_signed;
        f32: f32::to_bits, f32::from_bits;
        i64: i64::cast_unsigned, u64::cast_signed;
        f64: f64::to_bits, f64::from_bits;
    }
}

#[cfg(test)]
mod tests {
    use super::sealed::Words;

    #[test]
    fn values_survive_being_taken_apart() {
        let rotate = |word: u32| word.rotate_left(4);
        assert_eq!(0x8000_0001_u32.exchange(rotate), 0x18);
        assert_eq!(0x1234_5678_9abc_def0_u64.exchange(rotate), 0x2345_6781_abcd_ef09);
        assert_eq!((-2_i64).exchange(|word| word), -2);
        assert_eq!((-2_i32).exchange(|word| word), -2);
        assert_eq!(1.5e300_f64.exchange(|word| word), 1.5e300);
        assert_eq!(f32::MIN_POSITIVE.exchange(|word| word), f32::MIN_POSITIVE);
    }
}
