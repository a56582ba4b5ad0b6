//! Size classes, by which tuned launches are chosen: for each dimension the power of two that the number of elements lies
//! above.

use crate::embedded::TunedLaunch;

/// The size class of a number of elements: its logarithm to base 2, rounded down; that of 1 for none.
pub(crate) fn of(n: usize) -> u32 {
    n.max(1).ilog2()
}

/// What was tuned for a kernel and device, in launches of as many dimensions, in the class nearest to that of `sizes`: the
/// distances along all axes are added up. Of several as near it is the one of the fewest elements, and of those the one that
/// is the shortest along x.
pub(crate) fn nearest<'t, const D: usize>(
    tuned: &'t [TunedLaunch],
    (signature, device): (usize, &str),
    sizes: [usize; D],
) -> Option<(&'t TunedLaunch, [u32; D])> {
    let own = tuned.iter().filter(|it| it.signature == signature && it.device == device);
    let shaped = own.filter_map(|it| {
        let class: [u32; D] = it.size_class.try_into().ok()?;
        Some((it, class, it.block.try_into().ok()?))
    });
    let nearest = shaped.min_by_key(|(_, class, _)| {
        let axes = class.iter().zip(sizes);
        let distance: u32 = axes.map(|(class, size)| class.abs_diff(of(size))).sum();
        (distance, class.iter().sum::<u32>(), *class)
    });
    nearest.map(|(tuned, _, block)| (tuned, block))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn tuned(
        signature: usize,
        device: &'static str,
        size_class: &'static [u32],
        block: &'static [u32],
    ) -> TunedLaunch {
        TunedLaunch { signature, device, size_class, block, max_registers: 0 }
    }

    static TUNED: [TunedLaunch; 8] = [
        tuned(0, "b", &[10], &[2]),
        tuned(1, "a", &[10], &[3]),
        tuned(0, "a", &[14], &[64]),
        tuned(0, "a", &[10], &[32]),
        tuned(0, "a", &[10, 12], &[1, 2]),
        tuned(0, "a", &[12, 10], &[3, 4]),
        tuned(0, "a", &[6, 6], &[5, 6]),
        tuned(0, "a", &[2, 6, 6], &[7, 8, 9]),
    ];

    #[test]
    fn a_size_is_in_the_class_of_the_power_of_two_below_it() {
        for (n, class) in [(0, 0), (1, 0), (2, 1), (1023, 9), (1024, 10), (2047, 10)] {
            assert_eq!(of(n), class, "{n}");
        }
    }

    #[test]
    fn the_nearest_class_of_the_kernel_and_device_is_taken() {
        let block = |n| nearest(&TUNED, (0, "a"), [n]).map(|(_, [block])| block);
        let sizes = [0, 1 << 10, (1 << 13) - 1, 1 << 13, 1 << 14, usize::MAX];
        assert_eq!(sizes.map(|n| block(n).unwrap()), [32, 32, 32, 64, 64, 64]);
        assert_eq!(nearest(&TUNED, (1, "a"), [1]).map(|(_, block)| block), Some([3]));
        assert_eq!(nearest(&TUNED, (1, "b"), [1]), None);
        assert_eq!(nearest(&TUNED, (2, "a"), [1]), None);
    }

    #[test]
    fn each_dimension_has_a_class_of_its_own() {
        let block = |sizes| nearest(&TUNED, (0, "a"), sizes).unwrap().1;
        assert_eq!(block([1 << 10, 1 << 12]), [1, 2]);
        assert_eq!(block([1 << 12, 1 << 10]), [3, 4]);
        // As near to both: the shorter along x.
        assert_eq!(block([1 << 11, 1 << 11]), [1, 2]);
        // Of as many elements, and nearer to the small one.
        assert_eq!(block([1 << 7, 1 << 8]), [5, 6]);
        // 5 from [6, 6], and from [10, 12].
        assert_eq!(block([1 << 8, 1 << 9]), [5, 6]);
        assert_eq!(nearest(&TUNED, (0, "a"), [1, 1, 1]).unwrap().1, [7, 8, 9]);
        assert_eq!(nearest(&TUNED, (1, "a"), [1, 1]), None);
    }
}
