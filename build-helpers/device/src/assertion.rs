//! Static assertions: conditions that are proven when a kernel is compiled.

/// Refuses a kernel, when it is compiled, unless the condition is proven while it is optimised for
/// each of its targets.
///
/// The condition may be more than a constant: it may follow from constants after inlining, and from the
/// branches around it. A proven assertion costs nothing. One that does not hold, or cannot be decided,
/// is a compile error with a backtrace. One in unreachable code is ignored.
///
/// In the host's build of a kernel's file it is an ordinary [`assert!`].
///
/// ```
/// use kernelmill_device::prelude::*;
///
/// fn halve(width: usize) -> usize {
///     static_assert!(width % 2 == 0, "rows are split in halves");
///     width / 2
/// }
///
/// #[kernel]
/// pub fn halves(mut y: DisjointSlice<u32>) {
///     if let Some(out) = y.get_mut(thread::index_1d()) {
///         *out = halve(64) as u32;
///     }
/// }
/// # assert_eq!(halve(64), 32);
/// ```
#[macro_export]
macro_rules! static_assert {
    ($condition:expr $(,)?) => {
        $crate::__static_assert($condition, ::core::stringify!($condition))
    };
    ($condition:expr, $message:literal $(,)?) => {
        $crate::__static_assert(
            $condition,
            ::core::concat!(::core::stringify!($condition), ": ", $message),
        )
    };
}

/// The function that [`static_assert!`] calls.
#[doc(hidden)]
#[inline(always)]
#[track_caller]
pub fn __static_assert(condition: bool, text: &'static str) {
    #[cfg(kernelmill)]
    {
        unsafe extern "C" {
            safe fn __kernelmill_static_assert(condition: bool, text: *const u8, length: usize);
        }
        __kernelmill_static_assert(condition, text.as_ptr(), text.len());
    }
    #[cfg(not(kernelmill))]
    assert!(condition, "the static assertion does not hold: {text}");
}

#[cfg(test)]
mod tests {
    #[test]
    #[should_panic(expected = "the static assertion does not hold: width == 3: rows of three")]
    fn on_the_host_it_is_checked_when_it_is_reached() {
        let width = 4;
        static_assert!(width != 3);
        static_assert!(width == 3, "rows of three");
    }
}
