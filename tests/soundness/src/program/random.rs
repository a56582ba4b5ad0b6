//! Random numbers.

use std::ops::Range;

/// Numbers that look random: xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift
/// generators").
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }

    /// So many elements; few of them are ones for which a kernel panics.
    pub(crate) fn elements(&mut self, len: usize) -> Vec<u32> {
        let element = |_| {
            let element = self.below(1 << 20) as u32;
            if element % 50 == 7 && self.below(8) > 0 { element + 1 } else { element }
        };
        (0..len).map(element).collect()
    }

    /// A range of `0..len`: often all of it, sometimes empty.
    pub(crate) fn range(&mut self, len: usize) -> Range<usize> {
        if self.below(3) == 0 {
            return 0..len;
        }
        let start = self.below(len + 1);
        start..start + self.below(len - start + 1)
    }
}

impl std::fmt::Debug for Random {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Random").field(&self.0).finish()
    }
}
