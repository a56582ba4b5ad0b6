//! Size classes, by which tuned launches are chosen: the power of two that a number of elements lies above.

use crate::embedded::TunedLaunch;

/// The size class of a number of elements: its logarithm to base 2, rounded down; that of 1 for none.
pub(crate) fn of(n: usize) -> u32 {
    n.max(1).ilog2()
}

/// What was tuned for a kernel and device in the class nearest to that of `n`, of two as near the smaller.
pub(crate) fn nearest<'t>(
    tuned: &'t [TunedLaunch],
    (signature, device): (usize, &str),
    n: usize,
) -> Option<&'t TunedLaunch> {
    let own = tuned.iter().filter(|it| it.signature == signature && it.device == device);
    own.min_by_key(|it| (it.size_class.abs_diff(of(n)), it.size_class))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn tuned(signature: usize, device: &'static str, class: u32, block: u32) -> TunedLaunch {
        TunedLaunch { signature, device, size_class: class, block, max_registers: 0 }
    }

    static TUNED: [TunedLaunch; 4] =
        [tuned(0, "b", 10, 2), tuned(1, "a", 10, 3), tuned(0, "a", 14, 64), tuned(0, "a", 10, 32)];

    #[test]
    fn a_size_is_in_the_class_of_the_power_of_two_below_it() {
        for (n, class) in [(0, 0), (1, 0), (2, 1), (1023, 9), (1024, 10), (2047, 10)] {
            assert_eq!(of(n), class, "{n}");
        }
    }

    #[test]
    fn the_nearest_class_of_the_kernel_and_device_is_taken() {
        let block = |n| nearest(&TUNED, (0, "a"), n).map(|it| it.block);
        let sizes = [0, 1 << 10, (1 << 13) - 1, 1 << 13, 1 << 14, usize::MAX];
        assert_eq!(sizes.map(|n| block(n).unwrap()), [32, 32, 32, 64, 64, 64]);
        assert_eq!(nearest(&TUNED, (1, "a"), 1).map(|it| it.block), Some(3));
        assert_eq!(nearest(&TUNED, (1, "b"), 1), None);
        assert_eq!(nearest(&TUNED, (2, "a"), 1), None);
    }
}
