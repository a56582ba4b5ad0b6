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
    let own =
        |it: &&TunedLaunch| it.group.is_empty() && it.signature == signature && it.device == device;
    let shaped = tuned.iter().filter(own).filter_map(|it| Some((it, it.block.try_into().ok()?)));
    shaped
        .filter_map(|(it, block)| Some((rank(it, &sizes)?, (it, block))))
        .min_by_key(|it| it.0)
        .map(|(_, found)| found)
}

/// The kernel of a group, by its place among the signatures, that was found to be fastest on a device in the class nearest
/// to that of `sizes`.
pub(crate) fn nearest_of_group(
    tuned: &[TunedLaunch],
    (group, device): (&str, &str),
    sizes: &[usize],
) -> Option<usize> {
    let own = tuned.iter().filter(|it| it.group == group && it.device == device);
    let ranked = own.filter_map(|it| Some((rank(it, sizes)?, it.signature)));
    ranked.min_by_key(|it| it.0).map(|(_, signature)| signature)
}

/// How far a class is from that of the sizes, its elements, and the class itself; `None` where it has another number of
/// axes.
fn rank(tuned: &TunedLaunch, sizes: &[usize]) -> Option<(u32, u32, &'static [u32])> {
    let class = tuned.size_class;
    let axes = class.iter().zip(sizes);
    let distance: u32 = axes.map(|(class, size)| class.abs_diff(of(*size))).sum();
    (class.len() == sizes.len()).then(|| (distance, class.iter().sum(), class))
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
        TunedLaunch { group: "", signature, device, size_class, block, max_registers: 0 }
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

    #[test]
    fn a_group_has_the_kernel_of_the_nearest_class_with_as_many_axes() {
        let of = |group, signature, class: &'static [u32]| TunedLaunch {
            group,
            ..tuned(signature, "a", class, &[])
        };
        let own =
            [of("g", 3, &[6, 6]), of("g", 4, &[10, 10]), of("h", 5, &[8, 8]), of("g", 6, &[9])];
        let nearest_of =
            |group, device, sizes: &[usize]| nearest_of_group(&own, (group, device), sizes);
        assert_eq!(nearest_of("g", "a", &[64, 200]), Some(3));
        assert_eq!(nearest_of("g", "a", &[300, 2000]), Some(4));
        assert_eq!(nearest_of("g", "a", &[300]), Some(6));
        assert_eq!(nearest_of("g", "a", &[1, 1, 1]), None);
        assert_eq!(nearest_of("g", "b", &[1, 1]), None);
        // A group's kernel has no launch of its own here.
        assert_eq!(nearest(&own, (3, "a"), [64, 64]), None);
        let blocked = [TunedLaunch { block: &[8, 8], ..own[0] }];
        assert_eq!(nearest(&blocked, (3, "a"), [64, 64]), None);
    }
}
