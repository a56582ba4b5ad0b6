//! Pseudorandom numbers of a seed, the same on every machine: xorshift64*
//! ([Vigna 2016](https://doi.org/10.1145/2845077)).

/// The numbers of a seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number from 0 to 1, without 1.
    pub(crate) fn unit(&mut self) -> f32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as f32 / (1 << 24) as f32
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f32) as usize
    }

    /// Numbers from `-size` to `size`.
    pub(crate) fn numbers(&mut self, count: usize, size: f32) -> Vec<f32> {
        (0..count).map(|_| size * (2.0 * self.unit() - 1.0)).collect()
    }
}
