//! Random elements and ranges of buffers.

use std::ops::Range;

use test_support::Random;

/// So many elements; few of them are ones for which a kernel panics.
pub(super) fn elements(random: &mut Random, len: usize) -> Vec<u32> {
    let element = |_| {
        let element = random.below(1 << 20) as u32;
        if element % 50 == 7 && random.below(8) > 0 { element + 1 } else { element }
    };
    (0..len).map(element).collect()
}

/// A range of `0..len`: often all of it, sometimes empty.
pub(super) fn range(random: &mut Random, len: usize) -> Range<usize> {
    if random.below(3) == 0 {
        return 0..len;
    }
    let start = random.below(len + 1);
    start..start + random.below(len - start + 1)
}
