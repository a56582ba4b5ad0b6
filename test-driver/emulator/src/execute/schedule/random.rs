//! Random orders: xorshift64 (Marsaglia, ["Xorshift RNGs"](https://doi.org/10.18637/jss.v008.i14)).

/// A step of xorshift, a generator that is good enough to shuffle with.
pub(crate) fn next_random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// A generator's first state from a seed and a number; never zero.
pub(crate) fn seeded(seed: u64, number: u64) -> u64 {
    let mixed =
        seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)) ^ 0x2545_f491_4f6c_dd1d;
    let mut state = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1;
    next_random(&mut state);
    state
}
